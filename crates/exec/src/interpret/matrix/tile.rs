//! Executes `wmma.load` and `wmma.store` (manual §9.7.14.4.3, §9.7.14.4.4): matrices with a stride.
//!
//! All lanes name the same matrix. The manual leaves the accessing lane of each element open, so loads of A
//! and B count as reads by every lane. Fragments of C are the same in `wmma.load.c` and `wmma.store.d`, so
//! that a tile may be read, changed and written back. There the access belongs to one lane: *not* the lane
//! that has the element on hardware but its opposite. Then ordinary loads of data from `wmma.store` need a
//! barrier, also where each lane loads the elements that it has on hardware. A load by exactly the opposite lane
//! needs one too, and its absence is not found.
//!
//! The manual requires each row (or column) to be aligned to the fragment's size. CUDA's guide requires 16
//! bytes only, and that is checked.

use super::fragment::{self, FragmentLayout, Place, parts};
use crate::address::Pointer;
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap, Sink};
use crate::interpret::access::{
    combine_states, locate, read_element, resolve, set_tags_of, word_of, write_element,
};
use crate::interpret::tracked::track;
use crate::lanes::{Mask, WARP};
use crate::memory::Word;
use crate::tags::Tags;
use crate::tracker::AccessAttributes;
use crate::value::bytes::ZERO;
use crate::value::unit::Byte;
use ir::{Address, Element, Fragment, Layout, Operand, Shape, Space, Width, WmmaLoad, WmmaStore};
use sync::{MemoryEffect, SameValue};

/// A matrix in memory.
struct Tile {
    pointer: Pointer,
    layout: Layout,
    /// Bits of an element, and from one row (or column) to the next.
    bits: usize,
    stride: i64,
    /// The start of each row (or column), as [`locate`] returns it: `None` after a fault, `Some(None)` in a buffer
    /// without bounds.
    lines: Vec<Option<Option<usize>>>,
    length: u32,
}

impl Tile {
    /// Returns the row (or column) of an element, and its byte offset in that.
    fn line_and_offset(&self, place: Place) -> (usize, usize) {
        let (line, at) = match self.layout {
            Layout::Row => (place.row, place.column),
            Layout::Col => (place.column, place.row),
        };
        (line, at * self.bits / 8)
    }

    /// Returns the row (or column) and the byte offset of a register's elements, if they are adjacent in memory.
    /// Elements smaller than a byte always are.
    fn contiguous_start(
        &self,
        fragment_layout: &FragmentLayout,
        (lane, register): (usize, usize),
        element: Element,
    ) -> Option<(usize, usize)> {
        let (first, start) = self.line_and_offset(fragment_layout.place(lane, register, 0));
        let (last, end) =
            self.line_and_offset(fragment_layout.place(lane, register, parts(element) - 1));
        (first == last && start <= end).then_some((first, start))
    }

    fn line(&self, number: usize) -> Pointer {
        Pointer { offset: self.pointer.offset + self.stride * number as i64, ..self.pointer }
    }
}

/// Parameters common to both instructions.
#[derive(Clone, Copy)]
struct Request {
    fragment: Fragment,
    shape: Shape,
    layout: Layout,
    element: Element,
    space: Space,
    address: Address,
    stride: Option<Operand>,
    registers: usize,
    kind: AccessKind,
}

/// Finds the matrix and checks each of its rows (or columns); `None` after an address fault.
fn locate_tile(context: &mut Context<'_, '_>, request: Request) -> Result<Option<Tile>, Gap> {
    let Shape { m, n, k } = request.shape;
    let (rows, columns) = match request.fragment {
        Fragment::A => (m, k),
        Fragment::B => (k, n),
        Fragment::C => (m, n),
    };
    let (lines, length) = match request.layout {
        Layout::Row => (rows, columns),
        Layout::Col => (columns, rows),
    };
    let bits = request.element.bits() as usize;
    let bytes = usize::from(length) * bits / 8;
    let stride = match request.stride {
        None => i64::from(length),
        Some(operand) => {
            let (values, tags) = context.read(operand, Width::B32);
            if context.require_numbers(tags, Sink::Address)? != Mask::ALL {
                return Ok(None);
            }
            if values.iter().any(|&value| value != values[0]) {
                return Err(context.gap("lanes of a warp give different strides for one matrix"));
            }
            values[0] as i64
        }
    };
    let kind = request.kind;
    let addresses = resolve(context, request.address, request.space, kind, bytes as u32)?;
    let Some(pointer) = addresses.pointers[0].filter(|_| addresses.lanes == Mask::ALL) else {
        return Ok(None);
    };
    if addresses.pointers.iter().any(|&other| other != Some(pointer)) {
        return Err(context.gap("lanes of a warp give different addresses for one matrix"));
    }
    if context.other_block(pointer.area).is_some() {
        return Err(context.gap("a matrix is in another block's shared memory"));
    }
    let stride = stride * bits as i64 / 8;
    let align = (request.registers * register_bytes(request.element)).min(16) as u32;
    let mut tile =
        Tile { pointer, layout: request.layout, bits, stride, lines: vec![], length: bytes as u32 };
    for number in 0..usize::from(lines) {
        let line = tile.line(number);
        let found = locate(context, line, 0, (tile.length, align), kind);
        tile.lines.push(found);
    }
    Ok(Some(tile))
}

