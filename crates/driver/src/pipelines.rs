//! Mbarriers of the first block over time, as data for pictures: a row for each mbarrier with its phases, their
//! contributors and their waiters.
//!
//! The source is the bounded log of one run ([`exec::MbarrierUse`]). If the kernel breaks one of the rules P1 to P3
//! (`docs/async.md`), another schedule may have other phases.

use crate::mbarrier_findings::name;
use crate::render::escape;
use crate::report::{Pipeline, PipelinePart, PipelinePhase};
use crate::source_lines::outermost_line;
use base::SourceFile;
use exec::{
    CopyCompletion, Fault, Finding, MbarrierUse, PhaseEvent, PhaseEventKind, PhaseUse, Place,
};
use ir::Program;

/// Returns the pipelines of a run. Phases that a finding is about are marked as faulty.
pub(crate) fn of_run(
    uses: &[MbarrierUse],
    findings: &[Finding],
    (program, source): (&Program, &SourceFile),
) -> Vec<Pipeline> {
    let named = faulty_phases(findings);
    let hangs = findings.iter().any(|finding| matches!(finding.fault, Fault::Deadlock { .. }));
    let row = |one: &MbarrierUse| {
        let mbarrier = name(&one.target).replace('`', "");
        let phase = |phase: &PhaseUse<Place>| {
            let is_named = named.iter().any(|(target, number)| {
                (target.as_str(), Some(*number)) == (mbarrier.as_str(), phase.phase)
            });
            // The phase at which threads hang, or in which announced bytes were not delivered.
            let is_open = phase.ended.is_none() && phase.phase.is_some();
            let has_waiter = phase.events.iter().any(|event| event.kind == PhaseEventKind::Wait);
            let [announced, delivered] = phase.bytes;
            let is_stuck = is_open && (hangs && has_waiter || announced != delivered);
            PipelinePhase {
                faulty: phase.faulty || is_named || is_stuck,
                ..phase_data(phase, program, source)
            }
        };
        let phases = one.phases.iter().map(phase).collect();
        Pipeline { mbarrier, phases, left_out: one.left_out }
    };
    uses.iter().map(row).collect()
}

/// The mbarriers and phases that races name: a copy that completes in the phase takes part in the race.
fn faulty_phases(findings: &[Finding]) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for finding in findings.iter().filter(|finding| !finding.fault.is_note()) {
        let Fault::Race(race) = &finding.fault else { continue };
        for transfer in race.sides.iter().filter_map(|side| side.transfer.as_ref()) {
            if let CopyCompletion::Phase { target, phase } = &transfer.completion {
                found.push((name(target).replace('`', ""), *phase));
            }
        }
    }
    found
}

fn phase_data(phase: &PhaseUse<Place>, program: &Program, source: &SourceFile) -> PipelinePhase {
    let is_wait = |event: &&PhaseEvent<Place>| event.kind == PhaseEventKind::Wait;
    let contributions = phase.events.iter().filter(|event| !is_wait(event));
    let waits = phase.events.iter().filter(is_wait);
    let [announced, delivered] = phase.bytes;
    PipelinePhase {
        phase: phase.phase,
        ended: phase.ended,
        arrivals: phase.arrived,
        expected: phase.expected,
        bytes: delivered,
        expected_bytes: announced,
        faulty: phase.faulty,
        contributions: parts(contributions, program, source),
        waits: parts(waits, program, source),
    }
}

/// Combines the same operation of several warps at one instruction into one part.
fn parts<'e>(
    events: impl Iterator<Item = &'e PhaseEvent<Place>>,
    program: &Program,
    source: &SourceFile,
) -> Vec<PipelinePart> {
    let mut found: Vec<(PhaseEventKind, Place, PipelinePart)> = Vec::new();
    for event in events {
        let same = |one: &&mut (PhaseEventKind, Place, PipelinePart)| {
            (one.0, one.1) == (event.kind, event.at)
        };
        match found.iter_mut().find(same) {
            Some((.., part)) => {
                part.warps.push(event.warp);
                part.threads += event.lanes;
                part.bytes += event.bytes;
            }
            None => {
                let part = PipelinePart {
                    operation: operation(event.kind),
                    at: line_name(event.at, program, source),
                    warps: vec![event.warp],
                    threads: event.lanes,
                    bytes: event.bytes,
                };
                found.push((event.kind, event.at, part));
            }
        }
    }
    found.into_iter().map(|(.., part)| PipelinePart { warps: sorted(part.warps), ..part }).collect()
}

fn sorted(mut warps: Vec<usize>) -> Vec<usize> {
    warps.sort_unstable();
    warps.dedup();
    warps
}

/// A short word for an operation on an mbarrier.
fn operation(kind: PhaseEventKind) -> &'static str {
    match kind {
        PhaseEventKind::Arrival => "arrive",
        PhaseEventKind::Announcement => "expect",
        PhaseEventKind::BulkCopy => "copy",
        PhaseEventKind::Delivery => "complete",
        PhaseEventKind::CopyArrival => "cp.async arrive",
        PhaseEventKind::Wait => "wait",
    }
}

/// `kernel.cu:12`, or `PTX line 12`. A graph has it between quotes, so it contains no quotes or backslashes.
pub(crate) fn line_name(place: Place, program: &Program, source: &SourceFile) -> String {
    match outermost_line(place, program) {
        Some((file, line)) => format!("{}:{line}", escape::line(file)).replace(['"', '\\'], "_"),
        None => format!("PTX line {}", source.line(place.span.start)),
    }
}
