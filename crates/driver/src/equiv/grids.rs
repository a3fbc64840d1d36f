//! Sequences with dependent launches: a kernel that contains `griddepcontrol.wait` may start while those before it run.
//!
//! Its accesses that no such wait comes before are told as notes by a run of one launch. In a sequence it is known what the
//! launches before do: an early access to a tensor that one of them writes, or an early write to one that one of them
//! reads, is a race; the rest is in order. A kernel without the instruction starts when those before it have ended.
//!
//! The wait is for the launch before, so it covers those before that one only if that one has waited, too, or started
//! after their end.

use super::error::SidesError;
use crate::execute::Prepared;
use base::Span;
use exec::{Access, AccessKind, Fault, Finding, Outcome};
use ir::{FuncId, Op, SyncOp};

/// Settles the early accesses of the launches of a side.
///
/// # Errors
/// If a launch may start early and no thread of it waits for the one before, while another launch follows; if there are more
/// early accesses than are kept.
pub(super) fn settle(launches: &[Prepared<'_>], ran: &mut [Outcome]) -> Result<(), SidesError> {
    for (number, ran) in ran.iter_mut().enumerate().skip(1) {
        let (earlier, rest) = launches.split_at(number);
        let Some(launch) = rest.first() else { break };
        // One that does not wait starts when all before it have ended.
        let first = earlier.iter().rposition(|one| waits(one).next().is_none());
        let earlier = &earlier[first.unwrap_or(0)..];
        if number + 1 < launches.len() && waits_in_vain(launch, ran) {
            return Err(SidesError::NobodyWaits { number: number + 1 });
        }
        let early = |one: &Finding| matches!(one.fault, Fault::BeforeGridWait { .. });
        if ran.dropped_findings > 0 && ran.findings.iter().any(early) {
            return Err(SidesError::ManyEarly { number: number + 1 });
        }
        ran.findings.retain_mut(|finding| match &mut finding.fault {
            Fault::BeforeGridWait { target, kind, conflicts } => {
                *conflicts = earlier.iter().any(|one| touches(one, &target.name, *kind));
                *conflicts
            }
            _ => true,
        });
    }
    Ok(())
}

/// Tells whether a launch touches a tensor so that an access beside it is a race.
fn touches(launch: &Prepared<'_>, name: &str, kind: AccessKind) -> bool {
    let mut buffers = launch.built.launch.buffers.iter().filter(|one| one.name == name);
    buffers.any(|one| one.access != Access::In || kind != AccessKind::Read)
}

/// Lists the waits of a kernel for earlier launches.
fn waits(launch: &Prepared<'_>) -> impl Iterator<Item = (FuncId, Span)> {
    let all = launch.program().instructions_of(launch.built.launch.kernel);
    let waits = all.filter(|(_, one)| matches!(one.op, Op::Sync(SyncOp::GridWait)));
    waits.map(|(function, one)| (function, one.span))
}

/// Tells whether a kernel waits for earlier launches, and no thread of the run came to it.
fn waits_in_vain(launch: &Prepared<'_>, ran: &Outcome) -> bool {
    waits(launch).next().is_some() && !waits(launch).any(|wait| ran.executed.contains(&wait))
}
