//! Fast paths: cheaper code for the common cases of instructions.
//!
//! Every fast path either does exactly what [`crate::interpret`] does in general, or declines and changes
//! nothing. `tests/paths.rs` runs kernels both ways and compares the reports. The switch is
//! [`Paths`](crate::Paths), as [`Machine::general`](crate::machine::Machine): if set, no fast path is used.
//! (Shortcuts inside [`crate::interpret::symbolic`] use the same switch.)

mod contiguous;
pub(crate) mod decode;
pub(crate) mod decode_single;
mod direct;
mod matrix_rows;
pub(crate) mod run_single;
mod single_lane;
pub(crate) mod uniform;

use crate::context::Context;
use ir::{Load, LoadMatrix, Op, Store};

/// Executes an operation if a fast path covers it. Returns `false` if all of them decline.
#[inline]
pub(crate) fn execute(context: &mut Context<'_, '_>, op: &Op) -> bool {
    !context.machine.general
        && (context.lanes.is_one() && single_lane::execute(context, op)
            || direct::execute(context, op))
}

/// Executes a load if a fast path covers it. Returns `false` if all of them decline.
#[inline]
pub(crate) fn load(context: &mut Context<'_, '_>, load: &Load) -> bool {
    !context.machine.general
        && context.machine.blocks == 1
        && !context.tracker.follows_grids()
        && contiguous::load(context, load)
}

/// Executes `ldmatrix` by a whole warp if a fast path covers it. Returns `false` if it declines.
#[inline]
pub(crate) fn load_matrix(context: &mut Context<'_, '_>, load: &LoadMatrix) -> bool {
    !context.machine.general
        && context.machine.blocks == 1
        && !context.tracker.follows_grids()
        && matrix_rows::load(context, load)
}

/// Executes a store if a fast path covers it. Returns `false` if all of them decline.
#[inline]
pub(crate) fn store(context: &mut Context<'_, '_>, store: &Store) -> bool {
    !context.machine.general
        && context.machine.blocks == 1
        && !context.tracker.follows_grids()
        && contiguous::store(context, store)
}
