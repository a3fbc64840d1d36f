//! Findings of runs and comparisons as data: the code, place and witness of each.

use super::shown_line::{shown_line, source_lines};
use super::{
    Array, DifferenceWitness, Finding, InputValue, Location, OverflowWitness, Side, StopPlace,
    ThreadWitness, Witness,
};
use super::{race, tiles};
use crate::Input;
use crate::demangle::variable_name;
use crate::execute::{FinishedRun, Reported, last_writer};
use crate::findings::{kind, property, target};
use crate::grouping::Group;
use crate::naming::thread_name;
use crate::source_lines;
use crate::vocabulary::{FindingKind, PropertyName, Severity};
use base::{Code, Diagnostic, Label};
use exec::{AccessKind, Fault, RaceSide};

/// Inputs on which floats of the optimised kernel overflow: a finding beside the verdict of a comparison.
pub(crate) struct Overflowing {
    /// The element and both values.
    pub(crate) message: String,
    /// The inputs.
    pub(crate) note: String,
    /// The command to run it again.
    pub(crate) help: Option<String>,
    pub(crate) witness: OverflowWitness,
    /// Set if it is an error, not a note.
    pub(crate) is_error: bool,
}

/// Faults, and open questions.
pub(super) fn findings(
    finished: &FinishedRun<'_>,
    side: Option<&'static str>,
) -> (Vec<Finding>, Vec<Finding>) {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for reported in finished.reported() {
        match &reported {
            Reported { group: Some(group), diagnostic } => {
                found.push(finding(finished, group, diagnostic));
            }
            Reported { group: None, diagnostic } => {
                let mut one = without_place(
                    diagnostic.code,
                    FindingKind::Unsupported,
                    PropertyName::Races,
                    diagnostic.message.to_string(),
                );
                one.severity = Severity::Unsupported;
                one.locations = locations(diagnostic, finished.input());
                open.push(one);
            }
        }
    }
    found.extend(finished.unwritten.iter().map(|one| {
        let (code, kind) = (Code::UnwrittenOutput, FindingKind::UnwrittenOutput);
        Finding {
            tiles: tiles::of_output(finished, &one.output, Some(one.first)).into_iter().collect(),
            ..without_place(code, kind, PropertyName::Frame, one.sentence.clone())
        }
    }));
    for one in found.iter_mut().chain(&mut open) {
        one.side = side;
        one.locations.iter_mut().for_each(|location| location.side = side);
        one.tiles.iter_mut().for_each(|tiles| tiles.side = side);
    }
    (found, open)
}

/// A finding without a place.
pub(super) fn without_place(
    code: Code,
    kind: FindingKind,
    property: PropertyName,
    message: String,
) -> Finding {
    Finding {
        code: code.to_string(),
        kind,
        severity: Severity::Error,
        property,
        side: None,
        message,
        note: None,
        help: None,
        locations: Vec::new(),
        witness: None,
        count: 1,
        instructions: 0,
        allowed: None,
        race: None,
        tiles: Vec::new(),
    }
}

fn finding(finished: &FinishedRun<'_>, group: &Group<'_>, diagnostic: &Diagnostic) -> Finding {
    let fault = &group.first.fault;
    Finding {
        severity: match diagnostic.severity {
            base::Severity::Note => Severity::Note,
            base::Severity::Unsupported | base::Severity::Error => Severity::Error,
        },
        note: diagnostic.note.as_deref().map(str::to_owned),
        help: diagnostic.help.as_deref().map(str::to_owned),
        locations: locations(diagnostic, finished.input()),
        witness: Some(Witness::Thread(witness(finished, group))),
        count: group.count(),
        instructions: group.all.len(),
        race: race::of_fault(finished, fault),
        tiles: tiles::of_finding(finished, group.first).into_iter().collect(),
        ..without_place(
            diagnostic.code,
            kind(fault),
            property(fault),
            diagnostic.message.to_string(),
        )
    }
}

pub(super) fn input_error(error: &Diagnostic, input: &Input) -> Finding {
    Finding {
        note: error.note.as_deref().map(str::to_owned),
        help: error.help.as_deref().map(str::to_owned),
        locations: locations(error, input),
        ..without_place(
            error.code,
            FindingKind::InputError,
            PropertyName::Input,
            error.message.to_string(),
        )
    }
}

