//! Allocations: bytes, with a state for each.
//!
//! A byte is *undefined* (never written), *defined*, *opaque* (written or given, with a value that is not
//! inspected), *part of an address* or *half of an address*. Or it is *schedule-dependent*: not determined by the
//! launch and its inputs, see [`crate::tags`]. Reading a mixture gives the worst of its parts.

use crate::address::{Area, Pointer};
use crate::finding::{AccessKind, Target};
use crate::launch::Access;
use crate::outcome::WrittenBytes;
use ir::Space;
use rustc_hash::FxHashMap;
use std::ops::{Deref, Range};
use sync::SameValue;

/// State of a byte.
pub(crate) mod state {
    /// A value that is not inspected. Most of large memory is in this state. It is 0 because the system
    /// provides zero pages for free until they are touched.
    pub(crate) const OPAQUE: u8 = 0;
    pub(crate) const DEFINED: u8 = 1;
    pub(crate) const UNDEFINED: u8 = 2;
    pub(crate) const ADDRESS: u8 = 3;
    pub(crate) const SCHEDULE_DEPENDENT: u8 = 4;
    /// Half of a 64-bit address, stored without its other half, which is unknown.
    pub(crate) const HALF: u8 = 5;
}

/// The state of every byte, and counts of defined and opaque ones. Memory is mostly uniform, and then single
/// bytes need not be inspected.
#[derive(Clone, Debug)]
pub(crate) struct States {
    each: Vec<u8>,
    counts: Counts,
    /// For each page, the number of changes so far.
    changes: Vec<u64>,
    /// Numbers written under an undecided condition, by the start of the write. A later write of any of their bytes
    /// removes them.
    chosen: FxHashMap<usize, ChosenNumber>,
}

/// Bytes of a page of states, as a power of two.
const PAGE: u32 = 12;

impl States {
    fn new(size: usize, state: u8) -> Self {
        let counts = match state {
            state::DEFINED => Counts { defined: size, opaque: 0 },
            state::OPAQUE => Counts { defined: 0, opaque: size },
            _ => Counts::default(),
        };
        let changes = vec![0; (size >> PAGE) + 1];
        Self { each: vec![state; size], counts, changes, chosen: FxHashMap::default() }
    }

    /// Returns `true` if every byte is defined.
    #[inline]
    pub(crate) fn all_defined(&self) -> bool {
        self.counts.defined == self.each.len()
    }

    /// The state of all bytes, if all are defined or all are opaque.
    #[inline]
    pub(crate) fn of_all(&self) -> Option<u8> {
        match self.each.len() {
            size if size == self.counts.defined => Some(state::DEFINED),
            size if size == self.counts.opaque => Some(state::OPAQUE),
            _ => None,
        }
    }

    /// The bytes that were given a value.
    pub(crate) fn written(&self) -> WrittenBytes {
        if self.of_all().is_some() || !self.each.contains(&state::UNDEFINED) {
            return WrittenBytes::All(self.each.len());
        }
        WrittenBytes::Each(self.each.iter().map(|state| *state != state::UNDEFINED).collect())
    }

    /// Zeroes undefined and opaque bytes, whose contents are meaningless.
    pub(crate) fn clear_meaningless(&self, bytes: &mut Vec<u8>) {
        match self.of_all() {
            Some(state::DEFINED) => return,
            // Zeros from the system, instead of touching every page.
            Some(_) => return *bytes = vec![0; bytes.len()],
            None => {}
        }
        // Selecting instead of branching can use vector instructions.
        for (byte, state) in bytes.iter_mut().zip(&self.each) {
            let meaningless = *state == state::UNDEFINED || *state == state::OPAQUE;
            *byte = if meaningless { 0 } else { *byte };
        }
    }

    /// Counts the changes of the pages around a range. Where the count is the same, so are the states.
    pub(crate) fn changes(&self, range: Range<usize>) -> u64 {
        let pages = self.changes.get(range.start >> PAGE..=range.end >> PAGE);
        pages.unwrap_or_default().iter().sum()
    }

