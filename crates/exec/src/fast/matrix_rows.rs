//! Fast path for `ldmatrix` of common rows: all in one shared allocation, inside it, aligned, and each matrix all
//! numbers or all plain data. Rows are copied as a whole.
//!
//! All others are left to [`crate::interpret`], which gives the same result where both apply.

use super::contiguous::starts::{Starts, allocation};
use crate::address::Area;
use crate::context::Context;
use crate::finding::AccessKind;
use crate::lanes::{Mask, Narrow, WARP};
use crate::memory::{Allocation, state};
use crate::tags::Tags;
use crate::tracker::AccessAttributes;
use crate::value::unit::Units;
use ir::{LoadMatrix, Width};
use smallvec::SmallVec;
use sync::{AccessPart, MemoryEffect, SameValue};

/// Bytes of a row.
const ROW: usize = 16;

/// Rows of a matrix.
const ROWS: usize = 8;

/// The starts of a matrix's rows.
type Rows = [u32; ROWS];

/// The register of a matrix, in all lanes.
struct Fragment {
    words: Narrow,
    /// [`state::DEFINED`] or [`state::OPAQUE`].
    state: u8,
}

/// Executes a common `ldmatrix` by a whole warp. Returns `true` if it did.
pub(super) fn load(context: &mut Context<'_, '_>, load: &LoadMatrix) -> bool {
    let count = load.dsts.len();
    if context.lanes != Mask::ALL
        || load.dsts.iter().any(|&dst| context.layout.width(dst) != Width::B32)
    {
        return false;
    }
    let Some(starts) = starts(context, load) else { return false };
    let (rows, _) = starts.each.as_chunks::<ROWS>();
    let rows = &rows[..count];
    let Some(fragments) = fragments(context, starts.area, (rows, load.transpose)) else {
        return false;
    };
    if context.tracker.watches(starts.area) {
        rows.iter().for_each(|rows| track(context, starts.area, (rows, load.transpose)));
    }
    let Context { registers, layout, lanes, .. } = context;
    for (&dst, Fragment { words, state }) in load.dsts.iter().zip(&fragments) {
        match *state {
            state::DEFINED => registers.write_narrow(layout, dst, words, Tags::NUMBER, *lanes),
            _ => registers.write_data(layout, dst, words, *lanes),
        }
    }
    true
}

/// Finds the starts of all rows, one for each lane that has an address.
fn starts(context: &mut Context<'_, '_>, load: &LoadMatrix) -> Option<Starts> {
    let mut starts = Starts::new();
    let all = std::mem::replace(&mut context.lanes, Mask::first((ROWS * load.dsts.len()) as u32));
    let address = (load.address, load.space);
    let found = starts.find(context, address, ROW as u32, AccessKind::Read);
    context.lanes = all;
    (found && matches!(starts.area, Area::Shared(_))).then_some(starts)
}

/// Reads all matrices. `None` if one of them is neither all numbers nor all plain data, or has data that is not halves.
fn fragments(
    context: &mut Context<'_, '_>,
    area: Area,
    (rows, transposed): (&[Rows], bool),
) -> Option<SmallVec<[Fragment; 4]>> {
    let Context { machine, global, shared, warp, valued, .. } = context;
    let (memory, ..) = allocation(machine, global, shared, warp, area)?;
    let fragment = |rows: &Rows| {
        let state = common_state(memory, rows)?;
        let words = match (transposed, state, &mut *valued) {
            (true, state::DEFINED, _) => transposed_numbers(memory, rows),
            (true, _, Some(valued)) => transposed_halves(memory, rows, &mut valued.store.units)?,
            (false, state::DEFINED, _) | (false, _, Some(_)) => words_of_rows(memory, rows),
            // The bits of unknown values are meaningless here.
            (_, _, None) => [0; WARP],
        };
        Some(Fragment { words, state })
    };
    let fragments = rows.iter().map(fragment).collect::<Option<SmallVec<_>>>()?;
    memory.read = true;
    Some(fragments)
}

/// Returns the state of all bytes of a matrix, if it is [`state::DEFINED`] or [`state::OPAQUE`].
fn common_state(memory: &Allocation, rows: &Rows) -> Option<u8> {
    let state = match memory.states.of_all() {
        Some(state) => state,
        None => {
            let (states, _) = memory.states.as_chunks::<ROW>();
            let row = |&start: &u32| u128::from_le_bytes(states[start as usize / ROW]);
            let first = row(&rows[0]);
            let differs = rows.iter().fold(0, |differs, start| differs | (row(start) ^ first));
            let state = first as u8;
            if differs != 0 || first != u128::from_le_bytes([state; ROW]) {
                return None;
            }
            state
        }
    };
    matches!(state, state::DEFINED | state::OPAQUE).then_some(state)
}

