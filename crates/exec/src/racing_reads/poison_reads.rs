//! Makes racing loads return poison.

use super::conflict_words::{Block, Word, words};
use crate::address::Pointer;
use crate::context::Context;
use crate::finding::Origin;
use crate::lanes::Mask;
use crate::tags::Tags;
use ir::{AddressBase, Load};

/// Returns the racing lanes of each destination of a load. Call it once for each executed load, before the
/// load, because it counts reads.
pub(crate) fn racing_lanes(context: &mut Context<'_, '_>, load: &Load) -> Vec<Mask> {
    let Some(poisoned) = context.machine.racing_reads.poisoned() else { return Vec::new() };
    let by_site = poisoned.sites.contains(&context.site);
    if !by_site && poisoned.between.is_empty() {
        return Vec::new();
    }
    let mut masks = vec![Mask::NONE; load.dsts.len()];
    for lane in context.lanes.iter() {
        let Some(Pointer { area, offset }) = pointer(context, load, lane) else { continue };
        let element = load.width.bytes();
        let thread = (context.warp.in_block * crate::lanes::WARP + lane) as u16;
        let all = words(area, offset, element * load.dsts.len() as u32);
        let (counts, block) = (context.tracker.read_counts(), context.block);
        let is_racing = |word: &Word| {
            let read = counts.next(context.site, *word, thread);
            let is_other = |writer: &Option<Block>| *writer != Some(block);
            poisoned.reads.contains(&read) || poisoned.between.get(word).is_some_and(is_other)
        };
        let racing: Vec<Word> = all.filter(is_racing).collect();
        for (position, mask) in masks.iter_mut().enumerate() {
            let start = offset + position as i64 * i64::from(element);
            if words(area, start, element).any(|word| racing.contains(&word)) {
                *mask = mask.or(Mask::one(lane));
            }
        }
    }
    masks
}

/// Makes the racing results of a load arbitrary: poison.
pub(crate) fn poison(context: &mut Context<'_, '_>, load: &Load, lanes: &[Mask]) {
    for (dst, &lanes) in load.dsts.iter().zip(lanes) {
        if let (Some(dst), false) = (*dst, lanes.is_empty()) {
            let tags = Tags::poison(lanes, Origin::RacingRead(context.place));
            context.registers.tag(dst, tags, lanes);
        }
    }
}

/// The source of a lane's load, if known.
fn pointer(context: &mut Context<'_, '_>, load: &Load, lane: usize) -> Option<Pointer> {
    match load.address.base {
        AddressBase::Absolute => None,
        AddressBase::Variable(variable) => {
            let area = context.own_instance(*context.machine.areas.get(&variable)?);
            Some(Pointer { area, offset: load.address.offset })
        }
        AddressBase::Register(register) => {
            let width = context.layout.width(register);
            let (values, tags) = context.read(register.into(), width);
            let full = values[lane].wrapping_add_signed(load.address.offset) & width.mask();
            tags.pointer.has(lane).then(|| Pointer::decode(full, load.space)).flatten()
        }
    }
}
