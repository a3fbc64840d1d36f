//! Causality order between blocks (manual §8.9.5), as far as a program's instructions tell.
//!
//! A block can leave data behind a fence and a flag in global memory, and another block that finds the flag by a strong
//! read orders its accesses after that data. Which value the read finds is decided at run time, and clocks of blocks are
//! not kept. So this module only decides if a program can do this at all. It errs towards `true`.

use crate::machine::Machine;
use ir::{Op, Ordering, Scope, SyncOp};

/// Returns `true` if weak accesses of different blocks may be ordered. In a run with a last block only its ticket orders
/// them, and that is followed exactly.
pub(crate) fn may_order_blocks(machine: &Machine<'_>) -> bool {
    let any = |holds: fn(&Op) -> bool| {
        let mut all = machine.program.functions.iter().flat_map(|function| function.instructions());
        all.any(|instruction| holds(&instruction.op))
    };
    machine.tickets.last().is_none() && any(releases) && any(acquires) && any(observes)
}

/// The ordering of an instruction, if other blocks are in its scope.
fn ordering(op: &Op) -> Option<Ordering> {
    let (ordering, scope) = match op {
        Op::Load(load) => (load.ordering, load.ordering.scope()?),
        Op::Store(store) => (store.ordering, store.ordering.scope()?),
        Op::Atomic(atomic) => (atomic.ordering, atomic.ordering.scope()?),
        Op::Sync(SyncOp::Fence { ordering, scope }) => {
            (ordering.unwrap_or(Ordering::AcquireRelease(*scope)), *scope)
        }
        _ => return None,
    };
    (scope != Scope::Cta).then_some(ordering)
}

fn releases(op: &Op) -> bool {
    matches!(ordering(op), Some(Ordering::Release(_) | Ordering::AcquireRelease(_)))
}

fn acquires(op: &Op) -> bool {
    matches!(ordering(op), Some(Ordering::Acquire(_) | Ordering::AcquireRelease(_)))
}

/// Returns `true` for strong reads with a result.
fn observes(op: &Op) -> bool {
    let has_result = match op {
        Op::Load(_) => true,
        Op::Atomic(atomic) => atomic.dsts.iter().any(Option::is_some),
        _ => false,
    };
    has_result && ordering(op).is_some()
}
