//! Reads a factor of a product from shared memory, as words of virtual registers.

use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::{AccessKind, Gap};
use crate::interpret::access::{locate, read_element, set_tags_of};
use crate::interpret::matrix::factors::Sources;
use crate::interpret::matrix::fragment::{FragmentLayout, across_k, along_k};
use crate::lanes::{Mask, WARP};
use crate::memory::{States, state};
use crate::tags::{Source, Tags};
use crate::tile::{Contents, KnownContents, Places, TileRows};
use ir::Element;
use std::sync::Arc;

/// The largest number of factors of which the kind of bytes is kept.
const MAX_KINDS: usize = 1 << 12;

/// A factor in shared memory.
pub(super) struct SharedFactor {
    part: TileRows,
    places: Arc<Places>,
}

impl SharedFactor {
    /// A factor of some rows of a matrix, or columns of B.
    pub(super) fn new(context: &mut Context<'_, '_>, part: TileRows) -> Self {
        let places = context.scratch.tiles.places(&part);
        Self { part, places }
    }

    /// The area of the factor.
    pub(super) fn area(&self) -> Area {
        Area::Shared(self.part.tile.variable)
    }

    /// The byte ranges that it covers, and the smallest range around them.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// Checks that it lies inside its variable.
    pub(super) fn check(&self, context: &mut Context<'_, '_>) -> Result<(), Gap> {
        let (start, bytes) = self.places.span;
        let memory = context.shared.get(self.part.tile.variable);
        if memory.is_some_and(|memory| memory.inside(start, bytes).is_some()) {
            return Ok(());
        }
        for &(offset, bytes) in &self.places.ranges {
            let pointer = Pointer { area: self.area(), offset };
            if locate(context, pointer, 0, (bytes, 1), AccessKind::Read).is_none() {
                return Err(context.gap("a product outside its memory is undefined"));
            }
        }
        Ok(())
    }

    /// The layout of its elements in words.
    pub(super) fn layout(&self, element: Element) -> FragmentLayout {
        let TileRows { tile, rows, k_bytes, .. } = self.part;
        match tile.transposed {
            false => along_k(k_bytes as usize / 4, rows as usize, element),
            true => across_k(k_bytes as usize / 2, rows as usize),
        }
    }

    /// The number of virtual registers.
    pub(super) fn registers(&self) -> usize {
        (self.part.rows * self.part.k_bytes) as usize / (4 * WARP)
    }

    /// Returns the kind of its bytes, and marks the memory as read.
    pub(super) fn contents(&self, context: &mut Context<'_, '_>) -> Contents {
        let Some(memory) = context.shared.get_mut(self.part.tile.variable) else {
            return Contents::Mixed;
        };
        memory.read = true;
        let (first, bytes) = self.places.span;
        let changes = memory.states.changes(first as usize..first as usize + bytes as usize);
        let kinds = &mut context.scratch.tiles.contents;
        if kinds.len() >= MAX_KINDS {
            kinds.clear();
        }
        // A stage that is refilled keeps its states. No memory of a run without a domain is set back to earlier ones.
        let key = (self.part.tile.variable, self.places.span);
        if let Some(known) = kinds.get(&key) {
            // Factors of the same span may have other rows.
            let is_same = Arc::ptr_eq(&known.places, &self.places)
                || known.places.ranges == self.places.ranges;
            if known.changes == changes && is_same {
                return known.kind;
            }
        }
        let kind = self.kind_of_states(&memory.states);
        kinds.insert(key, KnownContents { changes, places: Arc::clone(&self.places), kind });
        kind
    }

    /// Returns the kind of bytes with these states.
    fn kind_of_states(&self, states: &States) -> Contents {
        let (first, bytes) = self.places.span;
        match states.common(first as usize, bytes as usize) {
            Some(state::OPAQUE) => return Contents::Data,
            Some(state::DEFINED) => return Contents::Numbers,
            _ => {}
        }
        let (mut worst, mut opaque) = (0, false);
        for &(start, bytes) in &self.places.ranges {
            for &state in &states[start as usize..start as usize + bytes as usize] {
                worst = worst.max(state);
                opaque |= state == state::OPAQUE;
            }
        }
        match (worst > state::DEFINED, opaque) {
            (true, _) => Contents::Mixed,
            (false, true) => Contents::Data,
            (false, false) => Contents::Numbers,
        }
    }

    /// Reads its words, by virtual register.
    pub(super) fn read(&self, context: &mut Context<'_, '_>) -> Sources {
        let lanes_of = |register: usize| {
            let mut values = [0; WARP];
            let mut tags = Tags::NUMBER;
            for lane in 0..WARP {
                let (mut low, mut unused) = ([0; WARP], [0; WARP]);
                let at = Some(Some(self.place(register * WARP + lane) as usize));
                let into = [&mut low, &mut unused];
                let word = read_element(context, self.area(), lane, at, 4, into);
                values[lane] = low[lane];
                set_tags_of(&mut tags, lane, word, context.place, false);
            }
            (values, tags)
        };
        (0..self.registers()).map(lanes_of).collect()
    }

    /// The byte offset of a word.
    fn place(&self, word: usize) -> u64 {
        let chunks = &self.places.chunks;
        match self.part.tile.transposed {
            false => chunks[word / 4] + 4 * (word % 4) as u64,
            true => {
                // Words are numbered along K first, then by pairs of rows. A chunk is eight rows of one column of
                // K: four words.
                let k = self.part.k_bytes as usize / 2;
                let (pair, column) = (word / k, word % k);
                chunks[pair / 4 * k + column] + 4 * (pair % 4) as u64
            }
        }
    }
}

/// An unknown factor.
pub(super) fn unknown() -> Sources {
    vec![([0; WARP], Tags::unknown(Mask::ALL, Source::Data))]
}
