//! Sources side by side, with findings on their lines, and the PTX of the kernels beside them.

use super::highlight::{Highlighter, Language};
use super::markdown::marked;
use super::{codes, ptx};
use crate::render::escape::quoted;
use crate::report::{Location, PtxText, Report, SourceText};
use crate::vocabulary::Severity;
use std::collections::BTreeMap;

/// Lines of a long file that are shown around each line with a message.
const AROUND: u32 = 12;

/// Files up to this many lines are shown whole.
const SHORT: usize = 400;

/// Lines of a long file without any message.
const HEAD: u32 = 60;

/// The name of a line, for links.
pub(super) fn name(number: usize, file: usize, line: u32) -> String {
    format!("r{number}-s{file}-l{line}")
}

/// The link to the line of a location; `None` if it is not on the page.
pub(super) fn anchor(report: &Report, location: &Location, number: usize) -> Option<String> {
    let shown = &location.shown;
    let file = find(report, &shown.path, location.side)?;
    let is_shown = shown.line as usize <= report.sources[file].text.lines().count();
    is_shown.then(|| name(number, file, shown.line))
}

/// The source with a path.
fn find(report: &Report, path: &str, side: Option<&str>) -> Option<usize> {
    report.sources.iter().position(|source| source.path == path && source.side == side)
}

/// Returns `true` if a source is on the page. Included files are shown only if a finding has a place in them.
fn is_pane(report: &Report, file: usize) -> bool {
    let source = &report.sources[file];
    let is_first = report.sources.iter().position(|one| one.side == source.side) == Some(file);
    let is_here =
        |location: &Location| location.shown.path == source.path && location.side == source.side;
    let findings = report.findings.iter().chain(&report.open).flat_map(|one| &one.locations);
    is_first || findings.chain(report.stopped.iter().map(|one| &one.location)).any(is_here)
}

/// The source beside which a listing of PTX is placed.
pub(super) fn home(report: &Report, text: &PtxText) -> Option<usize> {
    let is_home = |file: &usize| {
        let SourceText { path, side, .. } = &report.sources[*file];
        *side == text.side && text.origins.values().any(|(origin, _)| origin == path)
    };
    (0..report.sources.len()).filter(|&file| is_pane(report, file)).find(is_home)
}

pub(super) fn render(report: &Report, number: usize) -> String {
    let files = (0..report.sources.len()).filter(|&file| is_pane(report, file));
    let panes: String = files.map(|file| pane(report, (number, file))).collect();
    match panes.is_empty() {
        true => panes,
        false => format!("<h3>Sources</h3>\n<div class=\"sides\">\n{panes}</div>\n"),
    }
}

fn pane(report: &Report, id: (usize, usize)) -> String {
    let source = &report.sources[id.1];
    let marks = Marks::of_source(report, source, id.0);
    let side = source.side.map(|side| format!("{side}: ")).unwrap_or_default();
    let (path, lines) = (quoted(&source.path), lines(source, &marks, id));
    let listings = report.page.ptx.iter().enumerate();
    let here = listings.filter(|(_, text)| home(report, text) == Some(id.1));
    let count = source.text.lines().count();
    let link = |path: &str, line: u32| {
        let is_here = path == source.path && line as usize <= count && marks.is_near(count, line);
        is_here.then(|| name(id.0, id.1, line))
    };
    let listings: String =
        here.map(|(listing, _)| ptx::render(report, listing, id.0, &link)).collect();
    format!(
        "<div class=\"pane\"><h4>{side}<span class=\"code\">{path}</span></h4>\n<div class=\"beside\">\n<div class=\"source\" \
         role=\"region\" aria-label=\"{side}{path}\" tabindex=\"0\"><table class=\"code\">\n<caption class=\"unseen\">{side}{path}</caption>\
         <thead class=\"unseen\"><tr><th scope=\"col\">Line</th><th scope=\"col\">Text</th></tr></thead>\n<tbody>\n{lines}</tbody></table></div>\n\
         {listings}</div></div>\n"
    )
}

/// The emphasis of a message at a line, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Emphasis {
    /// The first place of a finding.
    Primary,
    /// Another place of it.
    Other,
    /// A place of a note, which is against nothing.
    Note,
}

impl Emphasis {
    /// The class that follows another.
    fn class(self) -> &'static str {
        match self {
            Self::Primary => "",
            Self::Other => " other",
            Self::Note => " note",
        }
    }
}

