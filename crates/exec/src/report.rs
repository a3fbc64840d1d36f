//! Collects the findings of a block, and then of all blocks: one finding for each place and kind, with a
//! count.

use crate::address::Area;
use crate::arrival::BarrierUse;
use crate::cluster_fault::ClusterFault;
use crate::coverage::Coverage;
use crate::doubt::{Doubt, Doubtful};
use crate::finding::{AccessKind, BarrierFault, Fault, Finding, Place, Sink, Thread};
use crate::mbarrier_fault::MbarrierFaultKind;
use crate::open_pair::Undecided;
use crate::outcome::Syncs;
use crate::pipeline::MbarrierUse;
use crate::placement::{AlignmentAssumption, Placement};
use crate::racing_reads::{ConflictWords, Racing};
use crate::tensor_fault::TensorFault;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};
use sync::{LaneId, Site};

/// The largest number of findings of a kind that are kept; further ones are only counted. Verdicts depend only on
/// the kinds that occur, so a finding that is not kept proves nothing.
const MAX_OF_A_KIND: usize = 1000;

/// The key of combined findings.
type Key = (Place, Kind);

/// The properties that findings at one place must share to be combined. A note must not hide an error, nor an error
/// one with other consequences: a read out of bounds a write, an undefined output an undefined address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    fault: Discriminant<Fault>,
    is_note: bool,
    detail: Option<Detail>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Detail {
    Barrier(Discriminant<BarrierFault>),
    Mbarrier(Discriminant<MbarrierFaultKind>),
    Cluster(Discriminant<ClusterFault>, bool),
    Tensor(Discriminant<TensorFault>),
    Access(Discriminant<AccessKind>),
    Use(Discriminant<Sink>),
    /// The importance of an early access is decided later, by allocation.
    Allocation(String),
}

impl Kind {
    fn of(fault: &Fault) -> Self {
        let detail = match fault {
            Fault::Barrier(fault) => Some(Detail::Barrier(discriminant(fault))),
            Fault::Mbarrier(fault) => Some(Detail::Mbarrier(discriminant(&fault.kind))),
            Fault::Cluster(fault) => {
                let has_ended = matches!(**fault, ClusterFault::Lifetime { ended: true, .. });
                Some(Detail::Cluster(discriminant(&**fault), has_ended))
            }
            Fault::Tensor(fault) => Some(Detail::Tensor(discriminant(&**fault))),
            Fault::OutOfBounds { kind, .. } | Fault::WildAddress { kind, .. } => {
                Some(Detail::Access(discriminant(kind)))
            }
            Fault::Undefined { reaches, .. } => Some(Detail::Use(discriminant(reaches))),
            Fault::BeforeGridWait { target, .. } => Some(Detail::Allocation(target.name.clone())),
            _ => None,
        };
        Self { fault: discriminant(fault), is_note: fault.is_note(), detail }
    }
}

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    known: FxHashMap<Key, usize>,
    /// The number of findings of each kind.
    of_kind: FxHashMap<Kind, usize>,
    /// Doubts of the run.
    pub(crate) doubts: Vec<Doubt>,
    doubted: FxHashMap<(Place, Discriminant<Doubtful>), usize>,
    /// The number of findings not kept.
    pub(crate) dropped: u64,
    /// Instructions with results that the manual does not fix to the bit.
    pub(crate) approximate: BTreeSet<Place>,
    /// Accesses that are aligned only if the allocation is placed better than it declares.
    pub(crate) alignments: FxHashSet<Placement>,
    /// For each instruction with such an access, the last recorded allocation and assumption: the usual instruction
    /// accesses one allocation, and is looked up in `alignments` once.
    aligned: Vec<Option<(Area, AlignmentAssumption)>>,
    /// Assumed alignment of dynamic shared memory beyond the declared one; 0 if nothing depends on it.
    pub(crate) shared_alignment: u32,
    /// Set if the shared window is assumed to begin at a multiple of 2^24.
    pub(crate) shared_window: bool,
    /// Set if the kernel acquires a tensor map at address zero.
    pub(crate) acquires_null_map: bool,
    /// Waits that rely on a missing scope being that of the cluster.
    pub(crate) assumed_scopes: BTreeSet<Site>,
    /// Waits for a phase with a parity other than 0 and 1.
    pub(crate) assumed_parities: BTreeSet<Site>,
    /// Atomic additions of floats with possibly rounded sums.
    pub(crate) rounding_sums: FxHashSet<Place>,
    /// Set if numbers became unknown because their bits are not fixed.
    pub(crate) unfixed: bool,
    /// Set if a value from an access out of bounds decides what happens next.
    pub(crate) follows_error: bool,
    /// Undecided pairs of accesses.
    pub(crate) undecided: Vec<Undecided>,
    /// The described old and new value of a store, if their equality is open: the first pair of each thread
    /// and instruction, up to a limit.
    pub(crate) open_values: FxHashMap<(Site, LaneId), [String; 2]>,
    /// Instructions executed with an undecided path condition.
    pub(crate) conditional: FxHashSet<Site>,
    /// Set if results of such instructions are choices of the domain, which may have undefined sides.
    pub(crate) has_choices: bool,
    /// Set if a value written under such a condition may be undefined.
    pub(crate) maybe_undefined: bool,
    /// Updates that change memory in this run although they may leave it alone ([`ir::Atomic::skips`]): the
    /// instruction, the block or cluster, and the thread.
    pub(crate) certain_updates: FxHashSet<(Site, u64, LaneId)>,
    /// Likewise, updates that change nothing in this run and may write in another schedule. One that is in both lists
    /// counts as open: the lists have neither addresses nor times.
    pub(crate) open_updates: FxHashSet<(Site, u64, LaneId)>,
    /// Uses of barriers, on request.
    pub(crate) barrier_uses: Vec<BarrierUse>,
    pub(crate) mbarrier_uses: Vec<MbarrierUse>,
    /// Places where the kernel prints.
    pub(crate) prints: BTreeSet<Place>,
    /// Reads that conflict with writes.
    pub(crate) conflict_words: ConflictWords,
    pub(crate) racing: Racing,
    /// The number of polling reads.
    pub(crate) polls: u64,
    /// Instructions executed, counted for each lane.
    pub(crate) lane_instructions: u64,
    /// The CTA barriers among them, and instructions that the lanes of a warp execute together.
    pub(crate) syncs: Syncs,
    /// Executed instructions.
    pub(crate) coverage: Coverage,
    /// Instructions of earlier blocks.
    pub(crate) before: u64,
    /// The amount taken from the budget.
    pub(crate) spent: u64,
    /// The cost of copying and clearing memory since the last budget check, in instructions.
    pub(crate) charged: u64,
}

