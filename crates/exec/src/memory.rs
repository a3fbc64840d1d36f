//! Allocations: bytes, and for each byte whether it is defined.
//!
//! A byte is *undefined* (nobody wrote it), *defined*, *opaque* (written or given, value not
//! looked at), *part of an address*, *half of an address* or *fickle* (not determined by the launch and its inputs, see
//! [`crate::tags`]). Reading a mixture gives the worst of its parts.

use crate::address::{Area, Pointer};
use crate::finding::{AccessKind, Target};
use crate::launch::Access;
use crate::outcome::Written;
use ir::Space;
use std::ops::{Deref, Range};
use sync::SameValue;

/// State of a byte.
pub(crate) mod state {
    /// A value. Most of large memory is in this state: as zeros, which the system gives away, it costs
    /// nothing until somebody looks.
    pub(crate) const OPAQUE: u8 = 0;
    pub(crate) const DEFINED: u8 = 1;
    pub(crate) const UNDEFINED: u8 = 2;
    pub(crate) const ADDRESS: u8 = 3;
    pub(crate) const FICKLE: u8 = 4;
    /// Half of an address of 64 bits, which was stored on its own: nobody knows to which other half it belongs.
    pub(crate) const HALF: u8 = 5;
}

/// The state of every byte, and how many bytes are defined and how many are values: memory is mostly the one or
/// the other throughout, and then nobody has to look at single bytes.
#[derive(Clone, Debug)]
pub(crate) struct States {
    each: Vec<u8>,
    counts: Counts,
}

impl States {
    fn new(size: usize, state: u8) -> Self {
        let counts = match state {
            state::DEFINED => Counts { defined: size, opaque: 0 },
            state::OPAQUE => Counts { defined: 0, opaque: size },
            _ => Counts::default(),
        };
        Self { each: vec![state; size], counts }
    }

    /// Whether every byte is defined.
    #[inline]
    pub(crate) fn all_defined(&self) -> bool {
        self.counts.defined == self.each.len()
    }

    /// The state of all bytes, if all are defined or all are values.
    #[inline]
    pub(crate) fn of_all(&self) -> Option<u8> {
        match self.each.len() {
            size if size == self.counts.defined => Some(state::DEFINED),
            size if size == self.counts.opaque => Some(state::OPAQUE),
            _ => None,
        }
    }

    /// Tells which bytes somebody gave a value.
    pub(crate) fn written(&self) -> Written {
        if self.of_all().is_some() || !self.each.contains(&state::UNDEFINED) {
            return Written::All(self.each.len());
        }
        Written::Each(self.each.iter().map(|state| *state != state::UNDEFINED).collect())
    }

    /// Makes bytes zero that are undefined or not looked at: what is there has no meaning.
    pub(crate) fn clear_meaningless(&self, bytes: &mut Vec<u8>) {
        match self.of_all() {
            Some(state::DEFINED) => return,
            // Zeros from the system, instead of a visit to every page.
            Some(_) => return *bytes = vec![0; bytes.len()],
            None => {}
        }
        // A choice for every byte and not a branch: it uses vector instructions.
        for (byte, state) in bytes.iter_mut().zip(&self.each) {
            let meaningless = *state == state::UNDEFINED || *state == state::OPAQUE;
            *byte = if meaningless { 0 } else { *byte };
        }
    }

    /// Makes every byte undefined; how many there are.
    pub(crate) fn forget(&mut self) -> usize {
        self.each.fill(state::UNDEFINED);
        self.counts = Counts::default();
        self.each.len()
    }

    /// Puts all bytes of a range in one state.
    pub(crate) fn fill(&mut self, range: Range<usize>, state: u8) {
        let bytes = &mut self.each[range];
        self.counts.remove(bytes);
        bytes.fill(state);
        self.counts.add(bytes);
    }

    /// Puts `N` bytes in one state.
    #[inline]
    pub(crate) fn set<const N: usize>(&mut self, start: usize, state: u8) {
        let bytes = &mut self.each[start..start + N];
        if bytes != [state; N] {
            self.fill(start..start + N, state);
        }
    }

    /// The state of some bytes, if it is the same.
    #[inline(always)]
    pub(crate) fn common(&self, start: usize, bytes: usize) -> Option<u8> {
        let states = &self.each[start..start + bytes];
        if let &[a, b, c, d] = states {
            return (((a ^ b) | (a ^ c) | (a ^ d)) == 0).then_some(a);
        }
        let (first, rest) = states.split_first()?;
        // Each is as the one before it: the system compares many at once.
        (*rest == states[..rest.len()]).then_some(*first)
    }

