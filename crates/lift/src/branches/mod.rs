//! Short branches on data become straight code.
//!
//! A kernel may branch on values that a run on terms does not know: `if (x > 0) y = x; else y = exp(x) - 1`.
//! A branch whose sides are short, have no way in or out but this one, and do nothing that others can
//! wait for, becomes straight code: both sides are computed one after the other, and each register
//! that matters afterwards is selected by the condition. What could fault or be seen by others — loads,
//! stores, integer divisions — keeps the condition as its guard instead.
//!
//! Only branches that depend on data are changed: the others are decided by the launch, and cost less as
//! they are. Which do is a guess (anything computed from a load, however indirectly), and a wrong one
//! costs time, not an answer: the straight code means the same, whatever the condition is.

mod convert;
mod liveness;
mod shape;

use crate::Lifted;
use ir::{FuncId, Function};
pub(crate) use liveness::Liveness;

/// Inner branches come first, and those around them in the next round.
const MOST_ROUNDS: usize = 16;

/// Changes functions of a program.
pub(crate) fn lift(lifted: &mut Lifted, functions: &[FuncId]) {
    for &function in functions {
        straighten(&mut lifted.program.functions[function]);
    }
}

fn straighten(function: &mut Function) {
    for _ in 0..MOST_ROUNDS {
        shape::merge_chains(function);
        let found = shape::find(function);
        if found.is_empty() {
            return;
        }
        // What is live where sides meet again does not depend on how they are computed.
        let live = Liveness::of(function);
        for branch in found {
            convert::convert(function, &branch, &live);
        }
    }
}