/// Returns the words of rows one after another.
fn words_of_rows(memory: &Allocation, rows: &Rows) -> Narrow {
    let (bytes, _) = memory.bytes.as_chunks::<ROW>();
    let mut out = [0; WARP];
    let (quads, _) = out.as_chunks_mut::<4>();
    for (quad, &start) in quads.iter_mut().zip(rows) {
        let (words, _) = bytes[start as usize / ROW].as_chunks::<4>();
        for (word, bytes) in quad.iter_mut().zip(words) {
            *word = u32::from_le_bytes(*bytes);
        }
    }
    out
}

/// Returns the words of a transposed matrix of numbers: lane `4c + p` has column `c` of rows `2p` and `2p + 1`.
fn transposed_numbers(memory: &Allocation, rows: &Rows) -> Narrow {
    let (bytes, _) = memory.bytes.as_chunks::<ROW>();
    let mut out = [0; WARP];
    for (row, &start) in rows.iter().enumerate() {
        let (halves, _) = bytes[start as usize / ROW].as_chunks::<2>();
        for (column, half) in halves.iter().enumerate() {
            let half = u32::from(u16::from_le_bytes(*half));
            out[4 * column + row / 2] |= half << (16 * (row % 2));
        }
    }
    out
}

/// Like [`transposed_numbers`], for words of two halves of a domain. `None` if one is something else.
fn transposed_halves(memory: &Allocation, rows: &Rows, units: &mut Units) -> Option<Narrow> {
    let words = words_of_rows(memory, rows);
    let mut out = [0; WARP];
    let (quads, _) = words.as_chunks::<4>();
    for pair in 0..ROWS / 2 {
        for (word, (&low, &high)) in quads[2 * pair].iter().zip(&quads[2 * pair + 1]).enumerate() {
            for half in 0..2 {
                let [low, high] = [units.half_alone(low, half)?, units.half_alone(high, half)?];
                out[4 * (2 * word + half) + pair] = units.pair(low, high)?;
            }
        }
    }
    Some(out)
}

/// Reports the reads of a matrix, by the lanes whose registers hold its elements: four bytes of a row, or two bytes of
/// each of two rows of a transposed matrix.
fn track(context: &mut Context<'_, '_>, area: Area, (rows, transposed): (&Rows, bool)) {
    let bytes = if transposed { 2 } else { 4 };
    let attributes = AccessAttributes::plain(MemoryEffect::Read, context.site, bytes);
    let (warp, tracker) = (context.warp.number, &mut *context.tracker);
    let each = || rows.iter().enumerate().flat_map(|(row, &start)| reads(row, start, transposed));
    let mut starts = [[0; WARP]; 2];
    for (row, lane, start) in each() {
        starts[if transposed { row % 2 } else { 0 }][lane] = start;
    }
    let mut defer =
        |starts: &Narrow| tracker.defer_read((warp, Mask::ALL), (area, bytes), attributes, starts);
    // Lanes that read the same place would be reported together.
    let first_deferred = all_differ(rows) && defer(&starts[0]);
    if first_deferred && (!transposed || defer(&starts[1])) {
        return;
    }
    let part = |lane: usize, start: u32| AccessPart {
        lanes: Mask::one(lane),
        offset: start.into(),
        same_value: SameValue::Different,
    };
    let parts: SmallVec<[AccessPart; 2 * WARP]> = match first_deferred {
        true => starts[1].iter().enumerate().map(|(lane, &start)| part(lane, start)).collect(),
        false => each().map(|(_, lane, start)| part(lane, start)).collect(),
    };
    tracker.access_each(warp, (area, bytes), attributes, &parts);
}

/// Returns the reads of a row, in ascending order: the row, the lane, and the start.
fn reads(row: usize, start: u32, transposed: bool) -> impl Iterator<Item = (usize, usize, u32)> {
    let (count, bytes) = if transposed { (8, 2) } else { (4, 4) };
    (0..count).map(move |part| {
        let lane = if transposed { 4 * part + row / 2 } else { 4 * row + part };
        (row, lane, start + bytes * part as u32)
    })
}

/// Returns `true` if no two rows start at the same place.
fn all_differ(rows: &Rows) -> bool {
    let is_new = |(at, row): (usize, &u32)| !rows[..at].contains(row);
    rows.iter().enumerate().all(is_new)
}
