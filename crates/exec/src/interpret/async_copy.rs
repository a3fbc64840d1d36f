//! Executes `cp.async` (manual §9.7.9.25) at once, where it is started. Faults between the start and the wait
//! concern synchronisation, not values.
//!
//! A source with more bytes than the copy is undefined: a finding, and the written bytes are unknown.

use super::access::{locate, read_element, resolve, resolve_indexed, write_element};
use super::indexed::{self, Indexed};
use super::tracked::track;
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tracker::AccessAttributes;
use crate::value::unit::Byte;
use ir::{AsyncCopy, Space, Width};
use sync::{AgentId, MemoryEffect, SameValue};

/// Copies in every lane. Source bytes beyond the requested ones are not accessed.
pub(super) fn execute(context: &mut Context<'_, '_>, copy: &AsyncCopy) -> Result<(), Gap> {
    let size = u32::from(copy.bytes);
    let (wanted, undefined) = source_sizes(context, copy)?;
    let all = context.lanes;
    let read = (0..WARP).filter(|&lane| wanted[lane] > 0).fold(0, |mask, lane| mask | 1 << lane);
    context.lanes = all.and(Mask(read));
    let (sources, indexed) =
        resolve_indexed(context, copy.src, Space::Global, AccessKind::Read, size)?;
    context.lanes = all;
    let targets = resolve(context, copy.dst, Space::Shared, AccessKind::Write, size)?;
    let id = context.tracker.start_copy(context.warp.number, all);
    for lane in targets.lanes.iter() {
        let Some(target) = targets.pointers[lane] else { continue };
        let Some(Some(to)) = locate(context, target, lane, (size, size), AccessKind::Write) else {
            continue;
        };
        let lane_copy = LaneCopy { id, lane, size, count: wanted[lane] as usize };
        let writes = lane_copy.attributes(context, MemoryEffect::Write);
        track(context, target, lane, size, writes, SameValue::Different);
        let word = if undefined.has(lane) { Word::Unknown } else { Word::Number };
        let mut pieces = [(0, word); 2];
        if lane_copy.count > 0 {
            match indexed.iter().find(|one| one.lane == lane) {
                Some(one) => lane_copy.read_indexed(context, one, &mut pieces)?,
                None => {
                    let source = sources.pointers[lane].filter(|_| sources.lanes.has(lane));
                    lane_copy.read(context, source, target.area, &mut pieces);
                }
            }
        }
        lane_copy.write(context, (target.area, to), pieces, !undefined.has(lane));
    }
    Ok(())
}

/// Returns the number of source bytes of each lane, and the lanes whose copy is undefined because that is more than
/// the copy has.
fn source_sizes(
    context: &mut Context<'_, '_>,
    copy: &AsyncCopy,
) -> Result<([u64; WARP], Mask), Gap> {
    let mut wanted = [u64::from(copy.bytes); WARP];
    let mut undefined = Mask::NONE;
    if let Some(operand) = copy.src_bytes {
        let (values, tags) = context.read(operand, Width::B32);
        context.lanes = context.require_numbers(tags, Sink::CopySize)?;
        undefined = report_oversized_sources(context, &values, copy.bytes);
        wanted = values.map(|value| value.min(u64::from(copy.bytes)));
        // The read is undefined, and may not even be in bounds.
        undefined.iter().for_each(|lane| wanted[lane] = 0);
    }
    if let Some(operand) = copy.ignore_src {
        let registers = &context.registers;
        let (ignored, tags) = (registers.predicate(operand), registers.operand_tags(operand));
        context.lanes = context.require_numbers(tags, Sink::Address)?;
        ignored.iter().for_each(|lane| wanted[lane] = 0);
    }
    Ok((wanted, undefined))
}

/// Up to eight bytes of a copy: their value and its kind.
type Piece = (u64, Word);

/// The copy of one lane.
struct LaneCopy {
    id: AgentId,
    lane: usize,
    /// Bytes to write.
    size: u32,
    /// Bytes to read; the rest is filled with zeros.
    count: usize,
}

impl LaneCopy {
    fn attributes(&self, context: &Context<'_, '_>, effect: MemoryEffect) -> AccessAttributes {
        let plain = AccessAttributes::plain(effect, context.site, self.size);
        AccessAttributes { copy: Some(self.id), ..plain }
    }

    /// Reads the source at a data-dependent address.
    fn read_indexed(
        &self,
        context: &mut Context<'_, '_>,
        source: &Indexed,
        pieces: &mut [Piece; 2],
    ) -> Result<(), Gap> {
        let found = indexed::read(context, source, (self.count as u32, self.size))?;
        for (position, piece) in pieces.iter_mut().enumerate() {
            let rest = found.as_ref().and_then(|all| all.get(position * 8..));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                *piece = indexed::word(context, rest);
            } else if found.is_none() {
                // Reported; its consequences are not reported again.
                piece.1 = Word::Unknown;
            }
        }
        Ok(())
    }

    /// Reads the source, if its address is valid. `target` is the area of the copy's target.
    fn read(
        &self,
        context: &mut Context<'_, '_>,
        source: Option<Pointer>,
        target: Area,
        pieces: &mut [Piece; 2],
    ) {
        let (lane, bytes) = (self.lane, self.count as u32);
        let from = source.and_then(|source| {
            let start = locate(context, source, lane, (bytes, self.size), AccessKind::Read)?;
            let reads = self.attributes(context, MemoryEffect::Read);
            track(context, source, lane, bytes, reads, SameValue::Different);
            Some((source.area, start))
        });
        for (position, (value, word)) in pieces.iter_mut().enumerate() {
            let length = self.count.saturating_sub(position * 8).min(8);
            if length == 0 {
                continue;
            }
            let at = from.map(|(_, start)| start.map(|start| start + position * 8));
            let area = from.map_or(target, |(area, _)| area);
            let (mut values, mut unused) = ([0; WARP], [0; WARP]);
            *word = read_element(context, area, lane, at, length, [&mut values, &mut unused]);
            *value = values[lane];
            if from.is_none() {
                // Reported; its consequences are not reported again.
                *word = Word::Unknown;
            }
        }
    }

    /// Writes the pieces; `fills` is set if bytes that were not read are zero.
    fn write(
        &self,
        context: &mut Context<'_, '_>,
        (area, to): (Area, usize),
        pieces: [Piece; 2],
        fills: bool,
    ) {
        for (position, mut piece) in pieces.into_iter().enumerate() {
            let length = (self.size as usize).saturating_sub(position * 8).min(8);
            let read = self.count.saturating_sub(position * 8).min(8);
            // The zeros may replace a part of a word, so the piece is built from bytes.
            if let Some(valued) = &mut context.valued
                && read < length
                && fills
            {
                let mut bytes = valued.store.bytes(piece.0, piece.1);
                bytes[read..].fill(Byte::Known(0));
                piece = valued.store.word(&bytes);
            }
            if length > 0 {
                write_element(context, (area, self.lane), to + position * 8, length, piece);
            }
        }
    }
}

/// Reports sources with more bytes than the copy, and returns their lanes.
fn report_oversized_sources(context: &mut Context<'_, '_>, values: &Lanes, bytes: u8) -> Mask {
    let exceeds = |&lane: &usize| values[lane] > u64::from(bytes);
    let lanes = context.lanes.iter().filter(exceeds).fold(0, |mask, lane| mask | 1 << lane);
    if let Some(first) = Mask(lanes).lowest() {
        let source = values[first] as u32;
        context.record_fault(Fault::CopySize { source, bytes }, Mask(lanes));
    }
    Mask(lanes)
}
