//! The result of a command that was ended from outside.

use crate::properties::OF_A_RUN;
use crate::report::{self, Property, Report};
use crate::verdict::Verdict;
use crate::vocabulary::PropertyName;
use crate::{Colour, Exit, Outcome};

/// Returns the outcome of a command that was ended from outside: every property is unknown, for this reason.
#[must_use]
pub fn unfinished(
    command: &'static str,
    file: &str,
    kernel: Option<&str>,
    reason: &str,
) -> Outcome {
    let of_pair = (command == "equiv").then_some(PropertyName::Equivalence);
    let names = of_pair.into_iter().chain(OF_A_RUN);
    let (verdict, reasons) = (Verdict::Unknown, vec![reason.to_owned()]);
    let one = |name| Property { name, verdict, reasons: reasons.clone(), side: None };
    let properties = names.map(one).collect();
    let nothing = report::empty_report(command, file.to_owned(), kernel.map(str::to_owned));
    let report = Report { properties, exit: Exit::Unknown, ..nothing };
    let unknown = verdict.painted(Colour::Plain);
    let (output, messages) = (format!("{unknown}: {reason}\n"), String::new());
    Outcome { output, messages, exit: Exit::Unknown, thread_instructions: 0, report: Some(report) }
}
