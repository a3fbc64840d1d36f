//! Read-modify-writes of memory, by threads and by copies, and their commutativity.

use crate::interpret::{commute_between_blocks, commutes, rounds};
use ir::{Atomic, AtomicOp, Op, TensorCopyKind};

/// A read-modify-write of memory.
#[derive(Clone, Copy)]
pub(crate) enum Update<'p> {
    /// By a thread, at once or, if asynchronous (`red.async`), later; both through the generic proxy.
    Thread(&'p Atomic),
    /// By a copy of bytes.
    Copy(&'p Atomic),
    /// By a tensor copy; the type is that of the tensor, so two at one place have one type.
    Tensor(AtomicOp),
}

/// Returns the update that an instruction performs, if any.
pub(crate) fn update(op: Option<&Op>) -> Option<Update<'_>> {
    match op? {
        Op::Atomic(atomic) => Some(Update::Thread(atomic)),
        // Relaxed, for the cluster (manual §9.7.13.7): no other threads reach its target.
        Op::RemoteStore(store) => store.reduce.as_ref().map(Update::Thread),
        Op::BulkCopy(copy) => copy.reduce.as_ref().map(Update::Copy),
        Op::TensorCopy(copy) => match copy.kind {
            TensorCopyKind::Reduce(op) => Some(Update::Tensor(op)),
            TensorCopyKind::Load { .. } | TensorCopyKind::Store => None,
        },
        _ => None,
    }
}

/// Returns `true` for a copy that updates.
pub(crate) fn is_reducing_copy(op: Option<&Op>) -> bool {
    matches!(update(op), Some(Update::Copy(_) | Update::Tensor(_)))
}

impl Update<'_> {
    /// Returns `true` if the order of two updates affects the last bits. A tensor copy may also add integers,
    /// which do not round.
    pub(crate) fn rounds(self) -> bool {
        match self {
            Self::Thread(atomic) | Self::Copy(atomic) => rounds(atomic),
            Self::Tensor(op) => op == AtomicOp::Add,
        }
    }

    /// Returns `true` if two updates give the same in either order. Between the proxies of threads and copies
    /// this is unspecified.
    pub(crate) fn commutes(self, other: Self, between_blocks: bool) -> bool {
        match (self, other) {
            (Self::Thread(a), Self::Thread(b)) | (Self::Copy(a), Self::Copy(b)) => {
                if between_blocks { commute_between_blocks(a, b) } else { commutes(a, b) }
            }
            (Self::Tensor(a), Self::Tensor(b)) => {
                a == b && !matches!(a, AtomicOp::Inc | AtomicOp::Dec)
            }
            _ => false,
        }
    }
}
