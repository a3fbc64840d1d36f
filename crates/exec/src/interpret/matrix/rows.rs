//! Executes `ldmatrix`, `stmatrix` and `movmatrix` (manual §9.7.14.5.15 to §9.7.14.5.17) on matrices of 8×8
//! halves.
//!
//! Lane 8m+r gives the address of row r of matrix m, and a fault of this address is reported for that lane.
//! The access belongs to the four lanes 4r to 4r+3, which "load an entire row", four bytes each, even with
//! `.trans`, where the elements then go elsewhere. Lanes beyond the last matrix need no address (sm_80 and
//! later).

use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::fast;
use crate::finding::{AccessKind, Fault, Gap};
use crate::interpret::access::{
    allocation, combine_states, locate, read_element, resolve, set_tags_of, word_of, write_element,
};
use crate::interpret::symbolic;
use crate::interpret::tracked::track;
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tags::{Source, Tags};
use crate::tracker::AccessAttributes;
use crate::value::bytes::ZERO;
use ir::{Address, LoadMatrix, MoveMatrix, Space, StoreMatrix, Width};
use std::ops::Range;
use sync::{MemoryEffect, RequiredCertainty, SameValue};

/// Bytes of a row.
const ROW: u32 = 16;

/// Bits, or words of units, with their state.
type Piece = (u64, Word);

/// A row of a matrix in memory, located if the address was valid.
#[derive(Clone, Copy)]
struct Row {
    pointer: Pointer,
    /// The result of [`locate`].
    start: Option<usize>,
}

/// Locates the rows of `count` matrices; `None` after a fault.
fn locate_rows(
    context: &mut Context<'_, '_>,
    (address, space): (Address, Space),
    count: usize,
    kind: AccessKind,
) -> Result<Vec<Option<Row>>, Gap> {
    let all = context.lanes;
    context.lanes = Mask::first(8 * count as u32);
    let addresses = resolve(context, address, space, kind, ROW);
    context.lanes = all;
    let addresses = addresses?;
    let mut rows = vec![None; 8 * count];
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        if !matches!(pointer.area, Area::Shared(_)) {
            let address = pointer.address();
            context.record_fault(Fault::WildAddress { address, kind, bytes: ROW }, Mask::one(lane));
            continue;
        }
        if context.other_block(pointer.area).is_some() {
            return Err(context.gap("rows of a matrix are in another block's shared memory"));
        }
        let start = locate(context, pointer, lane, (ROW, ROW), kind);
        rows[lane] = start.map(|start| Row { pointer, start });
    }
    Ok(rows)
}

/// Returns the lane, and the half of its register, of element (`row`, `column`).
fn holder(row: usize, column: usize, transposed: bool) -> (usize, usize) {
    let (row, column) = if transposed { (column, row) } else { (row, column) };
    (4 * row + column / 2, column % 2)
}

/// Returns two bytes of a piece.
fn half(context: &mut Context<'_, '_>, (value, word): Piece, which: usize) -> Piece {
    match &mut context.valued {
        Some(valued) if word == Word::Unknown => {
            let bytes = valued.store.bytes(value, word);
            let mut out = ZERO;
            out[..2].copy_from_slice(&bytes[2 * which..][..2]);
            valued.store.word(&out)
        }
        _ => (value >> (16 * which) & 0xffff, word),
    }
}

/// Joins two halves.
fn join(context: &mut Context<'_, '_>, low: Piece, high: Piece) -> Piece {
    match (low.1, high.1) {
        (Word::Number, Word::Number) => (low.0 | high.0 << 16, Word::Number),
        (Word::Unknown | Word::Number, Word::Unknown | Word::Number) => match &mut context.valued {
            Some(valued) => {
                let units = &mut valued.store.units;
                if !context.machine.general
                    && (low.1, high.1) == (Word::Unknown, Word::Unknown)
                    && let Some(both) = units.pair(low.0 as u32, high.0 as u32)
                {
                    return (u64::from(both) | u64::from(units.bits(0)) << 32, Word::Unknown);
                }
                let [low, high] = [low, high].map(|(value, word)| valued.store.bytes(value, word));
                let mut out = ZERO;
                out[..2].copy_from_slice(&low[..2]);
                out[2..4].copy_from_slice(&high[..2]);
                valued.store.word(&out)
            }
            None => (0, Word::Unknown),
        },
        (low, high) if low == high => {
            (0, if low == Word::Pointer { Word::ScheduleDependent } else { low })
        }
        (low, high) => (0, combine_states(low, high)),
    }
}

