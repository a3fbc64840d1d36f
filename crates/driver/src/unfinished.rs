//! The result of a command that was ended from outside.

use crate::properties::OF_A_RUN;
use crate::report::{self, Property, Report};
use crate::verdict::Verdict;
use crate::vocabulary::PropertyName;
use crate::{Colour, Exit, Outcome};

/// The launches that a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launches {
    /// The one that was described.
    One,
    /// Those of every size.
    All,
}

/// The properties that `prove` decides of every kernel, in the order of reports.
const OF_A_PROOF: [PropertyName; 5] = [
    PropertyName::Races,
    PropertyName::Barriers,
    PropertyName::Bounds,
    PropertyName::Overflow,
    PropertyName::Division,
];

/// Returns the outcome of a command that was ended from outside: every property is unknown, for this reason.
#[must_use]
pub fn unfinished(
    (command, launches): (&'static str, Launches),
    file: &str,
    kernel: Option<&str>,
    reason: &str,
) -> Outcome {
    let names: Vec<PropertyName> = match (command, launches) {
        ("equiv", Launches::One) => {
            [PropertyName::Equivalence].into_iter().chain(OF_A_RUN).collect()
        }
        ("equiv", Launches::All) => vec![PropertyName::Equivalence],
        (_, Launches::One) => OF_A_RUN.to_vec(),
        (_, Launches::All) => OF_A_PROOF.to_vec(),
    };
    let (verdict, reasons) = (Verdict::Unknown, vec![reason.to_owned()]);
    let one = |name| Property { name, verdict, reasons: reasons.clone(), side: None };
    let properties = names.into_iter().map(one).collect();
    let nothing = report::empty_report(command, file.to_owned(), kernel.map(str::to_owned));
    let report = Report { properties, exit: Exit::Unknown, ..nothing };
    let unknown = verdict.painted(Colour::Plain);
    let (output, messages) = (format!("{unknown}: {reason}\n"), String::new());
    Outcome { output, messages, exit: Exit::Unknown, thread_instructions: 0, report: Some(report) }
}
