//! Racing reads that nothing depends on: which reads race, and what happens if they may read anything.
//!
//! A race of a read with a write is harmless if what is read reaches no output, address, decision or barrier
//! (design: a note). A conflict is found when the second of the two accesses is executed, and by then the value read
//! may have been used, so it takes more runs of the launch:
//! 1. the ordinary one, which keeps the words (four bytes) at which reads conflict;
//! 2. one that keeps *every* access to those words and compares each pair: [`sync::Shadow`] finds at least one conflict at a
//!    word that has any, but forgets reads of a lane for later ones of the same lane, and here all of them must be
//!    known. Of blocks against each other only the words are known: there every load from them counts;
//! 3. one in which those reads give poison. Poison is followed as ever: where it reaches something that matters,
//!    that is a finding. If there is none but the races themselves, they are notes.
//!
//! Errs towards errors: words are coarser than bytes, blocks are taken together, and where the accesses differ in
//! size, something else than a plain load reads, or there are too many, the races stay what they were.

use crate::address::{Area, Pointer};
use crate::finding::{AccessKind, Fault, Origin, Race};
use crate::interpret::Context;
use crate::lanes::Mask;
use crate::launch::Launch;
use crate::machine::Machine;
use crate::run::{Checks, Limits, Outcome, check_suspecting};
use crate::tags::Tags;
use ir::{AddressBase, Load, Op, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use sync::{Access, Clocks, Kind, Site, Time, Who};

/// Accesses to one word between two barriers of the block beyond this many are not compared.
const MOST_SEEN: usize = 1 << 12;

/// Four bytes of an allocation.
pub(crate) type Word = (Area, i64);

/// A read: the instruction, the word, the thread in its block, and how many times that thread has read the word there
/// before.
type Read = (Site, Word, u16, u32);

/// What a run is to do about racing reads.
#[derive(Clone, Debug, Default)]
pub(crate) enum Suspicion {
    /// Keep where they are.
    #[default]
    Locate,
    /// Find out which they are.
    Observe(Arc<Suspects>),
    /// Let them give poison.
    Distrust(Arc<Distrusted>),
}

impl Suspicion {
    /// Room for what is to be observed.
    pub(crate) fn history(&self) -> Option<History> {
        match self {
            Self::Observe(suspects) => Some(History::new(suspects)),
            Self::Locate | Self::Distrust(_) => None,
        }
    }
}

/// Where reads conflict with writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suspects {
    /// In a block.
    pub(crate) words: FxHashSet<Word>,
    /// Between blocks.
    pub(crate) between: FxHashSet<Word>,
    /// There are more.
    pub(crate) incomplete: bool,
}

impl Suspects {
    pub(crate) fn add(&mut self, block: Self) {
        self.words.extend(block.words);
        self.between.extend(block.between);
        self.incomplete |= block.incomplete;
    }
}

/// Reads that race, as the second run finds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Racing {
    reads: FxHashSet<Read>,
    /// Instructions whose reads race, or may.
    sites: FxHashSet<Site>,
    /// Words that blocks conflict at: sizes of accesses, and the block that writes, if it is one alone.
    extents: FxHashMap<Word, Extent>,
    writers: FxHashMap<Word, Option<Block>>,
    /// Something cannot be followed.
    refused: bool,
}

impl Racing {
    pub(crate) fn add(&mut self, block: Self) {
        self.reads.extend(block.reads);
        self.sites.extend(block.sites);
        // In any order: that two differ does not depend on which comes first.
        block.extents.into_iter().for_each(|(word, extent)| self.add_extent(word, extent));
        block.writers.into_iter().for_each(|(word, writer)| self.add_writer(word, writer));
        self.refused |= block.refused;
    }

    fn add_extent(&mut self, word: Word, extent: Extent) {
        self.refused |= *self.extents.entry(word).or_insert(extent) != extent;
    }

    fn add_writer(&mut self, word: Word, writer: Option<Block>) {
        let known = self.writers.entry(word).or_insert(writer);
        *known = known.filter(|known| Some(*known) == writer);
    }

    /// Refuses if anything but an ordinary load reads.
    pub(crate) fn check_sites(&mut self, machine: &Machine<'_>) {
        let is_load =
            |site: &Site| matches!(machine.op(*site), Some(Op::Load(load)) if !load.non_coherent);
        self.refused |= !self.sites.iter().all(is_load);
    }
}

