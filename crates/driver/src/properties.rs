//! Verdicts on a kernel, property by property.
//!
//! A run executes one schedule. Without races and misused barriers all other schedules do the same, and its results
//! hold for all of them. Otherwise every property that was not refuted is unknown.

use crate::alignment;
use crate::arguments::OutputSpec;
use crate::execute::FinishedRun;
use crate::findings;
use crate::sync_findings;
use crate::verdict::Verdict;
use crate::vocabulary::PropertyName;
use exec::{AccessKind, Contents, Doubt, Doubtful, Fault};

/// Reasons of one kind beyond this many are only counted.
const SHOWN: usize = 3;

/// A property and its verdict.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: PropertyName,
    pub(crate) verdict: Verdict,
    /// The reasons why it is unknown, apart from those that concern all properties.
    pub(crate) reasons: Vec<String>,
}

/// The properties that a run decides, in the order of reports.
pub(crate) const OF_A_RUN: [PropertyName; 11] = [
    PropertyName::Bounds,
    PropertyName::Alignment,
    PropertyName::Initialised,
    PropertyName::Frame,
    PropertyName::Division,
    PropertyName::Traps,
    PropertyName::Races,
    PropertyName::Barriers,
    PropertyName::Deadlock,
    PropertyName::Collectives,
    PropertyName::Determinism,
];

/// All properties of a run.
pub(crate) fn properties(finished: &FinishedRun<'_>) -> Vec<Property> {
    let launch =
        Property { name: PropertyName::Launch, verdict: Verdict::Proved, reasons: Vec::new() };
    let of_run = OF_A_RUN.into_iter().map(|name| of_run(finished, name));
    std::iter::once(launch).chain(of_run).collect()
}

fn of_run(finished: &FinishedRun<'_>, name: PropertyName) -> Property {
    let faults = finished.errors().map(|finding| &finding.fault);
    let mut refuted = faults.map(findings::property).any(|property| property == name);
    refuted |= name == PropertyName::Frame && !finished.unwritten.is_empty();
    let reasons = reasons(finished, name);
    let verdict = match refuted {
        true => Verdict::Refuted,
        false if reasons.is_empty() => Verdict::Proved,
        false => Verdict::Unknown,
    };
    Property { name, verdict, reasons }
}

/// Reasons why a property that was not refuted is not proved either.
fn reasons(finished: &FinishedRun<'_>, name: PropertyName) -> Vec<String> {
    let mut reasons = own_reasons(finished, name);
    if finished.result.gap.is_some() {
        reasons.insert(0, "the run stopped".to_owned());
    } else if name != PropertyName::Races && reasons.is_empty() && is_schedule_open(finished) {
        reasons.push("checked on one schedule only; others may differ".to_owned());
    } else if reasons.is_empty()
        && (finished.result.follows_error
            || finished.errors().any(|found| makes_rest_unknown(&found.fault)))
    {
        reasons.push("the behaviour after an error is unknown".to_owned());
    } else if reasons.is_empty() && finished.result.dropped_findings > 0 {
        reasons.push("there are more findings than are kept".to_owned());
    }
    reasons
}

/// Returns `true` if the behaviour elsewhere is unknown after a fault: it changes memory outside the kernel's own, an
/// undefined value decides control flow, an address or the participants of a barrier, or a collective lacks lanes.
fn makes_rest_unknown(fault: &Fault) -> bool {
    match fault {
        Fault::OutOfBounds { kind, .. } | Fault::WildAddress { kind, .. } => {
            *kind != AccessKind::Read
        }
        Fault::Undefined { reaches, .. } => reaches.decides(),
        // The manual leaves undefined what a collective does without its lanes.
        Fault::NotInMask { .. } | Fault::LanesMissing { .. } | Fault::PartOfWarpGroup { .. } => {
            true
        }
        _ => false,
    }
}

/// Returns `true` if another schedule may behave differently.
fn is_schedule_open(finished: &FinishedRun<'_>) -> bool {
    let faults = finished.errors().map(|finding| findings::property(&finding.fault));
    let mut unordered =
        faults.filter(|property| matches!(*property, PropertyName::Races | PropertyName::Barriers));
    unordered.next().is_some() || !finished.result.undecided.is_empty()
}

