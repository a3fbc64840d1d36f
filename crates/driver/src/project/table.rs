//! Formats the results of a project: entries that are not fully proved, then a line for each entry.

use super::run::{EntryResult, Status};
use crate::Colour;
use crate::report::Report;
use crate::verdict::Verdict;
use crate::vocabulary::listed;
use anstyle::{AnsiColor, Style};

pub(super) fn text(all: &[EntryResult], colour: Colour) -> String {
    let mut text = String::new();
    let bold = colour.style(Style::new().bold());
    for done in all.iter().filter(|done| done.status != Status::Proved) {
        text.push_str(&format!("{bold}== {}{bold:#}\n{}\n", done.name, done.text.trim_end()));
        for finding in done.report.iter().flat_map(|report| &report.findings) {
            if let Some(reason) = &finding.allowed {
                text.push_str(&format!(
                    "allowed: {} {}: {reason}\n",
                    finding.code, finding.message
                ));
            }
        }
        text.push('\n');
    }
    let width = all.iter().map(|done| done.name.chars().count()).max().unwrap_or_default();
    for done in all {
        let paint = colour.style(paint(done.status));
        let (status, name) = (done.status.name(), &done.name);
        let details = details(done);
        let line = format!("{paint}{status:9}{paint:#} {name:width$}  {details}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    // Other entries have this note among their details.
    for done in all.iter().filter(|done| done.status == Status::Proved) {
        for note in done.report.iter().flat_map(Report::unexecuted) {
            text.push_str(&format!("note: {}: {note}\n", done.name));
        }
    }
    text.push_str(&summary(all));
    text
}

fn paint(status: Status) -> Style {
    match status {
        Status::Proved => AnsiColor::Green.on_default(),
        Status::Allowed | Status::Accepted | Status::Unknown => AnsiColor::Yellow.on_default(),
        Status::Refuted | Status::BadInput | Status::Bug => AnsiColor::Red.on_default().bold(),
    }
}

/// Lists the properties that are not proved.
fn details(done: &EntryResult) -> String {
    let Some(report) = &done.report else { return String::new() };
    let with = |verdict: Verdict| {
        let names = report.properties.iter().filter(|property| property.verdict == verdict);
        names.map(|name| name.name).fold(Vec::new(), |mut names, name| {
            if !names.contains(&name) {
                names.push(name);
            }
            names
        })
    };
    let accepted = if done.status == Status::Accepted { " (accepted)" } else { "" };
    match done.status {
        Status::Refuted | Status::Allowed => listed(with(Verdict::Refuted)),
        Status::Unknown | Status::Accepted => {
            let open = with(Verdict::Unknown);
            let shown = listed(open.iter().take(3).copied());
            let more = open.len().saturating_sub(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{shown}{more}{accepted}")
        }
        Status::Proved | Status::BadInput | Status::Bug => String::new(),
    }
}

/// The last line: `12 checks: 10 proved, 1 refuted, 1 unknown`
fn summary(all: &[EntryResult]) -> String {
    let names = ["proved", "allowed", "refuted", "unknown", "bad input", "bug"];
    let counts = names.iter().filter_map(|name| {
        let count = all.iter().filter(|done| done.status.name() == *name).count();
        (count > 0).then(|| format!("{count} {name}"))
    });
    let counts: Vec<String> = counts.collect();
    match all.len() {
        0 => "nothing to check: the file has no [[check]], [[equiv]] or [[prove]]\n".to_owned(),
        1 => format!("1 check: {}\n", counts.join(", ")),
        count => format!("{count} checks: {}\n", counts.join(", ")),
    }
}