pub(super) fn load(context: &mut Context<'_, '_>, load: &LoadMatrix) -> Result<(), Gap> {
    if fast::load_matrix(context, load) {
        return Ok(());
    }
    let count = load.dsts.len();
    let rows = locate_rows(context, (load.address, load.space), count, AccessKind::Read)?;
    let mut results = Vec::with_capacity(count);
    for rows in rows.chunks(8) {
        track_reads(context, rows, load.transpose);
        let mut values = [0; WARP];
        let mut tags = Tags::NUMBER;
        for lane in 0..WARP {
            let (piece, bad) = match load.transpose {
                false => read(context, rows[lane / 4], lane, 4 * (lane % 4), 4),
                true => {
                    let column = 2 * (lane / 4);
                    let first = 2 * (lane % 4);
                    let (low, bad) = read(context, rows[first], lane, column, 2);
                    let (high, bad_high) = read(context, rows[first + 1], lane, column, 2);
                    (join(context, low, high), bad || bad_high)
                }
            };
            values[lane] = piece.0;
            set_tags_of(&mut tags, lane, piece.1, context.place, bad);
        }
        results.push((values, tags));
    }
    for (&dst, (values, tags)) in load.dsts.iter().zip(results) {
        context.write_words(dst, &values, tags);
    }
    Ok(())
}

/// Reports the reads of a matrix by the lanes whose registers hold its elements.
fn track_reads(context: &mut Context<'_, '_>, rows: &[Option<Row>], transposed: bool) {
    for (number, row) in rows.iter().enumerate() {
        let Some(row) = row else { continue };
        for (lane, pointer, bytes) in accesses(*row, number, transposed) {
            let attributes = AccessAttributes::plain(MemoryEffect::Read, context.site, bytes);
            track(context, pointer, lane, bytes, attributes, SameValue::Different);
        }
    }
}

/// Returns the accesses to a row, as lane, address and size. Each part belongs to the lane whose register holds it;
/// in a transposed matrix, neighbouring elements have different lanes.
fn accesses(
    row: Row,
    number: usize,
    transposed: bool,
) -> impl Iterator<Item = (usize, Pointer, u32)> {
    let bytes = if transposed { 2 } else { 4 };
    (0..16 / bytes).map(move |part| {
        let offset = row.pointer.offset + i64::from(part * bytes);
        let lane = match transposed {
            true => holder(number, part as usize, true).0,
            false => 4 * number + part as usize,
        };
        (lane, Pointer { offset, ..row.pointer }, bytes)
    })
}

/// Reads a few bytes of a row. The second result is `true` if the address of the row is invalid.
fn read(
    context: &mut Context<'_, '_>,
    row: Option<Row>,
    lane: usize,
    offset: usize,
    bytes: usize,
) -> (Piece, bool) {
    let Some(row) = row else { return ((0, Word::Poison), true) };
    let (mut low, mut high) = ([0; WARP], [0; WARP]);
    let at = Some(row.start.map(|start| start + offset));
    let into = [&mut low, &mut high];
    let word = read_element(context, row.pointer.area, lane, at, bytes, into);
    ((low[lane], word), false)
}

