//! Mbarriers of the first block over time, as data for pictures: a row for each mbarrier with its phases, their
//! contributors and their waiters.
//!
//! The source is the bounded log of one run ([`exec::MbarrierUse`]). If rules P1 to P3 are broken, phases of other
//! schedules differ from those shown.

use crate::mbarrier_findings::name;
use crate::render::escape;
use crate::report::{Pipeline, PipelinePart, PipelinePhase};
use crate::source_lines::outermost_line;
use base::SourceFile;
use exec::{
    CopyCompletion, Fault, Finding, MbarrierUse, PhaseEvent, PhaseEventKind, PhaseUse, Place,
};
use ir::Program;

/// Returns the pipelines of a run; findings mark their phases.
pub(crate) fn data(
    uses: &[MbarrierUse],
    findings: &[Finding],
    (program, source): (&Program, &SourceFile),
) -> Vec<Pipeline> {
    let marked = faulty_phases(findings);
    let hangs = findings.iter().any(|one| matches!(one.fault, Fault::Deadlock { .. }));
    let row = |one: &MbarrierUse| {
        let mbarrier = name(&one.target).replace('`', "");
        let phase = |phase: &PhaseUse<Place>| {
            let known = marked.iter().any(|(target, number)| {
                (target.as_str(), Some(*number)) == (mbarrier.as_str(), phase.phase)
            });
            // The phase at which threads hang, or whose bytes never balance.
            let open = phase.ended.is_none() && phase.phase.is_some();
            let waits = phase.events.iter().any(|one| one.kind == PhaseEventKind::Wait);
            let stuck = open && (hangs && waits || phase.bytes[0] != phase.bytes[1]);
            PipelinePhase {
                faulty: phase.faulty || known || stuck,
                ..phase_picture(phase, program, source)
            }
        };
        let phases = one.phases.iter().map(phase).collect();
        Pipeline { mbarrier, phases, left_out: one.left_out }
    };
    uses.iter().map(row).collect()
}

/// Phases that findings name.
fn faulty_phases(findings: &[Finding]) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for finding in findings.iter().filter(|one| !one.fault.is_note()) {
        let Fault::Race(race) = &finding.fault else { continue };
        for transfer in race.sides.iter().filter_map(|side| side.transfer.as_ref()) {
            if let CopyCompletion::Phase { target, phase } = &transfer.completion {
                found.push((name(target).replace('`', ""), *phase));
            }
        }
    }
    found
}

fn phase_picture(phase: &PhaseUse<Place>, program: &Program, source: &SourceFile) -> PipelinePhase {
    let is_wait = |event: &PhaseEvent<Place>| event.kind == PhaseEventKind::Wait;
    let parts = |waits: bool| {
        let events = phase.events.iter().filter(|event| is_wait(event) == waits);
        parts(events, program, source)
    };
    PipelinePhase {
        phase: phase.phase,
        ended: phase.ended,
        arrivals: phase.arrived,
        expected: phase.expected,
        bytes: phase.bytes[1],
        expected_bytes: phase.bytes[0],
        faulty: phase.faulty,
        contributions: parts(false),
        waits: parts(true),
    }
}

/// Joins operations of several warps at one instruction into one part.
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
                    at: at(event.at, program, source),
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

/// `kernel.cu:12`, or the line of the PTX.
pub(crate) fn at(place: Place, program: &Program, source: &SourceFile) -> String {
    match outermost_line(place, program) {
        Some((file, line)) => format!("{}:{line}", escape::line(file)).replace(['"', '\\'], "_"),
        None => format!("PTX line {}", source.line(place.span.start)),
    }
}
