//! Outcomes of `prove` without an answer: a text or kernel that cannot be read, or that a compiler reads differently.

use super::detached::Deadline;
use super::options::Options;
use super::reading::Refused;
use super::{compare, document, unread};
use crate::diagnostics::render;
use crate::{Colour, Exit, Input, Outcome, report};
use base::Severity;
use compare::{Comparison, TimedComparison};
use kir::Kernel;
use std::time::Instant;

/// A file that cannot be preprocessed.
pub(super) fn not_read(
    refusal: Refused,
    command: &'static str,
    options: &Options<'_>,
    colour: Colour,
) -> Outcome {
    match refusal {
        Refused::Option(error) => Outcome::bad_input(&error.to_string()),
        Refused::Text(diagnostic, input) => {
            let colour = colour.for_input(input.texts());
            refused(*diagnostic, &input, command, options, colour).escaped(colour)
        }
    }
}

/// A file or kernel that cannot be read.
pub(super) fn refused(
    diagnostic: base::Diagnostic,
    input: &Input,
    command: &'static str,
    options: &Options<'_>,
    colour: Colour,
) -> Outcome {
    let diagnostic =
        unread::judge(diagnostic, input, options.compiling, Deadline::of(options, Instant::now()));
    let unsupported = diagnostic.severity == Severity::Unsupported;
    let exit = if unsupported { Exit::Unknown } else { Exit::BadInput };
    let messages = render(&diagnostic, input, colour) + "\n";
    let report = Some(document::of_refusal(&diagnostic, input, command, exit));
    let outcome = Outcome { output: String::new(), messages, exit, thread_instructions: 0, report };
    outcome.rendered(options.format)
}

/// The outcome for a kernel that the compiler reads differently.
pub(super) fn contradiction(
    timed: &TimedComparison,
    kernel: &Kernel,
    (input, command): (&Input, &'static str),
    colour: Colour,
) -> Option<Outcome> {
    let Comparison::Different(difference) = &timed.comparison else { return None };
    let messages = compare::bug(difference, kernel, input, colour);
    let report = report::Report {
        command,
        kernel: Some(kernel.name.clone()),
        compared: Some(compare::as_data(timed, kernel)),
        exit: Exit::Bug,
        ..document::empty(input)
    };
    let report = Some(report);
    Some(Outcome { messages, exit: Exit::Bug, report, ..Outcome::done(String::new()) })
}
