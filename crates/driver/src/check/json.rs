//! The answer of `check` for programs. Fields are only ever added while `schema` stays the same.

use crate::arguments::BuildError;
use crate::demangle::demangle;
use crate::execute::{Execution, Finished};
use crate::findings::{self, kind, origin, target};
use crate::grouping::Group;
use crate::properties::{Property, Verdict, properties};
use crate::{Exit, Outcome};
use base::{Code, Diagnostic, Label, Severity};
use exec::{AccessKind, Fault, Place};
use ir::Program;
use serde::Serialize;

const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Report<'r> {
    schema: u32,
    command: &'static str,
    file: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'r str>,
    verdict: &'static str,
    properties: Vec<JsonProperty>,
    findings: Vec<JsonFinding>,
    /// Where the run stopped, if it did.
    stopped: Option<Stopped>,
    assumptions: Vec<String>,
    notes: Vec<String>,
    stats: Stats,
}

#[derive(Serialize)]
struct JsonProperty {
    name: &'static str,
    verdict: &'static str,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct JsonFinding {
    code: String,
    kind: &'static str,
    severity: &'static str,
    property: &'static str,
    message: String,
    locations: Vec<Location>,
    witness: Option<Witness>,
    /// How often it happened, and at how many instructions of the line.
    count: u64,
    instructions: usize,
}

#[derive(Serialize)]
struct Location {
    line: u32,
    column: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    /// The source line, then where that was inlined.
    source: Vec<SourceLine>,
}

#[derive(Serialize)]
struct SourceLine {
    file: Option<String>,
    line: u32,
}

#[derive(Serialize)]
struct Witness {
    block: [u32; 3],
    thread: [u32; 3],
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<Array>,
}

#[derive(Serialize)]
struct Array {
    name: String,
    space: String,
    offset: i64,
    size: u64,
    element_bytes: u32,
}

