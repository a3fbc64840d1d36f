//! Sources side by side, with findings on their lines.

use crate::render::escape::quoted;
use crate::report::{Finding, Location, Report, SourceText};

/// Lines of a long file that are shown around each line with a message.
const AROUND: usize = 12;

/// Files up to this many lines are shown whole.
const SHORT: usize = 400;

/// The name of a line, for links.
pub(super) fn anchor(report: &Report, path: &str, line: u32, number: usize) -> String {
    let file = report.sources.iter().position(|source| source.path == path).unwrap_or_default();
    format!("r{number}-s{file}-l{line}")
}

pub(super) fn render(report: &Report, number: usize) -> String {
    if report.sources.is_empty() {
        return String::new();
    }
    let panes = report.sources.iter().enumerate().map(|(file, source)| {
        let side = source.side.map(|side| format!("{side}: ")).unwrap_or_default();
        let (path, lines) = (quoted(&source.path), lines(report, source, (number, file)));
        format!(
            "<div><h3>{side}<span class=\"code\">{path}</span></h3>\n<div class=\"source\"><table \
             class=\"code\">\n{lines}</table></div></div>\n"
        )
    });
    let panes: String = panes.collect();
    format!("<h2>Sources</h2>\n<div class=\"sides\">\n{panes}</div>\n")
}

/// A message on a line, and if that is its primary place.
struct Said<'r> {
    line: u32,
    text: String,
    primary: bool,
    finding: &'r Finding,
}

fn lines(report: &Report, source: &SourceText, (number, file): (usize, usize)) -> String {
    let said = said(report, source);
    let all: Vec<&str> = source.text.lines().collect();
    let mut text = String::new();
    let mut gap = false;
    for (line, written) in (1_u32..).zip(&all) {
        let near = |one: &Said<'_>| (one.line.abs_diff(line) as usize) <= AROUND;
        if all.len() > SHORT && !said.iter().any(near) {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) {
            text.push_str("<tr><td class=\"number\">…</td><td></td></tr>\n");
        }
        let here: Vec<&Said<'_>> = said.iter().filter(|one| one.line == line).collect();
        let class = match here.iter().any(|one| one.primary) {
            true => "hit",
            false if here.is_empty() => "",
            false => "hit other",
        };
        text.push_str(&format!(
            "<tr id=\"r{number}-s{file}-l{line}\" class=\"{class}\"><td class=\"number\">{line}</td>\
             <td>{}</td></tr>\n",
            quoted(written)
        ));
        for one in here {
            let other = if one.primary { "" } else { " other" };
            text.push_str(&format!(
                "<tr class=\"said{other}\"><td class=\"number\"></td><td>{} {}</td></tr>\n",
                one.finding.code,
                quoted(&one.text)
            ));
        }
    }
    text
}

fn said<'r>(report: &'r Report, source: &SourceText) -> Vec<Said<'r>> {
    let mut said = Vec::new();
    for finding in report.findings.iter().chain(&report.open) {
        for (position, location) in finding.locations.iter().enumerate() {
            let Location { shown, message, .. } = location;
            if shown.path == source.path && finding.side == source.side {
                let text =
                    if position == 0 && message.is_empty() { &finding.message } else { message };
                let text = text.clone();
                said.push(Said { line: shown.line, text, primary: position == 0, finding });
            }
        }
    }
    said
}
