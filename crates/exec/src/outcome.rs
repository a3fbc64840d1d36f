//! The result of a run ([`Outcome`]): faults, doubts, open pairs, the place where it stopped, and counts.

use crate::arrival::BarrierUse;
use crate::doubt::Doubt;
use crate::finding::{Finding, Gap, Place};
use crate::open_pair::Undecided;
use crate::pipeline::MbarrierUse;
use crate::placement::Placement;
use crate::racing_reads::{ConflictWords, Racing};
use base::Span;
use ir::{FuncId, VarId};
use std::ops::Range;

/// Numbers of synchronisations, counted for each thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syncs {
    /// Arrivals at barriers of a block.
    pub block: u64,
    /// Instructions that the lanes of a warp execute together: `bar.warp.sync`, shuffles, votes, matrix
    /// instructions.
    pub warp: u64,
}

/// The bytes of a buffer that were given a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenBytes {
    /// All bytes; their number.
    All(usize),
    /// Not all: `true` for each written byte.
    Each(Vec<bool>),
    /// Some bytes, depending on data; the size of the buffer.
    Depends(usize),
}

impl WrittenBytes {
    /// Returns `true` if all bytes of a range were written, or may have been; bytes after the end were not.
    #[must_use]
    pub fn contains(&self, range: Range<usize>) -> bool {
        match self {
            Self::All(size) | Self::Depends(size) => range.end <= *size,
            Self::Each(bytes) => {
                bytes.get(range).is_some_and(|bytes| bytes.iter().all(|written| *written))
            }
        }
    }
}

/// Tickets that blocks take from a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The place of the first.
    pub place: Place,
    /// Set if module variables other than the counter change: their contents are in no buffer.
    pub leaves_variables: bool,
    /// The final value of the counter, if it is a module variable.
    pub left: Option<u64>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Faults, in order of discovery.
    pub findings: Vec<Finding>,
    /// The number of faults beyond the limit.
    pub dropped_findings: u64,
    /// Doubts, in order of discovery.
    pub doubts: Vec<Doubt>,
    /// Module variables that were read. They hold the module's initial contents only if the host has not
    /// changed them.
    pub initialisers: Vec<VarId>,
    /// Module variables that change, or may: results that are in no buffer.
    pub changed: Vec<VarId>,
    /// The gap that ended the run, if it did not complete; nothing is known after it.
    pub gap: Option<Gap>,
    /// Final contents of the launch's buffers; zero where they are undefined or not inspected. Empty after a
    /// run with a domain, whose [`Results`](crate::Results) have them.
    pub buffers: Vec<Vec<u8>>,
    /// The bytes of each buffer that were given a value.
    pub written: Vec<WrittenBytes>,
    /// Places with results that the manual does not fix to the bit.
    pub approximate: Vec<Place>,
    /// Accesses that need more alignment than their array declares.
    pub alignments: Vec<Placement>,
    /// Assumed alignment of dynamic shared memory beyond the declared one; 0 if nothing depends on it.
    pub shared_alignment: u32,
    /// Bytes of static variables before dynamic shared memory, if known and nonzero.
    pub before_dynamic: Option<u64>,
    /// Set if the shared window is assumed to begin at a multiple of 2^24.
    pub shared_window: bool,
    /// Set if the kernel acquires a tensor map at address zero, which is taken to do nothing.
    pub acquires_null_map: bool,
    /// Waits for mbarriers that rely on a missing scope being that of the cluster.
    pub assumed_scopes: Vec<Place>,
    /// Waits for a phase with a parity other than 0 and 1: its lowest bit counts, as on an H200.
    pub assumed_parities: Vec<Place>,
    /// Undecided pairs of accesses, if races were checked.
    pub undecided: Vec<Undecided>,
    /// Uses of barriers in the first block, in the order of their ends; only on request.
    pub barrier_uses: Vec<BarrierUse>,
    /// Mbarriers of the first block with their phases; only on request.
    pub mbarrier_uses: Vec<MbarrierUse>,
    /// Set if an instruction with an undecided path condition was executed, so that its writes may not
    /// happen.
    pub conditional: bool,
    /// With a domain that does not select undefined values: set if a value may be undefined because it is written
    /// under an undecided path condition. Uses that matter are among the doubts.
    pub maybe_undefined: bool,
    /// With such a domain, buffers that may be partly unwritten.
    pub maybe_unwritten: Vec<usize>,
    /// Set if known numbers became unknown because the manual does not fix their bits: a run in the domain
    /// [`crate::Enclosed`] knows more of them.
    pub unfixed: bool,
    /// Set if a value from an access out of bounds decided what happened next.
    pub follows_error: bool,
    /// Places where the kernel prints.
    pub prints: Vec<Place>,
    /// Instructions executed, counted for each lane.
    pub lane_instructions: u64,
    /// Numbers of synchronisations.
    pub syncs: Syncs,
    /// Reads that conflict with writes.
    pub(crate) conflict_words: ConflictWords,
    pub(crate) racing: Racing,
    /// Blocks that ran to their end.
    pub blocks: u64,
    /// The tickets that blocks take, if they do and the run supports it ([`crate::check_last`]).
    pub ticket: Option<Ticket>,
    /// Instructions that some thread executed, by their place in the text, ascending.
    pub executed: Vec<(FuncId, Span)>,
}

