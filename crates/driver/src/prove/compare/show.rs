//! Formats the results of a comparison.

use super::data::{Comparison, Difference, Discrepancy, Summary, TimedComparison};
use crate::diagnostics::render;
use crate::prove::findings;
use crate::report::{ReadingComparison, ReadingDifference};
use crate::{Colour, Input};
use base::{Code, Diagnostic};
use kir::Kernel;

/// The extent of the comparison, in words.
pub(in crate::prove) fn note(timed: &TimedComparison) -> Option<String> {
    let Comparison::Same(summary) = &timed.comparison else { return None };
    let Summary { compiler, architecture, launches, runs, elements, left_out } = summary;
    let plural = if *launches == 1 { "" } else { "es" };
    let mut text = format!(
        "is read as {compiler} ({architecture}) compiles it: {runs} runs of {launches} \
         launch{plural} give the same result in {elements} elements"
    );
    if !left_out.is_empty() {
        text.push_str(&format!("; not compared: {}", left_out.join(", ")));
    }
    Some(text)
}

/// The extent as the last line of a report, with the kernel's name.
pub(in crate::prove) fn line(about: &str, timed: &TimedComparison) -> String {
    note(timed).map_or(String::new(), |note| format!("compared: {about}{note}\n"))
}

/// The assumption made if nothing was compared.
pub(in crate::prove) fn assumption(timed: &TimedComparison) -> Option<String> {
    match &timed.comparison {
        Comparison::TurnedOff => Some("not compared with a compiler (--no-compare)".to_owned()),
        Comparison::Impossible(reason) => Some(format!("not compared with a compiler ({reason})")),
        Comparison::Same(_) | Comparison::Different(_) => None,
    }
}

/// The time it took, for standard error.
pub(in crate::prove) fn message(timed: &TimedComparison) -> String {
    match (&timed.comparison, timed.from_cache) {
        (Comparison::Same(_), true) => {
            "note: compared with a compiler earlier (cached)\n".to_owned()
        }
        (Comparison::Same(_), false) => {
            let seconds = timed.took.as_secs_f64();
            format!("note: compared with a compiler in {seconds:.2} s, beside the proof\n")
        }
        _ => String::new(),
    }
}

/// Describes a difference.
pub(in crate::prove) fn bug(
    difference: &Difference,
    kernel: &Kernel,
    input: &Input,
    colour: Colour,
) -> String {
    let launch = difference.launch.as_ref();
    let launch = launch.map_or(String::new(), |one| findings::launch(kernel, one));
    let (message, label) = match &difference.what {
        Discrepancy::Element { array, index, compiled, read } => (
            format!("`{array}{index}` is {compiled} as compiled and {read} as read here"),
            "on a launch that was run both ways".to_owned(),
        ),
        Discrepancy::Fault(fault) => (
            format!("compiled code has {fault}, and our reading has not"),
            "on a launch that was run both ways".to_owned(),
        ),
        Discrepancy::Parameter { name, compiled, read } => (
            format!("`{name}` has {compiled} bytes as compiled and {read} as read here"),
            "a parameter of this kernel".to_owned(),
        ),
    };
    let diagnostic = Diagnostic::error(Code::Different, kernel.span, message).label(label);
    let diagnostic = if launch.is_empty() { diagnostic } else { diagnostic.note(launch) };
    let Difference { compiler, architecture, .. } = difference;
    let shown = render(&diagnostic, input, colour);
    format!(
        "{shown}\nerror: warpproof does not read this kernel as {compiler} ({architecture}) does: a bug in \
        warpproof, unless the kernel's behaviour is unspecified in C++. Nothing is proved. Please \
         report it with the file.\n"
    )
}

/// The comparison as data.
pub(in crate::prove) fn as_data(timed: &TimedComparison, kernel: &Kernel) -> ReadingComparison {
    let nothing = ReadingComparison {
        result: "not-compared",
        reason: None,
        compiler: None,
        architecture: None,
        launches: 0,
        runs: 0,
        elements: 0,
        left_out: Vec::new(),
        difference: None,
    };
    match &timed.comparison {
        Comparison::TurnedOff => {
            ReadingComparison { reason: Some("--no-compare".to_owned()), ..nothing }
        }
        Comparison::Impossible(reason) => {
            ReadingComparison { reason: Some(reason.clone()), ..nothing }
        }
        Comparison::Same(summary) => ReadingComparison {
            result: "same",
            compiler: Some(summary.compiler.clone()),
            architecture: Some(summary.architecture.clone()),
            launches: summary.launches,
            runs: summary.runs,
            elements: summary.elements,
            left_out: summary.left_out.clone(),
            ..nothing
        },
        Comparison::Different(difference) => ReadingComparison {
            result: "different",
            compiler: Some(difference.compiler.clone()),
            architecture: Some(difference.architecture.clone()),
            difference: Some(as_difference(difference, kernel)),
            ..nothing
        },
    }
}

fn as_difference(difference: &Difference, kernel: &Kernel) -> ReadingDifference {
    let sizes = difference.launch.as_ref().map(|launch| findings::sizes(kernel, launch));
    let launch = sizes.unwrap_or_default();
    let (what, compiled, read) = match &difference.what {
        Discrepancy::Element { array, index, compiled, read } => {
            (format!("{array}{index}"), compiled.clone(), read.clone())
        }
        Discrepancy::Fault(fault) => ("finding".to_owned(), fault.clone(), "none".to_owned()),
        Discrepancy::Parameter { name, compiled, read } => {
            (format!("size of {name}"), compiled.to_string(), read.to_string())
        }
    };
    ReadingDifference { what, compiled, read, launch }
}