/// Reads that give poison.
#[derive(Debug, Default)]
pub(crate) struct Distrusted {
    reads: FxHashSet<Read>,
    sites: FxHashSet<Site>,
    /// All reads of these words, but for those of the block that alone writes there.
    between: FxHashMap<Word, Option<Block>>,
}

/// The position of a block.
type Block = [u32; 3];

/// Bytes of a value, and how far from a multiple of them.
type Extent = (u32, u32);

/// An access of one lane.
#[derive(Clone, Copy, Debug)]
struct Seen {
    who: Who,
    time: Time,
    epoch: u32,
    kind: Kind,
    /// Which bytes of the word, one bit each.
    bytes: u8,
    extent: Extent,
    read: Option<Read>,
}

/// Every access of a block to the words in question.
#[derive(Debug, Default)]
pub(crate) struct History {
    suspects: Arc<Suspects>,
    seen: FxHashMap<Word, Vec<Seen>>,
    counts: Counts,
    block: Block,
    pub(crate) racing: Racing,
}

/// How often each thread has read each word at each instruction.
#[derive(Debug, Default)]
pub(crate) struct Counts(FxHashMap<(Site, Word, u16), u32>);

impl Counts {
    fn next(&mut self, site: Site, word: Word, thread: u16) -> Read {
        let count = self.0.entry((site, word, thread)).or_default();
        *count += 1;
        (site, word, thread, *count - 1)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The words that bytes are in.
fn words(area: Area, offset: i64, bytes: u32) -> impl Iterator<Item = Word> {
    let last = offset + i64::from(bytes) - 1;
    ((offset >> 2)..=(last >> 2)).map(move |word| (area, word))
}

/// Which bytes of a word an access has.
fn part(word: i64, offset: i64, bytes: u32) -> u8 {
    let has = |byte: &i64| (offset..offset + i64::from(bytes)).contains(&(word * 4 + byte));
    (0..4).filter(has).fold(0, |all, byte| all | 1 << byte)
}

impl History {
    pub(crate) fn new(suspects: &Arc<Suspects>) -> Self {
        Self { suspects: Arc::clone(suspects), ..Self::default() }
    }

    /// Starts a block; what was found stays until it is taken.
    pub(crate) fn restart(&mut self, block: Block) {
        self.block = block;
        self.seen.clear();
        self.counts.clear();
    }

    /// An access of the block.
    pub(crate) fn access(
        &mut self,
        clocks: &Clocks,
        access: &Access,
        (area, offset, bytes): (Area, i64, u32),
    ) {
        let suspects = Arc::clone(&self.suspects);
        for word in words(area, offset, bytes) {
            let between = suspects.between.contains(&word);
            if between || suspects.words.contains(&word) {
                self.racing.refused |= access.copy.is_some() || access.non_coherent;
                let extent = (access.element, offset as u32 & (access.element.max(1) - 1));
                if between {
                    self.racing.add_extent(word, extent);
                    match access.kind {
                        Kind::Read => {
                            self.racing.sites.insert(access.site);
                        }
                        Kind::Write | Kind::Update => {
                            self.racing.add_writer(word, Some(self.block));
                        }
                    }
                }
                let now = Seen {
                    who: Who { warp: access.warp as u8, lane: 0 },
                    time: clocks.now(access.warp),
                    epoch: clocks.epoch(),
                    kind: access.kind,
                    bytes: part(word.1, offset, bytes),
                    extent,
                    read: None,
                };
                self.compare(clocks, access, word, now);
            }
        }
    }

    fn compare(&mut self, clocks: &Clocks, access: &Access, word: Word, now: Seen) {
        let Self { seen, counts, racing, .. } = self;
        let seen = seen.entry(word).or_default();
        if !clocks.any_exited() {
            seen.retain(|earlier| earlier.epoch == now.epoch);
        }
        for lane in access.lanes.iter() {
            let who = Who { lane: lane as u8, ..now.who };
            let thread = (access.warp * crate::lanes::WARP + lane) as u16;
            let read = (now.kind == Kind::Read).then(|| counts.next(access.site, word, thread));
            let now = Seen { who, read, ..now };
            for earlier in seen.iter() {
                let apart = earlier.bytes & now.bytes == 0;
                if apart || earlier.read.is_some() == read.is_some() {
                    continue;
                }
                if !clocks.ordered(earlier.who, earlier.time, who) {
                    racing.refused |= earlier.extent != now.extent;
                    if let Some(read) = earlier.read.or(read) {
                        racing.sites.insert(read.0);
                        racing.reads.insert(read);
                    }
                }
            }
            if seen.len() == MOST_SEEN {
                racing.refused = true;
                return;
            }
            seen.push(now);
        }
    }
}

/// For each destination of a load, the lanes in which it reads what nobody knows. To be asked once for each load
/// that is executed, before it is.
pub(crate) fn distrusted(context: &mut Context<'_, '_>, load: &Load) -> Vec<Mask> {
    let Suspicion::Distrust(distrusted) = &context.machine.suspicion else { return Vec::new() };
    let by_site = distrusted.sites.contains(&context.site);
    if !by_site && distrusted.between.is_empty() {
        return Vec::new();
    }
    let mut masks = vec![Mask::NONE; load.dsts.len()];
    for lane in context.lanes.iter() {
        let Some(Pointer { area, offset }) = pointer(context, load, lane) else { continue };
        let element = load.width.bytes();
        let thread = (context.warp.number * crate::lanes::WARP + lane) as u16;
        let all = words(area, offset, element * load.dsts.len() as u32);
        let (counts, block) = (&mut context.tracker.counts, context.block);
        let is_distrusted = |word: &Word| {
            let read = counts.next(context.site, *word, thread);
            let strange = |writer: &Option<Block>| *writer != Some(block);
            distrusted.reads.contains(&read) || distrusted.between.get(word).is_some_and(strange)
        };
        let racing: Vec<Word> = all.filter(is_distrusted).collect();
        for (position, mask) in masks.iter_mut().enumerate() {
            let start = offset + position as i64 * i64::from(element);
            if words(area, start, element).any(|word| racing.contains(&word)) {
                *mask = mask.or(Mask::one(lane));
            }
        }
    }
    masks
}

/// What a load has read there is any value.
pub(crate) fn poison(context: &mut Context<'_, '_>, load: &Load, lanes: &[Mask]) {
    for (dst, &lanes) in load.dsts.iter().zip(lanes) {
        if let (Some(dst), false) = (*dst, lanes.is_empty()) {
            let tags = Tags::poison(lanes, Origin::RacingRead(context.place));
            context.registers.mark(dst, tags, lanes);
        }
    }
}

/// Where a lane loads from, if it is known.
fn pointer(context: &mut Context<'_, '_>, load: &Load, lane: usize) -> Option<Pointer> {
    match load.address.base {
        AddressBase::Absolute => None,
        AddressBase::Variable(variable) => {
            let area = *context.machine.areas.get(&variable)?;
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

/// Whether a race may be harmless because nobody uses what is read.
fn is_of_a_read(race: &Race) -> bool {
    let reads = race.sides.iter().filter(|side| side.kind == AccessKind::Read).count();
    reads == 1 && !race.non_coherent && race.sides.iter().all(|side| !side.in_flight)
}

/// Whether a run has come to its end, and all that is wrong is such races.
fn has_only_racing_reads(outcome: &Outcome) -> bool {
    let errors = || outcome.findings.iter().filter(|finding| !finding.fault.is_note());
    let of_reads = |fault: &Fault| matches!(fault, Fault::Race(race) if is_of_a_read(race));
    outcome.gap.is_none()
        && outcome.undecided.is_empty()
        && outcome.dropped_findings == 0
        && !outcome.conditional
        && errors().next().is_some()
        && errors().all(|finding| of_reads(&finding.fault))
}

/// Finds out whether anything depends on the reads that race. If nothing does, the result is that of a run in which they
/// may read anything, and the races are notes; otherwise it is `first`.
#[must_use]
pub fn follow_racing_reads(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
    first: Outcome,
) -> Outcome {
    if !has_only_racing_reads(&first) || first.suspects.incomplete {
        return first;
    }
    let suspects = Arc::new(first.suspects.clone());
    let observe = Suspicion::Observe(Arc::clone(&suspects));
    let observed = check_suspecting(program, launch, limits, checks, observe);
    let Racing { reads, sites, writers: between, refused, .. } = observed.racing;
    if refused || observed.gap.is_some() {
        return first;
    }
    let distrust = Suspicion::Distrust(Arc::new(Distrusted { reads, sites, between }));
    let mut last = check_suspecting(program, launch, limits, checks, distrust);
    if !has_only_racing_reads(&last) {
        return first;
    }
    for finding in &mut last.findings {
        if let Fault::Race(race) = &mut finding.fault
            && !race.same_value
        {
            race.unused = true;
        }
    }
    last
}