    /// Sets the states from `start` on to these.
    pub(crate) fn copy(&mut self, start: usize, states: &[u8]) {
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

/// How many bytes are in the states that most are in.
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

/// What a few bytes of memory are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Number,
    Pointer,
    Unknown,
    Fickle,
    Poison,
}

/// Whether an access is aligned, given what the allocation promises about its own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    /// Wherever the allocation lies.
    Yes,
    /// Nowhere.
    No,
    /// On where the allocation lies: it promises less than the access needs.
    Depends,
    /// If shared arrays are packed, in whatever order.
    Packed,
}

/// A piece of memory with bounds of its own.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub(crate) name: String,
    /// The rank of the block whose shared memory it is, in a cluster of several.
    pub(crate) rank: Option<u32>,
    pub(crate) space: Space,
    /// The alignment that it declares.
    pub(crate) align: u64,
    /// The alignment that it has in every packing of shared arrays ([`crate::packing`]), at least what it declares.
    pub(crate) packed: u64,
    /// Of dynamic shared memory: how many bytes behind a multiple of 1024 it is taken to begin, where its alignment does not do.
    pub(crate) lead: u64,
    pub(crate) element_bytes: u32,
    pub(crate) access: Access,
    /// Whether the size is known; if not, there are no bytes and every access is in bounds.
    pub(crate) bounded: bool,
    /// Whether its contents are what the module says, which the host may have changed.
    pub(crate) assumed: bool,
    /// Whether anybody has read it.
    pub(crate) read: bool,
    pub(crate) bytes: Vec<u8>,
    pub(crate) states: States,
    /// In a run with a domain, the word of the last unit, where it has less than four bytes.
    tail: u32,
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

    /// Where an access of `bytes` bytes at `offset` starts, if it is inside.
    pub(crate) fn inside(&self, offset: i64, bytes: u32) -> Option<usize> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(bytes as usize)?;
        (end <= self.bytes.len()).then_some(start)
    }

    /// Whether an access at `offset` is aligned to `bytes`.
    pub(crate) fn alignment(&self, offset: i64, bytes: u32) -> Alignment {
        let wanted = u64::from(bytes);
        let sure = wanted.min(self.align.max(self.packed));
        if offset.rem_euclid(sure.cast_signed()) != 0 {
            Alignment::No
        } else if self.align >= wanted {
            Alignment::Yes
        } else if self.packed >= wanted {
            Alignment::Packed
        } else {
            Alignment::Depends
        }
    }

    /// The value of up to eight bytes and what it is.
    pub(crate) fn load(&self, start: usize, bytes: usize) -> (u64, Word) {
        (self.bits(start, bytes), self.word(start, bytes))
    }

    /// Up to eight bytes.
    #[inline(always)]
    pub(crate) fn bits(&self, start: usize, bytes: usize) -> u64 {
        if let (4, Some(&[a, b, c, d])) = (bytes, self.bytes.get(start..start + 4)) {
            return u32::from_le_bytes([a, b, c, d]).into();
        }
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.bytes[start..start + bytes]);
        u64::from_le_bytes(value)
    }

    /// What the bytes are together.
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
        let fickle =
            states.iter().any(|s| [state::ADDRESS, state::FICKLE, state::HALF].contains(s));
        match () {
            () if whole_address => Word::Pointer,
            () if fickle => Word::Fickle,
            () => Word::Unknown,
        }
    }

    /// Writes up to eight bytes.
    pub(crate) fn store(&mut self, start: usize, bytes: usize, value: u64, word: Word) {
        self.bytes[start..start + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        let state = match word {
            Word::Number => state::DEFINED,
            Word::Pointer if bytes == 4 && Pointer::in_window(value).is_none() => state::HALF,
            Word::Pointer => state::ADDRESS,
            Word::Unknown => state::OPAQUE,
            Word::Fickle => state::FICKLE,
            Word::Poison => state::UNDEFINED,
        };
        self.states.fill(start..start + bytes, state);
    }

    /// Makes it addresses of global allocations, from its start on. Nothing is allocated at address zero, which is what is
    /// there where there is none.
    pub(crate) fn point_to(&mut self, targets: &[Option<usize>]) {
        for (position, target) in targets.iter().enumerate() {
            if let Some(number) = *target {
                let address = Pointer { area: Area::Global(number), offset: 0 }.address();
                self.store(8 * position, 8, address, Word::Pointer);
            }
        }
    }

    /// Whether writing these bytes, all in one state, leaves in place what is there.
    pub(crate) fn would_keep(&self, start: usize, bytes: &[u8], state: u8) -> SameValue {
        let end = start + bytes.len();
        let known = |state: &u8| *state == state::DEFINED;
        if !known(&state) || !self.states[start..end].iter().all(known) {
            return SameValue::Undecided;
        }
        if self.bytes[start..end] == *bytes { SameValue::Equal } else { SameValue::Different }
    }

    /// Names a byte for a report.
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

    /// Whether an access of this kind is allowed.
    pub(crate) fn allows(&self, kind: AccessKind) -> bool {
        kind == AccessKind::Read || self.access != Access::In
    }
}
