//! Formats messages about mbarriers: misuse as diagnostics, hangs in a wait for a phase, and how a bulk copy completes.
//!
//! The threads named as missing in a phase are a guess: those that contributed to the phase before. If threads take
//! turns, the guess may name threads that need not arrive. The counts beside them are exact.

use crate::naming::{element, error_at, thread_label, thread_name};
use crate::source_lines::source_lines;
use base::{Code, Diagnostic};
use exec::{
    AccessKind, BulkTransfer, Contributor, CopyCompletion, Finding, MbarrierFault,
    MbarrierFaultKind, MbarrierWait, Other, Place, RaceSide, Target,
};
use ir::Program;

/// The name of an mbarrier: ``mbarrier `bar[2]` ``
pub(crate) fn name(target: &Target) -> String {
    let element_bytes = if target.size > 8 { 8 } else { target.element_bytes };
    match (target.size, target.offset) {
        (8, 0) => element(&Target { element_bytes: 1, ..target.clone() })
            .trim_start_matches("byte 0 of ")
            .to_owned(),
        _ => element(&Target { element_bytes, ..target.clone() }),
    }
}

/// Misuse of an mbarrier.
pub(crate) fn describe(fault: &MbarrierFault, finding: &Finding, program: &Program) -> Diagnostic {
    let code = match fault.kind.is_reuse() {
        true => Code::BarrierReuse,
        false => Code::BarrierMisuse,
    };
    let message = message(fault);
    let diagnostic = error_at(code, finding, message).label(thread_label(finding));
    match second_place(&fault.kind) {
        Some((place, text)) if place != finding.place => {
            diagnostic.also_from(place.span, text, source_lines(place, program))
        }
        _ => diagnostic,
    }
}

/// Writes the message of a fault of an mbarrier. It is long because each fault has a sentence of its own.
fn message(fault: &MbarrierFault) -> String {
    let name = name(&fault.target);
    match &fault.kind {
        MbarrierFaultKind::NotLive => {
            format!(
                "no mbarrier at {name}: it has not been initialised (`mbarrier.init`), or was invalidated"
            )
        }
        MbarrierFaultKind::Initialised { .. } => {
            format!("mbarrier {name} is initialised again before it is invalidated")
        }
        MbarrierFaultKind::PlainAccess { .. } => {
            format!(
                "an ordinary access to mbarrier {name}, which is in use: only `mbarrier` instructions may \
                 touch it before `mbarrier.inval`"
            )
        }
        MbarrierFaultKind::Count { count } => {
            format!(
                "mbarrier {name}: a count of {count} arrivals, which must be between 1 and 1048575"
            )
        }
        MbarrierFaultKind::TooMany { pending, count } => {
            let come = arrivals(*count);
            format!(
                "mbarrier {name}: {come} where the phase expects {pending} more (an H200 traps)"
            )
        }
        MbarrierFaultKind::Range => {
            format!("mbarrier {name}: more than 1048575 arrivals or bytes are under way")
        }
        MbarrierFaultKind::NotAnnounced { bytes } => format!(
            "mbarrier {name}: {bytes} more bytes are delivered than expected (`expect_tx`), and all \
             arrivals have come: the phase ends early or never"
        ),
        MbarrierFaultKind::Late(other) => format!(
            "mbarrier {name}: on another schedule the phase ends before {} announces what the phase has \
             to wait for",
            thread_name(other.thread)
        ),
        MbarrierFaultKind::Completes(other) => format!(
            "mbarrier {name}: the `.noComplete` arrival of {} may be the last of its phase",
            thread_name(other.thread)
        ),
        MbarrierFaultKind::OtherState => {
            format!("the state was not returned by an arrival at mbarrier {name}")
        }
        MbarrierFaultKind::OldState { named, current } => format!(
            "mbarrier {name} is in phase {current}; the state is of phase {named}: a wait may only name \
             the current phase or the one before"
        ),
        MbarrierFaultKind::Unbalanced { bytes: [0, delivered] } => format!(
            "mbarrier {name}: when the block ends, {delivered} bytes have been delivered that no \
             `expect_tx` announced"
        ),
        MbarrierFaultKind::Unbalanced { bytes: [announced, delivered] } => format!(
            "mbarrier {name}: when the block ends, {delivered} of {announced} expected bytes have been \
             delivered"
        ),
        MbarrierFaultKind::EarlyContribution { phase, other } => format!(
            "mbarrier {name}: nothing orders this contribution to phase {phase} after that of {} to \
             phase {}: on another schedule it counts for phase {} instead",
            thread_name(other.thread),
            phase.saturating_sub(1),
            phase.saturating_sub(1)
        ),
        MbarrierFaultKind::EarlyWait { phase, other } => format!(
            "mbarrier {name}: nothing orders this wait for phase {phase} after the contribution of {} to \
             phase {}: on another schedule it returns too early, for a phase with the same parity",
            thread_name(other.thread),
            phase.saturating_sub(1)
        ),
        MbarrierFaultKind::Overtaken { phase, other } => format!(
            "mbarrier {name}: {} ends without waiting for {}, which waits for {}: if it is slow, it finds \
             the same parity again and waits for {}",
            phase_name(phase.map_or(0, |phase| phase + 1)),
            thread_name(other.thread),
            match phase {
                Some(phase) => format!("phase {phase}"),
                None => "the phase before the first".to_owned(),
            },
            phase_name(phase.map_or(1, |phase| phase + 2))
        ),
        MbarrierFaultKind::Unobserved { phase } => format!(
            "mbarrier {name}: phase {phase} begins before any thread has waited for phase {}, which the \
            manual requires (hardware tolerates it)",
            phase.saturating_sub(1)
        ),
    }
}

