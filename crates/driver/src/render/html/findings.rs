//! Findings: the message, its places, notes, and the pictures that explain it.

use super::markdown::marked;
use super::{codes, heat, race, sources, tiles};
use crate::render::escape::quoted;
use crate::report::{Finding, Location, Report, StopPlace, Witness};

pub(super) fn render(report: &Report, number: usize) -> String {
    let found = report.findings.iter();
    let found = found.map(|finding| (finding, if finding.is_error() { "error" } else { "note" }));
    let open = report.open.iter().map(|finding| (finding, "open"));
    let all: Vec<_> = found.chain(open).enumerate().collect();
    let mut text = String::new();
    // Whoever opens a page looks for errors first.
    for wanted in ["error", "open", "note"] {
        for (position, (finding, kind)) in all.iter().filter(|(_, (_, kind))| *kind == wanted) {
            text.push_str(&finding_article(report, finding, kind, (number, *position)));
        }
    }
    text.extend(report.stopped.iter().map(|stop| stopped(report, stop, number)));
    match text.is_empty() {
        true => text,
        false => format!("<h3>Findings</h3>\n{text}"),
    }
}

fn finding_article(report: &Report, finding: &Finding, kind: &str, id: (usize, usize)) -> String {
    let side = finding.side.map(|side| format!("{side}: ")).unwrap_or_default();
    let name = format!("f{}-{}", id.0, id.1);
    let word = match kind {
        "open" => "unknown",
        kind => kind,
    };
    let mut text = format!(
        "<article class=\"finding {kind}\" id=\"{name}\" aria-labelledby=\"{name}-title\">\n<h4 id=\"{name}-title\">\
         <span class=\"kind\">{word}</span> {} {side}{}</h4>\n",
        codes::link(&finding.code),
        marked(&finding.message)
    );
    text.push_str(&places(report, &finding.locations, id.0));
    for (word, said) in
        [("note", &finding.note), ("help", &finding.help), ("allowed", &finding.allowed)]
    {
        let line = |said: &String| {
            format!("<p class=\"{word}\"><strong>{word}:</strong> {}</p>\n", marked(said))
        };
        text.extend(said.iter().map(line));
    }
    text.extend(finding.race.iter().map(|picture| race::render(picture, &name)));
    if let Some(Witness::Difference(witness)) = &finding.witness {
        text.push_str(&heat::render(report, witness));
    }
    text.extend(finding.tiles.iter().enumerate().map(|one| tiles::render(one, &name)));
    text.push_str("</article>\n");
    text
}

/// The places of a finding, with links to their lines.
fn places(report: &Report, locations: &[Location], number: usize) -> String {
    let item = |location: &Location| {
        let shown = &location.shown;
        let place = format!("{}:{}", quoted(&shown.path), shown.line);
        let place = match sources::anchor(report, location, number) {
            Some(anchor) => format!("<a class=\"code\" href=\"#{anchor}\">{place}</a>"),
            None => format!("<span class=\"code\">{place}</span>"),
        };
        format!("<li>{place} {}</li>\n", marked(&location.message))
    };
    let items: String = locations.iter().map(item).collect();
    match items.is_empty() {
        true => items,
        false => format!("<ul class=\"places\">\n{items}</ul>\n"),
    }
}

fn stopped(report: &Report, stopped: &StopPlace, number: usize) -> String {
    let help = stopped.help.iter();
    let help: String = help
        .map(|help| format!("<p class=\"help\"><strong>help:</strong> {}</p>\n", marked(help)))
        .collect();
    format!(
        "<article class=\"finding open\"><h4><span class=\"kind\">stopped</span> {} {}</h4>\n{}{help}</article>\n",
        codes::link(&stopped.code),
        marked(&stopped.message),
        places(report, std::slice::from_ref(&stopped.location), number)
    )
}
