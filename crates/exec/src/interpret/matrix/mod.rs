//! Matrix instructions of a warp (manual §9.7.14): products, and moves of matrices between memory and
//! registers.
//!
//! They wait until all lanes of the warp have come, which must be all 32. A lane that has exited or never
//! existed makes them undefined, a finding. They do not order memory.

mod copies;
pub(super) mod factors;
pub(super) mod fragment;
mod legal;
pub(super) mod product;
mod rows;
mod sparse;
mod tile;

use crate::context::{Context, Flow};
use crate::finding::{Fault, Gap, Origin};
use crate::lanes::{Mask, WARP};
use crate::tags::Tags;
use factors::Product;
use ir::{Access, Op};
use sync::SyncEvent;

/// Executes a matrix instruction when the whole warp has come.
pub(super) fn execute(context: &mut Context<'_, '_>, op: &Op) -> Result<Flow, Gap> {
    let alive = context.warp.alive();
    if context.lanes != alive {
        return Ok(Flow::Collective(Mask::ALL, context.lanes));
    }
    context.tracker.apply(context.warp.number, context.lanes, SyncEvent::Collective);
    if alive != Mask::ALL {
        context.record_fault(Fault::LanesMissing { missing: !alive.0 }, alive);
        let poison = Tags::poison(Mask::ALL, Origin::Operation(context.place));
        op.visit(&mut |access| {
            if let Access::Write(register) = access {
                context.write(register, &[0; WARP], poison);
            }
        });
        return Ok(Flow::Next);
    }
    match op {
        Op::Mma(mma) => product::execute(context, &Product::of_mma(mma))?,
        Op::WmmaMma(mma) => product::execute(context, &Product::of_wmma(mma))?,
        Op::LoadMatrix(load) => rows::load(context, load)?,
        Op::StoreMatrix(store) => rows::store(context, store)?,
        Op::MoveMatrix(transpose) => rows::transpose(context, transpose),
        Op::WmmaLoad(load) => tile::load(context, load)?,
        Op::WmmaStore(store) => tile::store(context, store)?,
        _ => return Err(context.gap("this is not a matrix instruction")),
    }
    Ok(Flow::Next)
}

/// Returns the lowest register of a `wmma` fragment with the same elements: the register itself, unless the
/// fragment holds elements several times.
#[must_use]
pub fn original_register(
    fragment: ir::Fragment,
    shape: ir::Shape,
    element: ir::Element,
    register: usize,
) -> usize {
    fragment::wmma(fragment, shape, element).original(register)
}