fn phase_name(phase: u64) -> String {
    format!("phase {phase}")
}

fn arrivals(count: u32) -> String {
    match count {
        1 => "1 arrival".to_owned(),
        count => format!("{count} arrivals"),
    }
}

/// Returns the second place of a finding, beside the instruction at fault.
fn second_place(kind: &MbarrierFaultKind) -> Option<(Place, &'static str)> {
    let at = |other: &Other, text| Some((other.place, text));
    match kind {
        MbarrierFaultKind::Initialised { other } | MbarrierFaultKind::PlainAccess { other } => {
            Some((*other, "it was initialised here"))
        }
        MbarrierFaultKind::Late(other) => at(other, "announced here"),
        MbarrierFaultKind::Completes(other) => at(other, "it arrives here"),
        MbarrierFaultKind::EarlyContribution { other, .. }
        | MbarrierFaultKind::EarlyWait { other, .. } => at(other, "it contributed here"),
        MbarrierFaultKind::Overtaken { other, .. } => at(other, "it waits here"),
        MbarrierFaultKind::NotLive
        | MbarrierFaultKind::Count { .. }
        | MbarrierFaultKind::TooMany { .. }
        | MbarrierFaultKind::Range
        | MbarrierFaultKind::NotAnnounced { .. }
        | MbarrierFaultKind::OtherState
        | MbarrierFaultKind::OldState { .. }
        | MbarrierFaultKind::Unbalanced { .. }
        | MbarrierFaultKind::Unobserved { .. } => None,
    }
}

/// Says what a thread waits for: `for phase 2 of mbarrier …`
pub(crate) fn describe_wait(wait: &MbarrierWait) -> String {
    let MbarrierWait { target, phase, current, .. } = wait;
    let name = name(target);
    match current {
        Some(_) => format!("for phase {phase} of mbarrier {name}"),
        None => format!("for phase {phase} of mbarrier {name}, which is invalidated"),
    }
}

