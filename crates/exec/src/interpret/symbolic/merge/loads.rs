//! Loads under a condition on data.

use super::{connected, defined_if, negated, untracked_words};
use crate::address::Area;
use crate::context::Context;
use crate::domain::Connective;
use crate::finding::{AccessKind, Gap};
use crate::interpret::access::{locate, resolve_indexed};
use crate::lanes::{Mask, WARP};
use crate::path::Truth;
use crate::tags::{Source, Tags};
use crate::value::reason;
use ir::{Load, Reg};

/// Settles a load on a path from memory that is defined under a condition only: the result is defined if the path
/// condition implies that condition.
pub(crate) fn settle_load(context: &mut Context<'_, '_>, load: &Load) -> Result<(), Gap> {
    let schedule_dependent =
        |context: &Context<'_, '_>, dst: Reg| context.registers.tags(dst).schedule_dependent;
    let all = load
        .dsts
        .iter()
        .flatten()
        .fold(Mask::NONE, |all, dst| all.or(schedule_dependent(context, *dst)));
    if !context.report.maybe_undefined || all.and(context.lanes).is_empty() {
        return Ok(());
    }
    let element = load.width.bytes();
    let bytes = element * load.dsts.len() as u32;
    let address = overwrites_own_address(load);
    if element < 4 || address {
        return Ok(());
    }
    let kind = AccessKind::Read;
    let (addresses, _) = resolve_indexed(context, load.address, load.space, kind, bytes)?;
    for lane in all.and(addresses.lanes).iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let Some(Some(start)) = locate(context, pointer, lane, (bytes, bytes), kind) else {
            continue;
        };
        for (position, dst) in load.dsts.iter().enumerate() {
            let Some(dst) = *dst else { continue };
            let at = start + position * element as usize;
            let mut parts = (at..at + element as usize).step_by(4);
            if schedule_dependent(context, dst).has(lane)
                && parts.all(|at| is_defined_here(context, (pointer.area, lane, at)))
            {
                let word = untracked_words(context, reason::CONDITION);
                let tags = Tags::unknown(Mask::one(lane), Source::Data);
                let layout = context.layout;
                context.registers.write(layout, dst, &[word; WARP], tags, Mask::one(lane));
            }
        }
    }
    Ok(())
}

/// Returns `true` if a load overwrites the register of its own address.
fn overwrites_own_address(load: &Load) -> bool {
    let base = match load.address.base {
        ir::AddressBase::Register(register) => Some(register),
        _ => None,
    };
    load.dsts.iter().flatten().any(|dst| Some(*dst) == base)
}

fn is_defined_here(context: &mut Context<'_, '_>, (area, lane, at): (Area, usize, usize)) -> bool {
    let Some(path) = context.path.clone() else { return false };
    let Some(Truth::Handle(condition)) = defined_if(context, area, lane, at) else { return false };
    let lacks = negated(context, Truth::Handle(condition));
    let here = Truth::Handle(path.words[lane]);
    !path.negated && connected(context, Connective::And, here, lacks) == Truth::Known(false)
}