pub(super) fn different(
    sides: &[Vec<FinishedRun<'_>>; 2],
    difference: &equiv::Difference,
    element: &str,
    likely_cause: Option<String>,
) -> Finding {
    let (output, index) = (difference.position.name.clone(), difference.position.index);
    let mut finding = without_place(
        Code::Different,
        FindingKind::Different,
        PropertyName::Equivalence,
        format!("`{element}` differs"),
    );
    let [reference, optimised] = crate::equiv::values(difference);
    let values = format!("the reference gives {reference}, the optimised kernel {optimised}");
    let likely_constant = likely_cause.is_some();
    finding.note = Some(match crate::equiv::rounding(difference).or(likely_cause) {
        Some(why) => format!("{values}; {why}"),
        None => values,
    });
    let stored = [0, 1].map(|side: usize| {
        let (place, _) = difference.stores[side]?;
        Some(last_writer(&sides[side], &difference.position.name)?.kernel().line(place))
    });
    finding.locations = stores(sides, difference);
    finding.tiles = tiles::of_difference(sides, difference);
    let inputs = difference.inputs.iter();
    finding.witness = Some(Witness::Difference(DifferenceWitness {
        output,
        index,
        expressions: difference.expressions.clone(),
        reads: difference.reads.clone(),
        inputs: inputs
            .map(|(name, value)| InputValue { name: name.clone(), value: *value })
            .collect(),
        values: difference.values,
        confirmed: difference.is_confirmed(),
        constant_rounding: !difference.rounding.is_empty(),
        likely_constant,
        stored,
    }));
    finding
}

/// The stores of an element by both kernels: the optimised one first, because that is the one a reader will change.
fn stores(sides: &[Vec<FinishedRun<'_>>; 2], difference: &equiv::Difference) -> Vec<Location> {
    let names = [(1, "the optimised kernel stores it"), (0, "the reference stores it")];
    let location_of = |(side, text): (usize, &str)| {
        let (place, thread) = difference.stores[side]?;
        let launch = last_writer(&sides[side], &difference.position.name)?;
        let origin = source_lines::source_lines(place, launch.program()).into();
        let message = match launch.is_formula {
            true => "the formula defines it".into(),
            false => format!("{text}, {}", thread_name(thread)).into(),
        };
        let label = Label { span: place.span, message, origin };
        let name = Some(if side == 0 { "reference" } else { "optimised" });
        Some(Location { side: name, ..location(&label, launch.input()) })
    };
    names.into_iter().filter_map(location_of).collect()
}

pub(super) fn overflowing(found: Overflowing) -> Finding {
    Finding {
        severity: if found.is_error { Severity::Error } else { Severity::Note },
        side: Some("optimised"),
        note: Some(found.note),
        help: found.help,
        witness: Some(Witness::Overflow(found.witness)),
        ..without_place(
            Code::NotFinite,
            FindingKind::Overflow,
            PropertyName::Overflow,
            found.message,
        )
    }
}

pub(super) fn stopped(finished: &FinishedRun<'_>, diagnostic: Diagnostic) -> StopPlace {
    StopPlace {
        code: diagnostic.code.to_string(),
        location: location(&diagnostic.primary, finished.input()),
        message: diagnostic.message.into(),
        help: diagnostic.help.map(String::from),
    }
}

pub(crate) fn locations(diagnostic: &Diagnostic, input: &Input) -> Vec<Location> {
    let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
    labels.map(|label| location(label, input)).collect()
}

pub(crate) fn location(label: &Label, input: &Input) -> Location {
    let (file, span) = input.located(label.span);
    let position = file.line_column(span.start);
    Location {
        file: file.name().to_owned(),
        line: position.line,
        column: position.column,
        message: label.message.to_string(),
        source: source_lines(label),
        shown: shown_line(label, input),
        side: None,
    }
}

fn witness(finished: &FinishedRun<'_>, group: &Group<'_>) -> ThreadWitness {
    let first = group.first;
    let (access, bytes) = match &first.fault {
        Fault::OutOfBounds { kind, bytes, .. }
        | Fault::WildAddress { kind, bytes, .. }
        | Fault::Misaligned { kind, bytes, .. } => (Some(access(*kind)), Some(*bytes)),
        _ => (None, None),
    };
    let array = target(&first.fault).map(|target| Array {
        name: variable_name(&target.name),
        space: format!("{:?}", target.space).to_lowercase(),
        offset: target.offset,
        size: target.size,
        element_bytes: target.element_bytes,
    });
    let sides = match &first.fault {
        Fault::Race(race) => race.sides.iter().map(|one| side(finished, one)).collect(),
        _ => Vec::new(),
    };
    let thread = first.thread;
    let exec::Thread { block, thread, rank } = thread;
    ThreadWitness { block, rank, thread, access, bytes, array, sides }
}

fn side(finished: &FinishedRun<'_>, side: &RaceSide) -> Side {
    let line = |place: exec::Place| finished.source().line(place.span.start);
    Side {
        block: side.thread.block,
        rank: side.thread.rank,
        thread: side.thread.thread,
        access: access(side.kind),
        line: line(side.place),
        asynchronous: side.in_flight,
        barrier: side.passed.map(|passed| line(passed.place)),
    }
}

fn access(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
    }
}
