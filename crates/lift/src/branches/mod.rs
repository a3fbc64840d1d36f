//! If-conversion: short branches on data become straight-line code.
//!
//! A kernel may branch on values that symbolic execution does not know: `if (x > 0) y = x; else y = exp(x) - 1`. Such
//! a branch is converted if its sides are short, are entered only from it, and do nothing that other threads can wait
//! for. Both sides are computed one after the other, and the condition selects each register that is live afterwards.
//! Instructions that could fault or be seen by others (loads, stores, integer divisions) keep the condition as their
//! guard instead.
//!
//! Only branches that depend on data are converted. The launch decides the others, and they cost less as they are.
//! The test for data is a guess: anything computed from a load, however indirectly. A wrong guess costs time, not an
//! answer, because the straight-line code means the same for any condition.

mod convert;
mod liveness;
mod shape;

use crate::Lifted;
use ir::{FuncId, Function};
pub(crate) use liveness::Liveness;

/// Most rounds. Each converts the inner branches; the branches around them follow in the next.
const MAX_ROUNDS: usize = 16;

/// Converts branches in functions of a program.
pub(crate) fn lift(lifted: &mut Lifted, functions: &[FuncId]) {
    for &function in functions {
        straighten(&mut lifted.program.functions[function]);
    }
}

/// Converts the branches of a function, inner ones first.
fn straighten(function: &mut Function) {
    for _ in 0..MAX_ROUNDS {
        shape::merge_chains(function);
        let found = shape::find(function);
        if found.is_empty() {
            return;
        }
        // Liveness at the join does not depend on how the sides are computed.
        let live = Liveness::of(function);
        for branch in found {
            convert::convert(function, &branch, &live);
        }
    }
}