impl Outcome {
    /// Adds the results of another run of the same launch, apart from errors, so that this outcome covers
    /// both. Both have completed.
    pub fn absorb(&mut self, other: Self) {
        // Every field is named, so that none is forgotten. The ignored ones are the same in both runs, or
        // describe errors and pictures of a single run.
        let Self {
            findings,
            dropped_findings,
            doubts,
            initialisers,
            changed,
            gap: _,
            buffers: _,
            written: _,
            approximate,
            alignments,
            shared_alignment,
            before_dynamic: _,
            shared_window,
            acquires_null_map,
            assumed_scopes,
            assumed_parities,
            undecided,
            barrier_uses: _,
            mbarrier_uses: _,
            conditional,
            maybe_undefined,
            maybe_unwritten,
            unfixed,
            follows_error,
            prints,
            lane_instructions,
            syncs: _,
            conflict_words: _,
            racing: _,
            blocks: _,
            ticket: _,
            executed,
        } = other;
        add(&mut self.findings, findings, |old, new| old.place == new.place && old.fault.is_note());
        add(&mut self.doubts, doubts, |old, new| {
            (old.place, &old.about) == (new.place, &new.about)
        });
        let places = |one: &Undecided| one.race.sides.each_ref().map(|side| side.place);
        add(&mut self.undecided, undecided, |old, new| {
            (places(old), old.reason) == (places(new), new.reason)
        });
        add(&mut self.initialisers, initialisers, |old, new| old == new);
        add(&mut self.changed, changed, |old, new| old == new);
        add(&mut self.approximate, approximate, |old, new| old == new);
        add(&mut self.alignments, alignments, |old, new| old == new);
        add(&mut self.assumed_scopes, assumed_scopes, |old, new| old == new);
        add(&mut self.assumed_parities, assumed_parities, |old, new| old == new);
        add(&mut self.maybe_unwritten, maybe_unwritten, |old, new| old == new);
        add(&mut self.prints, prints, |old, new| old == new);
        self.executed.extend(executed);
        self.executed.sort_unstable();
        self.executed.dedup();
        self.dropped_findings += dropped_findings;
        self.lane_instructions += lane_instructions;
        self.shared_alignment = self.shared_alignment.max(shared_alignment);
        self.shared_window |= shared_window;
        self.acquires_null_map |= acquires_null_map;
        self.conditional |= conditional;
        self.maybe_undefined |= maybe_undefined;
        self.unfixed |= unfixed;
        self.follows_error |= follows_error;
    }
}

/// Adds the elements of a list that are not yet present.
fn add<T>(all: &mut Vec<T>, more: Vec<T>, is_same: impl Fn(&T, &T) -> bool) {
    for one in more {
        if !all.iter().any(|old| is_same(old, &one)) {
            all.push(one);
        }
    }
}