    /// Counts a change of a range.
    #[inline]
    fn note_change(&mut self, range: &Range<usize>) {
        let pages = range.start >> PAGE..=range.end >> PAGE;
        self.changes[pages].iter_mut().for_each(|changes| *changes += 1);
    }

    /// Forgets numbers that were written under a condition where a range is written now.
    #[inline]
    fn forget_chosen(&mut self, range: &Range<usize>) {
        if !self.chosen.is_empty() {
            self.chosen.retain(|start, one| range.end <= *start || start + one.size <= range.start);
        }
    }

    /// Makes every byte undefined and returns their number.
    pub(crate) fn set_all_undefined(&mut self) -> usize {
        self.chosen.clear();
        self.note_change(&(0..self.each.len()));
        self.each.fill(state::UNDEFINED);
        self.counts = Counts::default();
        self.each.len()
    }

    /// Sets the state of a range.
    pub(crate) fn fill(&mut self, range: Range<usize>, state: u8) {
        self.forget_chosen(&range);
        self.note_change(&range);
        let bytes = &mut self.each[range];
        self.counts.remove(bytes);
        bytes.fill(state);
        self.counts.add(bytes);
    }

    /// Sets the state of `N` bytes.
    #[inline]
    pub(crate) fn set<const N: usize>(&mut self, start: usize, state: u8) {
        self.forget_chosen(&(start..start + N));
        let bytes = &mut self.each[start..start + N];
        if bytes != [state; N] {
            self.fill(start..start + N, state);
        }
    }

    /// The state of some bytes, if uniform.
    #[inline(always)]
    pub(crate) fn common(&self, start: usize, bytes: usize) -> Option<u8> {
        let states = &self.each[start..start + bytes];
        if let &[a, b, c, d] = states {
            return (((a ^ b) | (a ^ c) | (a ^ d)) == 0).then_some(a);
        }
        let (first, rest) = states.split_first()?;
        // Compares each byte with the one before it, which the system does in bulk.
        (*rest == states[..rest.len()]).then_some(*first)
    }

    /// Sets the states from `start` on to these.
    pub(crate) fn copy(&mut self, start: usize, states: &[u8]) {
        self.forget_chosen(&(start..start + states.len()));
        self.note_change(&(start..start + states.len()));
        let bytes = &mut self.each[start..start + states.len()];
        self.counts.remove(bytes);
        bytes.copy_from_slice(states);
        self.counts.add(states);
    }
}

impl Deref for States {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.each
    }
}

/// Counts of bytes in the most frequent states.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    defined: usize,
    opaque: usize,
}

impl Counts {
    fn add(&mut self, states: &[u8]) {
        let Self { defined, opaque } = Self::of(states);
        self.defined += defined;
        self.opaque += opaque;
    }

    fn remove(&mut self, states: &[u8]) {
        let Self { defined, opaque } = Self::of(states);
        self.defined -= defined;
        self.opaque -= opaque;
    }

    fn of(states: &[u8]) -> Self {
        let count = |wanted: u8| states.iter().filter(|&&state| state == wanted).count();
        Self { defined: count(state::DEFINED), opaque: count(state::OPAQUE) }
    }
}

/// The kind of a word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// All bytes are known.
    Number,
    /// An address.
    Pointer,
    /// A value that is not inspected, or a handle of a domain.
    Unknown,
    /// Not determined by the launch and its inputs.
    ScheduleDependent,
    /// Some byte is undefined.
    Poison,
}

/// The alignment of an access, given the declared alignment of the allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    /// Aligned at every placement of the allocation.
    Yes,
    /// Never aligned.
    No,
    /// Depends on the placement: the declared alignment is too small.
    Depends,
    /// Aligned if shared arrays are packed, in any order.
    Packed,
    /// Aligned where an H200 places the array.
    Placed,
}