/// Bytes of a register of a fragment.
fn register_bytes(element: Element) -> usize {
    if element == Element::F64 { 8 } else { 4 }
}

/// The lane to which an access to an element of C is attributed.
fn opposite_lane(lane: usize) -> usize {
    WARP - 1 - lane
}

pub(super) fn load(context: &mut Context<'_, '_>, load: &WmmaLoad) -> Result<(), Gap> {
    let WmmaLoad { fragment, shape, layout, element, space, address, stride, .. } = *load;
    let (registers, kind) = (load.dsts.len(), AccessKind::Read);
    let request =
        Request { fragment, shape, layout, element, space, address, stride, registers, kind };
    let fragment_layout = fragment::wmma(fragment, shape, element);
    let tile = locate_tile(context, request)?;
    if let Some(tile) = &tile
        && fragment != Fragment::C
    {
        let attributes = AccessAttributes::plain(MemoryEffect::Read, context.site, 4);
        for (number, line) in tile.lines.iter().enumerate() {
            if line.is_some() {
                read_by_all(context, tile.line(number), tile.length, attributes);
            }
        }
    }
    let mut results = Vec::with_capacity(registers);
    for register in 0..registers {
        let (mut values, mut tags) = ([0; WARP], Tags::NUMBER);
        for (lane, value) in values.iter_mut().enumerate() {
            let (piece, bad) = match &tile {
                Some(tile) => {
                    if fragment == Fragment::C {
                        track_access(
                            context,
                            tile,
                            &fragment_layout,
                            (lane, register, element),
                            MemoryEffect::Read,
                        );
                    }
                    read(context, tile, &fragment_layout, (lane, register), element)
                }
                None => ((0, Word::Poison), true),
            };
            *value = piece.0;
            set_tags_of(&mut tags, lane, piece.1, context.place, bad);
        }
        results.push((values, tags));
    }
    for (&dst, (values, tags)) in load.dsts.iter().zip(results) {
        context.write_words(dst, &values, tags);
    }
    Ok(())
}

/// Reports a row read by every lane.
fn read_by_all(
    context: &mut Context<'_, '_>,
    line: Pointer,
    length: u32,
    attributes: AccessAttributes,
) {
    let who = (context.warp.number, Mask::ALL);
    // Report pieces of at most 16 bytes, a size that other accesses have as well.
    let piece = 16.min(length);
    for at in (0..length).step_by(piece as usize) {
        let place = (line.area, line.offset + i64::from(at), piece);
        context.tracker.access(who, place, attributes, SameValue::Different);
    }
}

/// Reports one lane's access to the elements of a register of C.
fn track_access(
    context: &mut Context<'_, '_>,
    tile: &Tile,
    fragment_layout: &FragmentLayout,
    (lane, register, element): (usize, usize, Element),
    kind: MemoryEffect,
) {
    let same = match kind {
        MemoryEffect::Read => SameValue::Different,
        MemoryEffect::Write | MemoryEffect::Update => SameValue::Undecided,
    };
    let attributes = AccessAttributes::plain(kind, context.site, 4);
    let mut access = |(line, offset): (usize, usize), bytes: u32| {
        if tile.lines[line].is_some() {
            let start = tile.line(line);
            let pointer = Pointer { offset: start.offset + offset as i64, ..start };
            track(context, pointer, opposite_lane(lane), bytes, attributes, same);
        }
    };
    match tile.contiguous_start(fragment_layout, (lane, register), element) {
        Some(at) => access(at, register_bytes(element) as u32),
        None => (0..parts(element)).for_each(|part| {
            access(
                tile.line_and_offset(fragment_layout.place(lane, register, part)),
                element.bits() / 8,
            );
        }),
    }
}