/// The findings at each line of a text.
pub(super) struct Marks {
    /// By line: the messages there as markup.
    said: BTreeMap<u32, Vec<(Emphasis, String)>>,
}

impl Marks {
    fn of_source(report: &Report, source: &SourceText, number: usize) -> Self {
        let is_here = |location: &Location| {
            location.shown.path == source.path && location.side == source.side
        };
        Self::of(
            report,
            is_here,
            |location| location.shown.line,
            |location| ptx_link(report, location, number),
        )
    }

    pub(super) fn of_ptx(report: &Report, text: &PtxText) -> Self {
        let is_here = |location: &Location| {
            crate::report::relative(&location.file) == text.path && location.side == text.side
        };
        Self::of(report, is_here, |location| location.line, |_| String::new())
    }

    fn of(
        report: &Report,
        is_here: impl Fn(&Location) -> bool,
        line: impl Fn(&Location) -> u32,
        link: impl Fn(&Location) -> String,
    ) -> Self {
        let mut said: BTreeMap<u32, Vec<(Emphasis, String)>> = BTreeMap::new();
        let found = report.findings.iter().chain(&report.open);
        let found = found.map(|one| {
            let is_note = one.severity == Severity::Note;
            (&one.code, &one.message, &one.locations[..], is_note)
        });
        let stops = report.stopped.iter();
        let stops = stops
            .map(|stop| (&stop.code, &stop.message, std::slice::from_ref(&stop.location), false));
        for (code, message, locations, is_note) in found.chain(stops) {
            for (position, location) in locations.iter().enumerate() {
                if !is_here(location) {
                    continue;
                }
                let is_alone = position == 0 && location.message.is_empty();
                let text = marked(if is_alone { message } else { &location.message });
                let text = format!("{} {text}{}", codes::link(code), link(location));
                let emphasis = match position {
                    _ if is_note => Emphasis::Note,
                    0 => Emphasis::Primary,
                    _ => Emphasis::Other,
                };
                said.entry(line(location)).or_default().push((emphasis, text));
            }
        }
        Self { said }
    }

    /// Returns `true` if a line of a file with `count` lines is shown.
    fn is_near(&self, count: usize, line: u32) -> bool {
        let nearby = line.saturating_sub(AROUND)..=line.saturating_add(AROUND);
        count <= SHORT
            || self.said.is_empty() && line <= HEAD
            || self.said.range(nearby).next().is_some()
    }

    /// The class of a line, as an attribute.
    pub(super) fn class(&self, line: u32) -> &'static str {
        let said = self.said.get(&line).into_iter().flatten();
        match said.map(|(emphasis, _)| *emphasis).min() {
            Some(Emphasis::Primary) => " class=\"hit\"",
            Some(Emphasis::Other) => " class=\"hit other\"",
            Some(Emphasis::Note) => " class=\"hit note\"",
            None => "",
        }
    }
}

/// `, PTX line 23`, with a link into the listing.
fn ptx_link(report: &Report, location: &Location, number: usize) -> String {
    let path = crate::report::relative(&location.file);
    match ptx::find(report, &path, location.line, location.side) {
        Some(listing) if path != location.shown.path => {
            let anchor = ptx::anchor(listing, number, location.line);
            format!(" (<a href=\"#{anchor}\">PTX line {}</a>)", location.line)
        }
        _ => String::new(),
    }
}

fn lines(source: &SourceText, marks: &Marks, (number, file): (usize, usize)) -> String {
    let all: Vec<&str> = source.text.lines().collect();
    let mut highlighter = Highlighter::new(Language::of_path(&source.path));
    let (mut text, mut gap) = (String::new(), false);
    for (line, written) in (1_u32..).zip(&all) {
        if !marks.is_near(all.len(), line) {
            // A comment may begin here.
            highlighter.tokens(written);
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) {
            text.push_str(GAP);
        }
        text.push_str(&format!(
            "<tr id=\"{}\"{}><th scope=\"row\" class=\"number\">{line}</th><td>{}</td></tr>\n",
            name(number, file, line),
            marks.class(line),
            highlighter.line(written)
        ));
        for (emphasis, said) in marks.said.get(&line).into_iter().flatten() {
            let class = emphasis.class();
            text.push_str(&format!(
                "<tr class=\"said{class}\"><td class=\"number\"></td><td><div>{said}</div></td></tr>\n"
            ));
        }
    }
    if gap {
        text.push_str(GAP);
    }
    text
}

const GAP: &str =
    "<tr class=\"gap\"><td class=\"number\">\u{2026}</td><td>lines without findings</td></tr>\n";