pub(super) fn store(context: &mut Context<'_, '_>, store: &StoreMatrix) -> Result<(), Gap> {
    let count = store.srcs.len();
    let rows = locate_rows(context, (store.address, store.space), count, AccessKind::Write)?;
    for (rows, &src) in rows.chunks(8).zip(&store.srcs) {
        let source = context.read(src, Width::B64);
        for (number, row) in rows.iter().enumerate() {
            let Some(row) = row else { continue };
            let mut pieces = Vec::with_capacity(4);
            for part in 0..4 {
                let piece = match store.transpose {
                    false => fragment(&source, 4 * number + part),
                    true => {
                        let [low, high] = [0, 1].map(|at| {
                            let (lane, which) = holder(number, 2 * part + at, true);
                            half(context, fragment(&source, lane), which)
                        });
                        join(context, low, high)
                    }
                };
                pieces.push(piece);
            }
            write(context, (*row, number, store.transpose), &pieces);
        }
    }
    Ok(())
}

/// Returns the piece of a lane.
fn fragment((values, tags): &(Lanes, Tags), lane: usize) -> Piece {
    let word = word_of(*tags, lane);
    let mask = if word == Word::Unknown { u64::MAX } else { 0xffff_ffff };
    (values[lane] & mask, word)
}

/// Writes a row, each lane the bytes that it holds; `pieces` are four bytes each.
fn write(
    context: &mut Context<'_, '_>,
    (row, number, transposed): (Row, usize, bool),
    pieces: &[Piece],
) {
    for (lane, pointer, bytes) in accesses(row, number, transposed) {
        let at = (pointer.offset - row.pointer.offset) as usize;
        let start = row.start.map(|start| start + at);
        let part = at % 4..at % 4 + bytes as usize;
        let same = start.map_or(SameValue::Undecided, |start| {
            keeps(context, (pointer, lane), start, (pieces[at / 4], part))
        });
        let attributes = AccessAttributes::plain(MemoryEffect::Write, context.site, bytes);
        track(context, pointer, lane, bytes, attributes, same);
    }
    if let Some(start) = row.start {
        for (part, &piece) in pieces.iter().enumerate() {
            let lane = 4 * number + part;
            write_element(context, (row.pointer.area, lane), start + 4 * part, 4, piece);
        }
    }
}

/// Compares part of a piece with the value in memory.
fn keeps(
    context: &mut Context<'_, '_>,
    (pointer, lane): (Pointer, usize),
    start: usize,
    ((value, word), part): (Piece, Range<usize>),
) -> SameValue {
    if word == Word::Number {
        let written = (value as u32).to_le_bytes();
        let memory = allocation(context, pointer.area, lane);
        return memory.map_or(SameValue::Undecided, |(memory, ..)| {
            memory.would_keep(start, &written[part], crate::memory::state::DEFINED)
        });
    }
    if !context.machine.compared_stores.contains(&context.place)
        || !context.tracker.watches(pointer.area)
    {
        return SameValue::Undecided;
    }
    let bytes = (pointer.offset, part.len() as u32);
    match context.tracker.required_certainty(pointer.area, bytes, context.site) {
        RequiredCertainty::None => SameValue::Undecided,
        certainty => {
            let likely = certainty == RequiredCertainty::Likely;
            symbolic::keeps_part(context, (pointer, lane), start, ((value, word), part), likely)
        }
    }
}

pub(super) fn transpose(context: &mut Context<'_, '_>, op: &MoveMatrix) {
    let source = context.read(op.src, Width::B64);
    let mut values = [0; WARP];
    let mut tags = Tags::NUMBER;
    for (lane, value) in values.iter_mut().enumerate() {
        let [low, high] = [0, 1].map(|at| {
            let (holder, which) = holder(lane / 4, 2 * (lane % 4) + at, true);
            half(context, fragment(&source, holder), which)
        });
        let piece = join(context, low, high);
        *value = piece.0;
        set_tags_of(&mut tags, lane, piece.1, context.place, false);
    }
    let origin = source.1.origin.unwrap_or(Source::Data);
    let undefined = source.1.undefined.filter(|_| !tags.poison.is_empty());
    context.write_words(op.dst, &values, Tags { origin: Some(origin), undefined, ..tags });
}

#[cfg(test)]
mod tests {
    use super::holder;

    #[test]
    fn elements_are_held_in_pairs() {
        assert_eq!(holder(3, 5, false), (14, 1));
        assert_eq!(holder(5, 3, true), (14, 1));
    }
}