/// Describes arrivals and missing contributions of the awaited phase.
pub(crate) fn status(wait: &MbarrierWait) -> Option<String> {
    let MbarrierWait { target, phase, current, expected, pending, bytes, missing, .. } = wait;
    let current = (*current)?;
    let came = expected.saturating_sub(*pending);
    let mut parts = vec![match pending {
        0 => format!("{came} of {expected} arrivals have come"),
        pending => format!("{came} of {expected} arrivals have come, {pending} have not"),
    }];
    let [announced, delivered] = bytes;
    if announced != delivered {
        let bytes = format!("{delivered} of {announced} expected bytes have been delivered");
        let lack = announced.saturating_sub(*delivered);
        parts.push(match lack {
            0 => bytes,
            lack => format!("{bytes}, {lack} are still expected"),
        });
    }
    if *pending > 0 {
        for one in missing.iter().take(MAX_NAMED) {
            parts.push(format!(
                "{} arrived in phase {} but not in this one",
                subject(one),
                current - 1
            ));
        }
    }
    if let Some(old) = current.checked_sub(2) {
        let parity = phase % 2;
        parts.push(format!(
            "parity {parity} also names phase {old}, which is over: a wait for that phase would have come too late"
        ));
    }
    Some(format!("phase {phase} of {}: {}", name(target), parts.join(", ")))
}

/// Instructions that a report of a hang names.
const MAX_NAMED: usize = 3;

/// Places where threads contributed to the phase that others wait for.
pub(crate) fn contributions(wait: &MbarrierWait) -> impl Iterator<Item = (Place, String)> {
    wait.contributed.iter().take(MAX_NAMED).map(|one| {
        let how = if one.copy { "contributed here by a copy" } else { "contributed here" };
        let name = name(&wait.target);
        (one.place, format!("{} {how} to phase {} of {name}", subject(one), wait.phase))
    })
}

/// The contributors: `thread (0,0,0) of block (0,0,0) and 31 more`
fn subject(one: &Contributor) -> String {
    match one.threads {
        0 | 1 => thread_name(one.first),
        threads => format!("{} and {} more", thread_name(one.first), threads - 1),
    }
}

/// Describes the completion of a bulk copy, and the wait that the racing thread lacks.
pub(crate) fn completion(transfer: &BulkTransfer, [copier, other]: [&RaceSide; 2]) -> String {
    let bytes = transfer.bytes;
    let reads = copier.kind == AccessKind::Read;
    match &transfer.completion {
        CopyCompletion::Phase { target, phase } => format!(
            "the copy ({bytes} bytes) is complete when phase {phase} of mbarrier {} is over: {} must wait \
             for that phase (parity {}) first",
            name(target),
            short_name(other),
            phase % 2
        ),
        CopyCompletion::Group { newer } => {
            let (wait, done) = match reads {
                true => ("wait_group.read", "has read its source"),
                false => ("wait_group", "is complete"),
            };
            let thread = short_name(copier);
            match newer {
                Some(newer) => format!(
                    "the copy ({bytes} bytes) {done} when {thread} has waited for its bulk group \
                     (`cp.async.bulk.{wait} {newer}`: {} committed after it)",
                    groups(*newer)
                ),
                None => format!(
                    "the copy ({bytes} bytes) {done} when {thread} has committed it to a bulk group and \
                     waited for that (`cp.async.bulk.commit_group`, `cp.async.bulk.{wait}`)"
                ),
            }
        }
    }
}

/// The name of a thread if its block is named elsewhere: `thread (0,0,0)`.
pub(crate) fn short_name(side: &RaceSide) -> String {
    let [x, y, z] = side.thread.thread;
    let rank = side.thread.rank.map_or_else(String::new, |rank| format!(" of rank {rank}"));
    format!("thread ({x},{y},{z}){rank}")
}

fn groups(count: u32) -> String {
    match count {
        0 => "no group was".to_owned(),
        1 => "1 group was".to_owned(),
        count => format!("{count} groups were"),
    }
}