impl Report {
    /// Charges for bytes copied or cleared beyond the work of instructions: a budget must bound that, too.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.charged += bytes as u64 / 8;
    }

    /// Records the assumption that settles the alignment of an access to an allocation. Returns `true` if it is not the
    /// last one recorded for this instruction.
    pub(crate) fn is_new_placement(
        &mut self,
        site: Site,
        settled: (Area, AlignmentAssumption),
    ) -> bool {
        let position = site as usize;
        if self.aligned.len() <= position {
            self.aligned.resize(position + 1, None);
        }
        self.aligned[position].replace(settled) != Some(settled)
    }

    /// Records a finding that is not combined with others. Returns its position, unless there are too many of its
    /// kind.
    pub(crate) fn add(&mut self, finding: Finding) -> Option<usize> {
        if !self.has_room(Kind::of(&finding.fault)) {
            self.dropped += 1;
            return None;
        }
        self.findings.push(finding);
        Some(self.findings.len() - 1)
    }

    /// Counts a finding of a kind, unless there are enough.
    fn has_room(&mut self, kind: Kind) -> bool {
        let count = self.of_kind.entry(kind).or_default();
        let has_room = *count < MAX_OF_A_KIND;
        *count += usize::from(has_room);
        has_room
    }

    /// Records a doubt; repeated ones of its kind at the same place are only counted. There are at most as
    /// many as places in the program.
    pub(crate) fn doubt(&mut self, about: Doubtful, place: Place, thread: Thread) {
        self.add_doubt(Doubt { about, place, thread, count: 1 });
    }

    fn add_doubt(&mut self, doubt: Doubt) {
        let next = self.doubts.len();
        let key = (doubt.place, discriminant(&doubt.about));
        let position = *self.doubted.entry(key).or_insert(next);
        match self.doubts.get_mut(position) {
            Some(known) => known.count += doubt.count,
            None => self.doubts.push(doubt),
        }
    }

    /// Records a fault; repeated ones of its kind at the same place are only counted. There are at most as
    /// many as places in the program.
    pub(crate) fn record_fault(&mut self, fault: Fault, place: Place, thread: Thread) {
        self.add_fault(Finding { fault, place, thread, count: 1 });
    }

    fn add_fault(&mut self, finding: Finding) {
        let key = (finding.place, Kind::of(&finding.fault));
        if let Some(&position) = self.known.get(&key) {
            self.findings[position].count += finding.count;
            return;
        }
        if !self.has_room(key.1.clone()) {
            self.dropped += finding.count;
            return;
        }
        self.known.insert(key, self.findings.len());
        self.findings.push(finding);
    }

    /// Adds the findings of the next block.
    pub(crate) fn absorb(&mut self, block: Self) {
        block.findings.into_iter().for_each(|finding| self.add_fault(finding));
        self.dropped += block.dropped;
        block.doubts.into_iter().for_each(|doubt| self.add_doubt(doubt));
        self.approximate.extend(block.approximate);
        self.alignments.extend(block.alignments);
        self.shared_alignment = self.shared_alignment.max(block.shared_alignment);
        self.shared_window |= block.shared_window;
        self.acquires_null_map |= block.acquires_null_map;
        self.assumed_scopes.extend(block.assumed_scopes);
        self.assumed_parities.extend(block.assumed_parities);
        self.conditional.extend(block.conditional);
        self.certain_updates.extend(block.certain_updates);
        self.open_updates.extend(block.open_updates);
        self.has_choices |= block.has_choices;
        self.maybe_undefined |= block.maybe_undefined;
        // The threads belong to the block whose conflicts are classified next.
        self.open_values = block.open_values;
        self.rounding_sums.extend(block.rounding_sums);
        self.unfixed |= block.unfixed;
        self.follows_error |= block.follows_error;
        self.barrier_uses.extend(block.barrier_uses);
        self.mbarrier_uses.extend(block.mbarrier_uses);
        self.prints.extend(block.prints);
        self.lane_instructions += block.lane_instructions;
        self.coverage.absorb(&block.coverage);
        self.syncs.block += block.syncs.block;
        self.syncs.warp += block.syncs.warp;
        self.conflict_words.add(block.conflict_words);
        self.racing.add(block.racing);
    }
}