/// A piece of memory with bounds of its own.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub(crate) name: String,
    /// In a cluster of several blocks, the rank of the block that owns the shared memory.
    pub(crate) rank: Option<u32>,
    pub(crate) space: Space,
    /// The declared alignment.
    pub(crate) align: u64,
    /// The alignment in every packing of shared arrays ([`crate::packing`]), at least the declared one.
    pub(crate) packed: u64,
    /// Where a static shared variable begins on an H200, after a multiple of 1024 bytes, if that is known.
    pub(crate) placed: Option<u64>,
    /// Set for dynamic shared memory, whose `packed` is an assumption of its own.
    pub(crate) dynamic: bool,
    /// For dynamic shared memory: its assumed start after a multiple of 1024 bytes, used if the alignment
    /// does not suffice.
    pub(crate) lead: u64,
    pub(crate) element_bytes: u32,
    pub(crate) access: Access,
    /// Set if the size is known; otherwise there are no bytes and every access is in bounds.
    pub(crate) bounded: bool,
    /// Set if its contents are the module's initialiser, which the host may have changed.
    pub(crate) assumed: bool,
    /// Set once the memory was read.
    pub(crate) read: bool,
    pub(crate) bytes: Vec<u8>,
    pub(crate) states: States,
    /// In a run with a domain, the word of a last unit with less than four bytes.
    tail: u32,
}

/// A number written under an undecided condition, and the choice that memory holds since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChosenNumber {
    number: u64,
    size: usize,
    /// The units that hold the choice.
    content: [u32; 2],
}

impl Allocation {
    /// Memory of `size` bytes, all in one state.
    pub(crate) fn new(name: &str, space: Space, size: usize, state: u8) -> Self {
        Self {
            name: name.to_owned(),
            rank: None,
            space,
            align: 256,
            packed: 0,
            placed: None,
            dynamic: false,
            lead: 0,
            element_bytes: 1,
            access: Access::InOut,
            bounded: true,
            assumed: false,
            read: false,
            bytes: vec![0; size],
            states: States::new(size, state),
            tail: 0,
        }
    }

    /// The word of the unit at `start`, a multiple of 4 (see [`crate::value`]).
    pub(crate) fn unit(&self, start: usize) -> u32 {
        match self.bytes.get(start..start + 4) {
            Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            _ => self.tail,
        }
    }

    /// Sets the word of the unit at `start`, a multiple of 4.
    pub(crate) fn set_unit(&mut self, start: usize, word: u32) {
        match self.bytes.get_mut(start..start + 4) {
            Some(bytes) => bytes.copy_from_slice(&word.to_le_bytes()),
            None => self.tail = word,
        }
    }

