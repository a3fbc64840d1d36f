//! The result of a run.

use crate::arrival::BarrierUse;
use crate::doubt::Doubt;
use crate::finding::{Finding, Gap, Place};
use crate::open_pair::Undecided;
use crate::pipeline::MbarrierUse;
use crate::placement::Placement;
use crate::racing_reads::{Racing, Suspects};
use base::Span;
use ir::{FuncId, VarId};
use std::ops::Range;

/// How often threads synchronised, counted for each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syncs {
    /// Arrivals at barriers of a block.
    pub block: u64,
    /// Instructions that the lanes of a warp execute together: `bar.warp.sync`, shuffles, votes, matrix
    /// instructions.
    pub warp: u64,
}

/// Which bytes of a buffer were given a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// All of so many.
    All(usize),
    /// Not all: for each byte whether it was.
    Each(Vec<bool>),
    /// Of these so many, some only if data say so.
    Depends(usize),
}

impl Written {
    /// Tells whether all bytes of a range were, or may have been; not those behind the end.
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
    /// Where the first is taken.
    pub place: Place,
    /// Set if module variables beside the counter hold something else afterwards: what they hold is in no buffer.
    pub leaves_variables: bool,
    /// The number in the counter afterwards, if it is a module variable.
    pub left: Option<u64>,
}

/// What a run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Faults, in the order in which they were met.
    pub findings: Vec<Finding>,
    /// Faults that were only counted, because there were too many.
    pub dropped_findings: u64,
    /// What the run went past without knowing, in the order in which it was met.
    pub doubts: Vec<Doubt>,
    /// Module variables that were read and hold what the module says only if the host has not
    /// changed them.
    pub initialisers: Vec<VarId>,
    /// Module variables that hold something else afterwards, or may: results that are in no buffer.
    pub changed: Vec<VarId>,
    /// Where the run could not go on, if it did not end; nothing is known about what follows.
    pub gap: Option<Gap>,
    /// Contents of the launch's buffers afterwards; zero where they are undefined or not looked at. None after a run in a
    /// domain, whose [`Results`](crate::Results) have them.
    pub buffers: Vec<Vec<u8>>,
    /// Which bytes of each buffer were given a value.
    pub written: Vec<Written>,
    /// Places whose results the manual does not fix to the bit.
    pub approximate: Vec<Place>,
    /// Accesses that need more alignment than their array declares.
    pub alignments: Vec<Placement>,
    /// Alignment that dynamic shared memory is taken to have, beyond what is declared; 0 if nothing depends on it.
    pub shared_alignment: u32,
    /// How many bytes static variables take before dynamic shared memory, if that is known and there are any.
    pub before_dynamic: Option<u64>,
    /// Set if the shared window is taken to begin at a multiple of 2^24.
    pub shared_window: bool,
    /// Waits for mbarriers that rely on an unwritten scope being that of the cluster.
    pub assumed_scopes: Vec<Place>,
    /// Waits for a phase whose parity is neither 0 nor 1: its lowest bit counts, as on an H200.
    pub assumed_parities: Vec<Place>,
    /// Accesses of which it is open whether they race; only if they were looked for.
    pub undecided: Vec<Undecided>,
    /// Uses of barriers in the first block, in the order of their ends; only if asked for.
    pub barrier_uses: Vec<BarrierUse>,
    /// Mbarriers of the first block and their phases; only if asked for.
    pub mbarrier_uses: Vec<MbarrierUse>,
    /// Whether something was executed under a condition that is not decided, so that what it wrote may
    /// not be written.
    pub conditional: bool,
    /// In a domain that does not choose undefined values, whether something may be undefined because it is written under
    /// such a condition. Where it goes somewhere that matters is among the doubts.
    pub maybe_undefined: bool,
    /// In such a domain, buffers of which something may not have been written.
    pub maybe_unwritten: Vec<usize>,
    /// Whether known numbers became unknown because the manual does not fix their bits: a run in the
    /// domain [`crate::Enclosed`] knows more of them.
    pub unfixed: bool,
    /// Places where the kernel prints.
    pub prints: Vec<Place>,
    /// Instructions executed, counted for each lane.
    pub lane_instructions: u64,
    /// How often threads synchronised.
    pub syncs: Syncs,
    /// Where reads conflict with writes, and which they are.
    pub(crate) suspects: Suspects,
    pub(crate) racing: Racing,
    /// Blocks that ran to their end.
    pub blocks: u64,
    /// The tickets that blocks take, if they do and the run knows of it ([`crate::check_last`]).
    pub ticket: Option<Ticket>,
    /// Instructions that some thread executed, by their place in the text, ascending.
    pub executed: Vec<(FuncId, Span)>,
}

impl Outcome {
    /// Adds what another run of the same launch found beside errors: then this one speaks for both. Both have run to their end.
    pub fn absorb(&mut self, other: Self) {
        // Every field is named, so that none is forgotten. Those that are left out are the same in both runs, or serve those who look into
        // errors and pictures of one run.
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
            assumed_scopes,
            assumed_parities,
            undecided,
            barrier_uses: _,
            mbarrier_uses: _,
            conditional,
            maybe_undefined,
            maybe_unwritten,
            unfixed,
            prints,
            lane_instructions,
            syncs: _,
            suspects: _,
            racing: _,
            blocks: _,
            ticket: _,
            executed,
        } = other;
        add(&mut self.findings, findings, |own, new| own.place == new.place && own.fault.is_note());
        add(&mut self.doubts, doubts, |own, new| {
            (own.place, &own.about) == (new.place, &new.about)
        });
        let places = |one: &Undecided| one.race.sides.each_ref().map(|side| side.place);
        add(&mut self.undecided, undecided, |own, new| {
            (places(own), own.reason) == (places(new), new.reason)
        });
        add(&mut self.initialisers, initialisers, |own, new| own == new);
        add(&mut self.changed, changed, |own, new| own == new);
        add(&mut self.approximate, approximate, |own, new| own == new);
        add(&mut self.alignments, alignments, |own, new| own == new);
        add(&mut self.assumed_scopes, assumed_scopes, |own, new| own == new);
        add(&mut self.assumed_parities, assumed_parities, |own, new| own == new);
        add(&mut self.maybe_unwritten, maybe_unwritten, |own, new| own == new);
        add(&mut self.prints, prints, |own, new| own == new);
        self.executed.extend(executed);
        self.executed.sort_unstable();
        self.executed.dedup();
        self.dropped_findings += dropped_findings;
        self.lane_instructions += lane_instructions;
        self.shared_alignment = self.shared_alignment.max(shared_alignment);
        self.shared_window |= shared_window;
        self.conditional |= conditional;
        self.maybe_undefined |= maybe_undefined;
        self.unfixed |= unfixed;
    }
}

/// Adds the elements of a list that another has not.
fn add<T>(all: &mut Vec<T>, more: Vec<T>, is_same: impl Fn(&T, &T) -> bool) {
    for one in more {
        if !all.iter().any(|own| is_same(own, &one)) {
            all.push(one);
        }
    }
}
