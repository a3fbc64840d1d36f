//! The answer of `prove` as data, for all formats.

use super::answer::{Report, name};
use super::limits::scope;
use super::{compare, findings};
use crate::report::{self, Finding, LaunchFacts, PageData, ProofFact, Property, Stats, StopPlace};
use crate::verdict::Verdict;
use crate::vocabulary::{self, FindingKind, PropertyName};
use crate::{Exit, Input};
use base::{Diagnostic, Severity};
use interp::Event;
use kir::Kernel;

/// The report of an answer.
pub(super) fn of_answer(result: &Report<'_>, exit: Exit) -> report::Report {
    let mut properties = Vec::new();
    let mut all = Vec::new();
    for checked in &result.answer.properties {
        let verdict = result.verdict_of(checked);
        let unknown = verdict == Verdict::Unknown;
        let reasons = if unknown { result.reasons(checked) } else { Vec::new() };
        let name = name(checked.property);
        properties.push(Property { name, verdict, reasons, side: None });
        all.extend(checked.findings.iter().map(|one| finding(result, name, one)));
    }
    properties.extend(result.reading(None));
    let page = PageData {
        launches: vec![launch(result.kernel, None)],
        proof: proof(result),
        ..PageData::default()
    };
    report::Report {
        kernel: Some(result.kernel.name.clone()),
        verdict: result.verdict(),
        properties,
        findings: all,
        assumptions: result.assumptions(),
        from_kernel: result.stated(),
        notes: result.notes().into_iter().chain(compare::note(result.compared)).collect(),
        compared: Some(compare::as_data(result.compared, result.kernel)),
        exit,
        page,
        ..empty(result.input)
    }
}

/// A proof is about every launch: the kernel and its parameters.
pub(super) fn launch(kernel: &Kernel, side: Option<&'static str>) -> LaunchFacts {
    let sizes = vec![("launch", format!("{} and size", scope(&[kernel])))];
    LaunchFacts {
        side,
        kernel: kernel.name.clone(),
        is_formula: false,
        sizes,
        arguments: Vec::new(),
    }
}

/// The methods that proved the properties of a kernel, for the section on the proof in HTML reports.
fn proof(result: &Report<'_>) -> Vec<ProofFact> {
    vec![
        ProofFact::new(
            "Holds for",
            format!(
                "{} and size that the assumptions allow, and every thread schedule",
                scope(&[result.kernel])
            ),
        ),
        ProofFact::new(
            "Method",
            "one thread, or two different ones, with symbols for sizes, block and thread; every access \
            between two barriers is compared with every other. Launches are not enumerated",
        ),
    ]
}

/// The report of a file or kernel that cannot be read: wrong, or unsupported.
pub(super) fn of_refusal(
    diagnostic: &Diagnostic,
    input: &Input,
    command: &'static str,
    exit: Exit,
) -> report::Report {
    let mut report = report::Report { command, exit, ..empty(input) };
    if diagnostic.severity == Severity::Error {
        report.findings.push(as_finding(
            diagnostic,
            input,
            FindingKind::InputError,
            PropertyName::Input,
        ));
    } else {
        report.stopped = Some(StopPlace {
            code: diagnostic.code.to_string(),
            message: diagnostic.message.to_string(),
            location: report::location(&diagnostic.primary, input),
            help: diagnostic.help.as_deref().map(str::to_owned),
        });
    }
    report
}

pub(super) fn empty(input: &Input) -> report::Report {
    report::Report {
        schema: report::SCHEMA,
        command: "prove",
        name: None,
        file: input.name().to_owned(),
        kernel: None,
        reference: None,
        verdict: Verdict::Unknown,
        properties: Vec::new(),
        findings: Vec::new(),
        open: Vec::new(),
        stopped: None,
        assumptions: Vec::new(),
        from_kernel: Vec::new(),
        notes: Vec::new(),
        precision: Vec::new(),
        stats: Stats::default(),
        coverage: None,
        compared: None,
        exit: Exit::Unknown,
        sources: sources(input, None),
        barriers: None,
        heat: None,
        accepts_unknown: false,
        page: PageData::default(),
        pipelines: Vec::new(),
    }
}

/// The text and its included files.
pub(super) fn sources(input: &Input, side: Option<&'static str>) -> Vec<report::SourceText> {
    let files = std::iter::once(&input.source).chain(input.headers());
    let of_file = |file: &base::SourceFile| report::SourceText {
        path: report::relative(file.name()),
        text: file.text().to_owned(),
        side,
    };
    files.map(of_file).collect()
}

pub(super) fn finding(
    result: &Report<'_>,
    property: PropertyName,
    one: &allsizes::Finding,
) -> Finding {
    let diagnostic = findings::diagnostic(result.kernel, one);
    let race = findings::race_picture(result.kernel, one, result.input);
    Finding { race, ..as_finding(&diagnostic, result.input, kind(&one.event), property) }
}

pub(super) fn as_finding(
    diagnostic: &Diagnostic,
    input: &Input,
    kind: FindingKind,
    property: PropertyName,
) -> Finding {
    Finding {
        code: diagnostic.code.to_string(),
        kind,
        severity: vocabulary::Severity::Error,
        property,
        side: None,
        message: diagnostic.message.to_string(),
        note: diagnostic.note.as_deref().map(str::to_owned),
        help: diagnostic.help.as_deref().map(str::to_owned),
        locations: report::locations(diagnostic, input),
        witness: None,
        count: 1,
        instructions: 1,
        allowed: None,
        race: None,
        tiles: Vec::new(),
    }
}

fn kind(event: &Event) -> FindingKind {
    match event {
        Event::Race { .. } => FindingKind::Race,
        Event::OutOfBounds { .. } => FindingKind::OutOfBounds,
        Event::Overflow { .. } => FindingKind::Overflow,
        Event::DivisionByZero { .. } => FindingKind::DivisionByZero,
        Event::Divergence { .. } => FindingKind::BarrierDivergence,
        Event::Assertion { .. } | Event::Barrier { .. } => FindingKind::Invariant,
        Event::Postcondition { .. } | Event::Footprint { .. } => FindingKind::Postcondition,
        Event::NoValue { .. } => FindingKind::ClauseWithoutValue,
        Event::Unwritten { .. } => FindingKind::Uninitialised,
    }
}