#[derive(Serialize)]
struct Stopped {
    message: String,
    location: Location,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

#[derive(Default, Serialize)]
struct Stats {
    blocks: u64,
    grid_blocks: u64,
    thread_instructions: u64,
}

/// A run.
pub(super) fn report(finished: &Finished<'_>) -> String {
    let launch = &finished.built.launch;
    let properties = properties(finished);
    let verdict = Verdict::of_all(properties.iter().map(|property| property.verdict));
    let general = general_reason(finished);
    let groups = finished.groups();
    let faults = groups.iter().map(|group| finding(finished, group));
    let unwritten = finished.unwritten.iter().cloned().map(unwritten);
    write(&Report {
        schema: SCHEMA,
        command: "check",
        file: finished.source().name(),
        kernel: Some(&finished.program().functions[launch.kernel].name),
        verdict: verdict.name(),
        properties: properties.into_iter().map(|one| property(one, &general)).collect(),
        findings: faults.chain(unwritten).collect(),
        stopped: finished.stopped().map(|diagnostic| stopped(finished, diagnostic)),
        assumptions: finished.assumptions(),
        notes: finished.built.notes.clone(),
        stats: Stats {
            blocks: finished.result.blocks,
            grid_blocks: launch.blocks(),
            thread_instructions: finished.result.lane_instructions,
        },
    })
}

/// A launch that there was no run of.
pub(super) fn refusal(execution: &Execution<'_>, error: &BuildError) -> Outcome {
    let bare = |code: Code, kind, property, message: &String| JsonFinding {
        code: code.to_string(),
        kind,
        severity: "error",
        property,
        message: message.clone(),
        locations: Vec::new(),
        witness: None,
        count: 1,
        instructions: 0,
    };
    let input = error.input.iter().map(|m| bare(Code::Arguments, "input-error", "input", m));
    let launch = error.launch.iter().map(|m| bare(Code::Launch, "launch", "launch", m));
    let refuted = error.input.is_empty();
    let verdict = if refuted { Verdict::Refuted } else { Verdict::Unknown };
    let output = write(&Report {
        schema: SCHEMA,
        command: "check",
        file: execution.input.source.name(),
        kernel: execution.kernel,
        verdict: verdict.name(),
        properties: Vec::new(),
        findings: input.chain(launch).collect(),
        stopped: None,
        assumptions: Vec::new(),
        notes: error.suggestion.iter().cloned().collect(),
        stats: Stats::default(),
    });
    let exit = if refuted { Exit::Refuted } else { Exit::BadInput };
    Outcome { output, messages: String::new(), exit, thread_instructions: 0 }
}

fn write(report: &Report<'_>) -> String {
    // Nothing in it can fail: no maps with odd keys, no numbers JSON has not.
    serde_json::to_string_pretty(report).map_or_else(|error| error.to_string(), |json| json + "\n")
}

/// Why properties are unknown that have no reason of their own.
fn general_reason(finished: &Finished<'_>) -> String {
    match finished.result.gap {
        Some(_) => "the run stopped".to_owned(),
        None => format!("no error in {}, on one schedule", finished.blocks()),
    }
}

fn property(property: Property, general: &str) -> JsonProperty {
    let Property { name, verdict, mut reasons } = property;
    if verdict == Verdict::Unknown && reasons.is_empty() {
        reasons.push(general.to_owned());
    }
    JsonProperty { name, verdict: verdict.name(), reasons }
}

fn finding(finished: &Finished<'_>, group: &Group<'_>) -> JsonFinding {
    let (program, first) = (finished.program(), group.first);
    let diagnostic = findings::diagnostic(group, program, finished.strict);
    let other = match &first.fault {
        Fault::Race(race) => Some(race.sides[0].place),
        fault => origin(fault).map(|(place, _)| place),
    };
    let places = std::iter::once(first.place).chain(other);
    let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
    let locations = places.zip(labels).map(|(place, label)| location(finished, place, label));
    JsonFinding {
        code: diagnostic.code.to_string(),
        kind: kind(&first.fault),
        severity: match diagnostic.severity {
            Severity::Note => "note",
            Severity::Unsupported | Severity::Error => "error",
        },
        property: findings::property(&first.fault),
        locations: locations.collect(),
        message: diagnostic.message.clone(),
        witness: Some(witness(group)),
        count: group.count(),
        instructions: group.all.len(),
    }
}

fn unwritten(message: String) -> JsonFinding {
    JsonFinding {
        code: Code::UnwrittenOutput.to_string(),
        kind: "unwritten-output",
        severity: "error",
        property: "frame",
        message,
        locations: Vec::new(),
        witness: None,
        count: 1,
        instructions: 0,
    }
}

fn stopped(finished: &Finished<'_>, diagnostic: Diagnostic) -> Stopped {
    let gap = finished.result.gap.as_ref();
    let place =
        gap.map_or(Place { span: diagnostic.primary.span, location: None }, |gap| gap.place);
    Stopped {
        location: location(finished, place, &diagnostic.primary),
        message: diagnostic.message,
        help: diagnostic.help.map(String::from),
    }
}

fn location(finished: &Finished<'_>, place: Place, label: &Label) -> Location {
    let position = finished.source().line_column(label.span.start);
    let source = source_lines(place, finished.program());
    Location {
        line: position.line,
        column: position.column,
        message: label.message.clone(),
        source,
    }
}

fn source_lines(place: Place, program: &Program) -> Vec<SourceLine> {
    let mut lines = Vec::new();
    let mut next = place.location;
    while let Some(location) = next.map(|location| &program.locations[location]) {
        let file = location.file.map(|file| program.files[file].clone());
        lines.push(SourceLine { file, line: location.line });
        next = location.inlined_at.as_ref().map(|(_, call)| *call);
    }
    lines
}

fn witness(group: &Group<'_>) -> Witness {
    let first = group.first;
    let (access, bytes) = match &first.fault {
        Fault::OutOfBounds { kind, bytes, .. }
        | Fault::WildAddress { kind, bytes, .. }
        | Fault::Misaligned { kind, bytes, .. } => (Some(access(*kind)), Some(*bytes)),
        _ => (None, None),
    };
    let array = target(&first.fault).map(|target| Array {
        name: demangle(&target.name).unwrap_or_else(|| target.name.clone()),
        space: format!("{:?}", target.space).to_lowercase(),
        offset: target.offset,
        size: target.size,
        element_bytes: target.element_bytes,
    });
    let thread = first.thread;
    Witness { block: thread.block, thread: thread.thread, access, bytes, array }
}

fn access(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
    }
}
