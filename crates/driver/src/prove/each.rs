//! Proves all kernels of a file, one report for each in the order of the text.
//!
//! The exit status is the worst of them, as for the entries of a project. They share the time limit of the proof.

use super::limits::{limit, on_deep_stack};
use super::options::Options;
use super::reading::Text;
use super::refused::{not_read, refused};
use super::single::prove;
use crate::render;
use crate::report::Report;
use crate::{Colour, Exit, Input, Outcome};
use anstyle::Style;
use base::{Code, Diagnostic, Span};
use deadline::within;
use std::time::Instant;

/// Proves the named kernel, or all kernels of the file, and returns their reports.
#[must_use]
pub fn run_each(input: &Input, options: Options<'_>, colour: Colour) -> (Outcome, Vec<Report>) {
    let mut reports = Vec::new();
    let outcome = on_deep_stack(|| match options.reading.text(input) {
        Ok(mut text) => {
            let colour = colour.for_input(text.input.texts());
            each(&mut text, options, colour, &mut reports).escaped(colour)
        }
        Err(refused) => not_read(refused, "prove", &options, colour),
    });
    if reports.is_empty() {
        reports.extend(outcome.report.clone());
    }
    (outcome, reports)
}

/// Proves the kernels of a text one by one; a single one as [`prove`] does.
fn each(
    text: &mut Text,
    options: Options<'_>,
    colour: Colour,
    reports: &mut Vec<Report>,
) -> Outcome {
    let started = Instant::now();
    let names = match options.kernel {
        // A separate contract is for one kernel.
        None if options.contract.is_none() => names(text, &options, started),
        _ => Vec::new(),
    };
    if names.len() < 2 {
        return prove(text, options, colour);
    }
    let bold = colour.style(Style::new().bold());
    let mut all = Outcome::done(String::new());
    let mut exits = Vec::new();
    for (position, name) in names.iter().enumerate() {
        let time = options.time.map(|time| time.saturating_sub(started.elapsed()));
        let options = Options { kernel: Some(&name.text), time, ..options };
        let one = match name.again {
            None => prove(text, options, colour),
            Some(span) => {
                let message = format!("several kernels have the name `{}`", name.text);
                let diagnostic = Diagnostic::unsupported(Code::UnsupportedConstruct, span, message);
                refused(diagnostic, &text.input, "prove", &options, colour)
            }
        };
        if one.report.is_none() && one.exit == Exit::BadInput && position == 0 {
            // An error that is not about a kernel would be the same for all others.
            return one;
        }
        exits.push(one.exit);
        // A rejected kernel has no result: its message takes the place of one.
        let (shown, messages) = match one.output.is_empty() {
            true => (one.messages, String::new()),
            false => (one.output, one.messages),
        };
        all.output.push_str(&format!("{bold}== {}{bold:#}\n{}\n\n", name.text, shown.trim_end()));
        all.messages.push_str(&messages);
        if let Some(mut report) = one.report {
            report.name = Some(name.text.clone());
            report.kernel.get_or_insert_with(|| name.text.clone());
            reports.push(report);
        }
    }
    all.exit = worst(&exits);
    all.output.push_str(&summary(&exits));
    match render::render_all("prove", reports, options.format) {
        Some(output) => Outcome { output, ..all },
        None => all,
    }
}

/// The name of a kernel, and the place of another one with the same name.
struct Name {
    text: String,
    again: Option<Span>,
}

/// Names of the kernels, each once; empty if the file cannot be read (reported elsewhere).
fn names(text: &Text, options: &Options<'_>, started: Instant) -> Vec<Name> {
    let read = within(limit(options, started), || cuda_front::kernels_in(&text.read));
    let mut names: Vec<Name> = Vec::new();
    for (name, kernel) in read.result.and_then(Result::ok).unwrap_or_default() {
        let span = kernel.map_or_else(|refusal| refusal.primary.span, |kernel| kernel.span);
        match names.iter_mut().find(|one| one.text == name) {
            Some(known) => known.again = Some(span),
            None => names.push(Name { text: name, again: None }),
        }
    }
    names
}

/// Refuted comes before unreadable, and unreadable before unknown.
fn worst(exits: &[Exit]) -> Exit {
    let ranked = [Exit::Bug, Exit::Refuted, Exit::BadInput, Exit::Unknown];
    ranked.into_iter().find(|one| exits.contains(one)).unwrap_or(Exit::Success)
}

/// `3 kernels: 2 proved, 1 refuted`
fn summary(exits: &[Exit]) -> String {
    let kinds = [
        (Exit::Success, "proved"),
        (Exit::Refuted, "refuted"),
        (Exit::Unknown, "unknown"),
        (Exit::BadInput, "bad input"),
        (Exit::Bug, "bug"),
    ];
    let counts = kinds.iter().filter_map(|(exit, name)| {
        let count = exits.iter().filter(|one| *one == exit).count();
        (count > 0).then(|| format!("{count} {name}"))
    });
    format!("{} kernels: {}\n", exits.len(), counts.collect::<Vec<_>>().join(", "))
}