    /// The start of an access of `bytes` bytes at `offset`, if it is inside.
    pub(crate) fn inside(&self, offset: i64, bytes: u32) -> Option<usize> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(bytes as usize)?;
        (end <= self.bytes.len()).then_some(start)
    }

    /// The alignment of an access of `bytes` bytes at `offset`.
    pub(crate) fn alignment(&self, offset: i64, bytes: u32) -> Alignment {
        let wanted = u64::from(bytes);
        let sure = wanted.min(self.align.max(self.packed));
        if offset.rem_euclid(sure.cast_signed()) != 0 {
            Alignment::No
        } else if self.align >= wanted {
            Alignment::Yes
        } else if self.packed >= wanted {
            Alignment::Packed
        } else if self.placed.is_some_and(|start| {
            (i128::from(start) + i128::from(offset)).rem_euclid(wanted.into()) == 0
        }) {
            Alignment::Placed
        } else {
            Alignment::Depends
        }
    }

    /// Loads up to eight bytes, with their kind.
    pub(crate) fn load(&self, start: usize, bytes: usize) -> (u64, Word) {
        (self.bits(start, bytes), self.word(start, bytes))
    }

    /// Loads the bits of up to eight bytes.
    #[inline(always)]
    pub(crate) fn bits(&self, start: usize, bytes: usize) -> u64 {
        if let (4, Some(&[a, b, c, d])) = (bytes, self.bytes.get(start..start + 4)) {
            return u32::from_le_bytes([a, b, c, d]).into();
        }
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.bytes[start..start + bytes]);
        u64::from_le_bytes(value)
    }

    /// The kind of some bytes.
    pub(crate) fn word(&self, start: usize, bytes: usize) -> Word {
        let states = &self.states[start..start + bytes];
        if states.iter().all(|&state| state == state::DEFINED) {
            return Word::Number;
        }
        if states.contains(&state::UNDEFINED) {
            return Word::Poison;
        }
        let all = |wanted: u8| states.iter().all(|&state| state == wanted);
        let whole_address = bytes >= 4 && all(state::ADDRESS) || bytes == 4 && all(state::HALF);
        let schedule_dependent = states
            .iter()
            .any(|s| [state::ADDRESS, state::SCHEDULE_DEPENDENT, state::HALF].contains(s));
        match () {
            () if whole_address => Word::Pointer,
            () if schedule_dependent => Word::ScheduleDependent,
            () => Word::Unknown,
        }
    }

    /// Writes up to eight bytes.
    pub(crate) fn store(&mut self, start: usize, bytes: usize, value: u64, word: Word) {
        self.bytes[start..start + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        let state = match word {
            Word::Number => state::DEFINED,
            Word::Pointer if bytes == 4 && Pointer::decode_in_window(value).is_none() => {
                state::HALF
            }
            Word::Pointer => state::ADDRESS,
            Word::Unknown => state::OPAQUE,
            Word::ScheduleDependent => state::SCHEDULE_DEPENDENT,
            Word::Poison => state::UNDEFINED,
        };
        self.states.fill(start..start + bytes, state);
    }

    /// Fills the memory with addresses of global allocations, from its start on. No allocation is at address zero,
    /// so zero is the null pointer.
    pub(crate) fn point_to(&mut self, targets: &[Option<usize>]) {
        for (position, target) in targets.iter().enumerate() {
            if let Some(number) = *target {
                let address = Pointer { area: Area::Global(number), offset: 0 }.address();
                self.store(8 * position, 8, address, Word::Pointer);
            }
        }
    }

    /// Compares the present value with a write of these bytes, all in one state. A number is also compared with one
    /// written under an undecided condition: both writes leave the same if both happen.
    pub(crate) fn would_keep(&self, start: usize, bytes: &[u8], state: u8) -> SameValue {
        let end = start + bytes.len();
        let known = |state: &u8| *state == state::DEFINED;
        if !known(&state) || !self.states[start..end].iter().all(known) {
            let is_chosen = known(&state) && self.has_chosen(start, bytes);
            return if is_chosen { SameValue::Equal } else { SameValue::Undecided };
        }
        if self.bytes[start..end] == *bytes { SameValue::Equal } else { SameValue::Different }
    }

    /// Remembers that a number of up to eight bytes was just written under an undecided condition.
    pub(crate) fn remember_chosen(&mut self, start: usize, size: usize, number: u64) {
        let content = self.units_of(start, size);
        self.states.chosen.insert(start, ChosenNumber { number, size, content });
    }

    /// Returns `true` if the last write of these bytes wrote this number under an undecided condition.
    fn has_chosen(&self, start: usize, bytes: &[u8]) -> bool {
        let size = bytes.len();
        if self.states.chosen.is_empty() || size > 8 {
            return false;
        }
        let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let content = self.units_of(start, size);
        self.word(start, size) == Word::Unknown
            && self.states.chosen.get(&start) == Some(&ChosenNumber { number, size, content })
    }

    /// The units that up to eight bytes lie in; an access does not cross more, because it is aligned.
    fn units_of(&self, start: usize, size: usize) -> [u32; 2] {
        let last = start + size.max(1) - 1;
        [start, last].map(|at| self.unit(at / 4 * 4))
    }

    /// Describes a byte for a report.
    pub(crate) fn target(&self, offset: i64) -> Target {
        Target {
            name: self.name.clone(),
            space: self.space,
            offset,
            size: self.bytes.len() as u64,
            element_bytes: self.element_bytes,
            align: self.align,
            rank: self.rank,
        }
    }

    /// Returns `true` if an access of this kind is allowed.
    pub(crate) fn allows(&self, kind: AccessKind) -> bool {
        kind == AccessKind::Read || self.access != Access::In
    }
}