fn own_reasons(finished: &FinishedRun<'_>, name: PropertyName) -> Vec<String> {
    match name {
        PropertyName::Bounds => unbounded(finished),
        PropertyName::Alignment => alignment::open(finished),
        PropertyName::Frame if finished.built.launch.is_partial() => {
            vec![format!(
                "{} were executed; the writes of the others are not known",
                finished.blocks()
            )]
        }
        PropertyName::Frame | PropertyName::Initialised
            if finished.result.conditional && !finished.all_set =>
        {
            vec!["memory is read or written only under a condition on data".to_owned()]
        }
        PropertyName::Frame => {
            let mut reasons = maybe_unwritten(finished);
            reasons.extend(written_by_data(finished));
            reasons
        }
        PropertyName::Initialised => {
            let mut reasons = doubts(finished, |about| matches!(about, Doubtful::UndefinedCopy));
            reasons.extend(maybe_undefined(finished));
            reasons
        }
        PropertyName::Races => open_races(finished),
        PropertyName::Division => doubts(finished, |about| matches!(about, Doubtful::Divisor(_))),
        PropertyName::Determinism => undetermined(finished),
        _ => Vec::new(),
    }
}

/// Outputs without initial contents, if data decide which elements are written.
fn written_by_data(finished: &FinishedRun<'_>) -> Vec<String> {
    let depends = |output: &&OutputSpec| {
        matches!(finished.result.written.get(output.buffer), Some(exec::WrittenBytes::Depends(_)))
    };
    let outputs = finished.built.outputs.iter().filter(depends);
    let text = |output: &OutputSpec| {
        let name = &output.name;
        format!(
            "whether all elements of `{name}` are written depends on data; if the kernel may keep the old contents, use :inout"
        )
    };
    outputs.map(text).collect()
}

/// Outputs with elements that may stay unwritten, because all their writes are conditional.
fn maybe_unwritten(finished: &FinishedRun<'_>) -> Vec<String> {
    let open = |buffer: &usize| finished.result.maybe_unwritten.contains(buffer);
    let outputs = finished.built.outputs.iter().filter(|output| open(&output.buffer));
    let say = |name: &String| format!("`{name}` is written only under a condition on data");
    outputs.map(|output| say(&output.name)).collect()
}

/// Explains why a relevant value may be undefined: it is written under a condition, and some value that is not
/// determined by the inputs matters.
fn maybe_undefined(finished: &FinishedRun<'_>) -> Option<String> {
    let doubts = finished.result.doubts.iter();
    let undetermined = |doubt: &Doubt| matches!(doubt.about, Doubtful::Undetermined { .. });
    let open = finished.result.maybe_undefined && doubts.clone().any(undetermined);
    open.then(|| "memory is read that is written only under a condition on data".to_owned())
}

/// Results that may differ on another schedule.
fn undetermined(finished: &FinishedRun<'_>) -> Vec<String> {
    match finished.allow.float_order {
        true => doubts(finished, |about| {
            use Doubtful::{Divisor, EqualAsReals, FloatOrder};
            !matches!(about, Divisor(_) | FloatOrder | EqualAsReals)
        }),
        false => doubts(finished, |about| !matches!(about, Doubtful::Divisor(_))),
    }
}

/// Open questions about races.
fn open_races(finished: &FinishedRun<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    match finished.result.undecided.len() {
        0 => {}
        1 => reasons.push("one pair of accesses may race (WP0020)".to_owned()),
        count => reasons.push(format!("{count} pairs of accesses may race (WP0020)")),
    }
    let notes = finished.result.findings.iter().map(|finding| &finding.fault);
    if finished.strict && { notes }.any(sync_findings::leaves_open) {
        reasons.push("threads may write the same value at the same time".to_owned());
    }
    if finished.equal_as_reals {
        let text = "float-order: the values that the threads write are equal as real numbers, but may differ \
            in the last bits (--allow float-order accepts that)";
        reasons.push(text.to_owned());
    }
    if finished.built.launch.is_partial() {
        let ran = finished.blocks();
        reasons.push(format!("{ran} were executed; their effects on other blocks are not known"));
    }
    reasons
}

/// Buffers of unknown size.
fn unbounded(finished: &FinishedRun<'_>) -> Vec<String> {
    let buffers = finished.built.launch.buffers.iter();
    let unbounded = buffers.filter(|buffer| matches!(buffer.contents, Contents::Unbounded));
    unbounded.map(|buffer| format!("the size of `{}` is not given", buffer.name)).collect()
}

fn doubts(finished: &FinishedRun<'_>, is_meant: fn(&Doubtful) -> bool) -> Vec<String> {
    let meant: Vec<&Doubt> =
        finished.result.doubts.iter().filter(|doubt| is_meant(&doubt.about)).collect();
    let (program, source) = (finished.program(), finished.source());
    let launch = &finished.built.launch;
    let shown =
        meant.iter().take(SHOWN).map(|doubt| findings::doubt(doubt, launch, program, source));
    let mut sentences: Vec<String> = shown.collect();
    if meant.len() > SHOWN {
        sentences.push(format!("and {} more places", meant.len() - SHOWN));
    }
    sentences
}