/// Reads a register of a lane; `true` after an invalid address.
fn read(
    context: &mut Context<'_, '_>,
    tile: &Tile,
    fragment_layout: &FragmentLayout,
    (lane, register): (usize, usize),
    element: Element,
) -> ((u64, Word), bool) {
    if let Some(at) = tile.contiguous_start(fragment_layout, (lane, register), element) {
        return read_at(context, tile, at, register_bytes(element));
    }
    let count = parts(element);
    let bytes = tile.bits / 8;
    let mut joined = (0u64, Word::Number);
    let mut found = ZERO;
    for part in 0..count {
        let (line, offset) = tile.line_and_offset(fragment_layout.place(lane, register, part));
        let ((value, word), bad) = read_at(context, tile, (line, offset), bytes);
        if bad {
            return ((0, Word::Poison), true);
        }
        if let Some(valued) = &mut context.valued {
            let piece = valued.store.bytes(value, word);
            found[part * bytes..][..bytes].copy_from_slice(&piece[..bytes]);
        }
        joined.0 |= value << (8 * bytes * part);
        joined.1 =
            if part == 0 || joined.1 == word { word } else { combine_states(joined.1, word) };
    }
    match &mut context.valued {
        Some(valued) if joined.1 == Word::Unknown => (valued.store.word(&found), false),
        _ => (joined, false),
    }
}

fn read_at(
    context: &mut Context<'_, '_>,
    tile: &Tile,
    (line, offset): (usize, usize),
    bytes: usize,
) -> ((u64, Word), bool) {
    let Some(start) = tile.lines[line] else { return ((0, Word::Poison), true) };
    let (mut low, mut high) = ([0; WARP], [0; WARP]);
    let at = Some(start.map(|start| start + offset));
    let into = [&mut low, &mut high];
    let word = read_element(context, tile.pointer.area, 0, at, bytes, into);
    ((low[0], word), false)
}

pub(super) fn store(context: &mut Context<'_, '_>, store: &WmmaStore) -> Result<(), Gap> {
    let WmmaStore { shape, layout, element, space, address, stride, .. } = *store;
    let (fragment, kind, registers) = (Fragment::C, AccessKind::Write, store.srcs.len());
    let request =
        Request { fragment, shape, layout, element, space, address, stride, registers, kind };
    let Some(tile) = locate_tile(context, request)? else { return Ok(()) };
    let fragment_layout = fragment::wmma(fragment, shape, element);
    for (register, &src) in store.srcs.iter().enumerate() {
        let source = context.read(src, Width::B64);
        report_undefined(context, &tile, source.1);
        for lane in 0..WARP {
            let piece = (source.0[lane], word_of(source.1, lane));
            track_access(
                context,
                &tile,
                &fragment_layout,
                (lane, register, element),
                MemoryEffect::Write,
            );
            for part in 0..parts(element) {
                let (line, offset) =
                    tile.line_and_offset(fragment_layout.place(lane, register, part));
                let Some(Some(start)) = tile.lines[line] else { continue };
                let bytes = tile.bits / 8;
                let value = extract_element(context, piece, part * bytes, bytes, &tile);
                write_element(context, (tile.pointer.area, lane), start + offset, bytes, value);
            }
        }
    }
    Ok(())
}

/// Reports undefined values that are written to global memory as outputs.
fn report_undefined(context: &mut Context<'_, '_>, tile: &Tile, tags: Tags) {
    if !matches!(tile.pointer.area, crate::address::Area::Global(_)) {
        return;
    }
    if !tags.poison.is_empty() {
        let fault = Fault::Undefined { reaches: Sink::Output, origin: tags.undefined };
        context.record_fault(fault, tags.poison);
    }
    context.doubt_undetermined(tags, Sink::Output, Mask::ALL);
}

/// Extracts one element of a register.
fn extract_element(
    context: &mut Context<'_, '_>,
    (value, word): (u64, Word),
    first: usize,
    bytes: usize,
    tile: &Tile,
) -> (u64, Word) {
    let global = matches!(tile.pointer.area, crate::address::Area::Global(_));
    match (&mut context.valued, word) {
        (Some(valued), Word::Unknown) => {
            let all = valued.store.bytes(value, word);
            let mut out = [Byte::Known(0); 8];
            out[..bytes].copy_from_slice(&all[first..first + bytes]);
            valued.store.word(&out)
        }
        // The fault is reported, and the memory counts as written: no later access may report it again.
        (_, Word::Poison) if global => (0, Word::Unknown),
        _ => (value >> (8 * first) & (u64::MAX >> (64 - 8 * bytes)), word),
    }
}
