//! Executes `cp.async` (manual §9.7.9.25) at once, where it is started. Faults between the start and the wait
//! concern synchronisation, not values.
//!
//! A source with more bytes than the copy is undefined: a finding, and the written bytes are unknown.

use super::access::{locate, read_element, resolve, resolve_indexed, write_element};
use super::indexed;
use super::tracked::track;
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tracker::AccessAttributes;
use crate::value::unit::Byte;
use ir::{AsyncCopy, Space, Width};
use sync::{Kind, SameValue};

/// Copies in every lane. Source bytes beyond the requested ones are not accessed.
pub(super) fn execute(context: &mut Context<'_, '_>, copy: &AsyncCopy) -> Result<(), Gap> {
    let size = u32::from(copy.bytes);
    let mut wanted = [u64::from(copy.bytes); WARP];
    let mut undefined = Mask::NONE;
    if let Some(operand) = copy.src_bytes {
        let (values, tags) = context.read(operand, Width::B32);
        context.lanes = context.decide(tags, Sink::CopySize)?;
        undefined = too_many(context, &values, copy.bytes);
        wanted = values.map(|value| value.min(u64::from(copy.bytes)));
        // The read is undefined, and may not even be in bounds.
        undefined.iter().for_each(|lane| wanted[lane] = 0);
    }
    if let Some(operand) = copy.ignore_src {
        let registers = &context.registers;
        let (ignored, tags) = (registers.predicate(operand), registers.operand_tags(operand));
        context.lanes = context.decide(tags, Sink::Address)?;
        ignored.iter().for_each(|lane| wanted[lane] = 0);
    }
    let all = context.lanes;
    let read = (0..WARP).filter(|&lane| wanted[lane] > 0).fold(0, |mask, lane| mask | 1 << lane);
    context.lanes = all.and(Mask(read));
    let (sources, indexed) =
        resolve_indexed(context, copy.src, Space::Global, AccessKind::Read, size)?;
    context.lanes = all;
    let targets = resolve(context, copy.dst, Space::Shared, AccessKind::Write, size)?;
    let id = context.tracker.start_copy(context.warp.number, all);
    let attributes = |kind, site| AccessAttributes {
        copy: Some(id),
        ..AccessAttributes::plain(kind, site, size)
    };
    for lane in targets.lanes.iter() {
        let Some(target) = targets.pointers[lane] else { continue };
        let Some(Some(to)) = locate(context, target, lane, (size, size), AccessKind::Write) else {
            continue;
        };
        let writes = attributes(Kind::Write, context.site);
        track(context, target, lane, size, writes, SameValue::Different);
        let word = if undefined.has(lane) { Word::Unknown } else { Word::Number };
        let mut pieces = [([0; WARP], word); 2];
        let count = wanted[lane] as usize;
        if let Some(one) = indexed.iter().find(|one| one.lane == lane).filter(|_| count > 0) {
            let found = indexed::read(context, one, (count as u32, size))?;
            for (position, (values, word)) in pieces.iter_mut().enumerate() {
                let rest = found.as_ref().and_then(|all| all.get(position * 8..));
                if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                    (values[lane], *word) = indexed::word(context, rest);
                } else if found.is_none() {
                    // Reported; its consequences are not reported again.
                    *word = Word::Unknown;
                }
            }
        } else if count > 0 {
            let source = sources.pointers[lane].filter(|_| sources.lanes.has(lane));
            let bytes = count as u32;
            let from = source.and_then(|source| {
                let start = locate(context, source, lane, (bytes, size), AccessKind::Read)?;
                let reads = attributes(Kind::Read, context.site);
                track(context, source, lane, bytes, reads, SameValue::Different);
                Some((source.area, start))
            });
            for (position, (values, word)) in pieces.iter_mut().enumerate() {
                let length = count.saturating_sub(position * 8).min(8);
                if length == 0 {
                    continue;
                }
                let at = from.map(|(_, start)| start.map(|start| start + position * 8));
                let area = from.map_or(target.area, |(area, _)| area);
                let mut unused = [0; WARP];
                *word = read_element(context, area, lane, at, length, [values, &mut unused]);
                if from.is_none() {
                    // Reported; its consequences are not reported again.
                    *word = Word::Unknown;
                }
            }
        }
        for (position, (values, word)) in pieces.iter().enumerate() {
            let length = (size as usize).saturating_sub(position * 8).min(8);
            let read = count.saturating_sub(position * 8).min(8);
            let mut piece = (values[lane], *word);
            // The rest is filled with zeros, which are bytes and not a word.
            if let Some(valued) = &mut context.valued
                && read < length
                && !undefined.has(lane)
            {
                let mut bytes = valued.store.bytes(piece.0, piece.1);
                bytes[read..].fill(Byte::Known(0));
                piece = valued.store.word(&bytes);
            }
            if length > 0 {
                write_element(context, (target.area, lane), to + position * 8, length, piece);
            }
        }
    }
    Ok(())
}

/// Reports sources with more bytes than the copy, and returns their lanes.
fn too_many(context: &mut Context<'_, '_>, values: &Lanes, bytes: u8) -> Mask {
    let exceeds = |&lane: &usize| values[lane] > u64::from(bytes);
    let lanes = context.lanes.iter().filter(exceeds).fold(0, |mask, lane| mask | 1 << lane);
    if let Some(first) = Mask(lanes).lowest() {
        let source = values[first] as u32;
        context.find(Fault::CopySize { source, bytes }, Mask(lanes));
    }
    Mask(lanes)
}
