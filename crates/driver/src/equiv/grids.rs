//! Sequences with dependent launches: a kernel that contains `griddepcontrol.wait` may start while earlier ones run.
//!
//! A run of one launch reports accesses before any such wait as notes. In a sequence, the accesses of the earlier
//! launches are known. An early access to a tensor that one of them writes is a race, and so is an early write to one
//! that it reads. All other early accesses are ordered. A kernel without the instruction starts when the earlier ones
//! have ended.
//!
//! The wait is for the launch before. It covers still earlier launches only if that one has waited too, or started
//! after their end.

use super::error::SidesError;
use crate::execute::PreparedLaunch;
use base::Span;
use exec::{Access, AccessKind, Fault, Finding, Outcome};
use ir::{FuncId, Op, SyncOp};

/// Decides the early accesses of the launches of a side.
///
/// # Errors
/// If a launch may start early, no thread of it waits for the one before, and another launch follows; if there are
/// more early accesses than are kept.
pub(super) fn settle(
    launches: &[PreparedLaunch<'_>],
    ran: &mut [Outcome],
) -> Result<(), SidesError> {
    for (number, ran) in ran.iter_mut().enumerate().skip(1) {
        let (earlier, rest) = launches.split_at(number);
        let Some(launch) = rest.first() else { break };
        // A launch without a wait starts when all before it have ended.
        let first = earlier.iter().rposition(|one| waits(one).next().is_none());
        let earlier = &earlier[first.unwrap_or(0)..];
        if number + 1 < launches.len() && no_thread_waits(launch, ran) {
            return Err(SidesError::NoThreadWaits { number: number + 1 });
        }
        let early = |finding: &Finding| matches!(finding.fault, Fault::BeforeGridWait { .. });
        if ran.dropped_findings > 0 && ran.findings.iter().any(early) {
            return Err(SidesError::TooManyEarlyAccesses { number: number + 1 });
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

/// Returns `true` if a concurrent access to the tensor is a race with this launch.
fn touches(launch: &PreparedLaunch<'_>, name: &str, kind: AccessKind) -> bool {
    let mut buffers = launch.built.launch.buffers.iter().filter(|buffer| buffer.name == name);
    buffers.any(|buffer| buffer.access != Access::In || kind != AccessKind::Read)
}

/// Lists the waits of a kernel for earlier launches.
fn waits(launch: &PreparedLaunch<'_>) -> impl Iterator<Item = (FuncId, Span)> {
    let all = launch.program().instructions_of(launch.built.launch.kernel);
    let waits = all.filter(|(_, one)| matches!(one.op, Op::Sync(SyncOp::GridWait)));
    waits.map(|(function, one)| (function, one.span))
}

/// Returns `true` if a kernel contains waits for earlier launches, but no thread of the run reached one.
fn no_thread_waits(launch: &PreparedLaunch<'_>, ran: &Outcome) -> bool {
    waits(launch).next().is_some() && !waits(launch).any(|wait| ran.executed.contains(&wait))
}
