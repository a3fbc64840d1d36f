//! Collects what a block finds, and then what all blocks find: one finding for each place and kind,
//! with a count.

use crate::address::Area;
use crate::arrival::BarrierUse;
use crate::cluster_fault::ClusterFault;
use crate::coverage::Coverage;
use crate::doubt::{Doubt, Doubtful};
use crate::finding::{BarrierFault, Fault, Finding, Place, Thread};
use crate::mbarrier_fault::MbarrierFaultKind;
use crate::open_pair::Undecided;
use crate::outcome::Syncs;
use crate::pipeline::MbarrierUse;
use crate::placement::Placement;
use crate::racing_reads::{Racing, Suspects};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};
use sync::{LaneId, Site};

/// Different findings beyond this many are only counted: nobody reads them.
const MOST_FINDINGS: usize = 1000;

/// Findings that are one: the place and the kind of fault, at barriers the kind of misuse. (A note must
/// not hide an error at the same instruction.)
type Key = (
    Place,
    Discriminant<Fault>,
    Option<Discriminant<BarrierFault>>,
    Option<Discriminant<MbarrierFaultKind>>,
    Option<(Discriminant<ClusterFault>, bool)>,
    Option<String>,
);

fn key(finding: &Finding) -> Key {
    let (misuse, mbarrier) = match &finding.fault {
        Fault::Barrier(fault) => (Some(discriminant(fault)), None),
        Fault::Mbarrier(fault) => (None, Some(discriminant(&fault.kind))),
        _ => (None, None),
    };
    // Whether an early access matters is decided later, by allocation.
    let allocation = match &finding.fault {
        Fault::BeforeGridWait { target, .. } => Some(target.name.clone()),
        _ => None,
    };
    let cluster = match &finding.fault {
        Fault::Cluster(fault) => {
            let ended = matches!(**fault, ClusterFault::Lifetime { ended: true, .. });
            Some((discriminant(&**fault), ended))
        }
        _ => None,
    };
    (finding.place, discriminant(&finding.fault), misuse, mbarrier, cluster, allocation)
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    known: FxHashMap<Key, usize>,
    /// What the run went past without knowing.
    pub(crate) doubts: Vec<Doubt>,
    doubted: FxHashMap<(Place, Discriminant<Doubtful>), usize>,
    /// Findings that were not kept.
    pub(crate) dropped: u64,
    /// Instructions whose result the manual does not fix to the bit.
    pub(crate) approximate: BTreeSet<Place>,
    /// Accesses that are aligned only if the allocation lies better than it promises.
    pub(crate) alignments: FxHashSet<Placement>,
    /// The sites of those, each with the allocation that was last accessed, so that most are looked up once.
    aligned: Vec<Option<Area>>,
    /// Alignment that dynamic shared memory is taken to have, beyond what is declared; 0 if nothing depends on it.
    pub(crate) shared_alignment: u32,
    /// Set if the shared window is taken to begin at a multiple of 2^24.
    pub(crate) shared_window: bool,
    /// Waits that rely on an unwritten scope being that of the cluster.
    pub(crate) assumed_scopes: BTreeSet<Site>,
    /// Waits for a phase whose parity is neither 0 nor 1.
    pub(crate) assumed_parities: BTreeSet<Site>,
    /// Atomic additions of floats whose sum may be rounded.
    pub(crate) rounding_sums: FxHashSet<Place>,
    /// Whether numbers became unknown because their bits are not fixed.
    pub(crate) unfixed: bool,
    /// Accesses of which it is open whether they race.
    pub(crate) undecided: Vec<Undecided>,
    /// The old and the new value of a store, in words, where it is open whether they are the same: the first pair of each
    /// thread and instruction, up to a limit.
    pub(crate) open_values: FxHashMap<(Site, LaneId), [String; 2]>,
    /// Instructions that were executed under a condition that is not decided.
    pub(crate) conditional: FxHashSet<Site>,
    /// Set if what those wrote are choices of the domain, which may have undefined sides.
    pub(crate) has_choices: bool,
    /// Set if something may be undefined that was written under such a condition.
    pub(crate) maybe_undefined: bool,
    /// Uses of barriers, if asked for.
    pub(crate) barrier_uses: Vec<BarrierUse>,
    pub(crate) mbarrier_uses: Vec<MbarrierUse>,
    /// Places where the kernel prints.
    pub(crate) prints: BTreeSet<Place>,
    /// Where reads conflict with writes, and which they are.
    pub(crate) suspects: Suspects,
    pub(crate) racing: Racing,
    /// How often memory was polled.
    pub(crate) polls: u64,
    /// Instructions executed, counted for each lane.
    pub(crate) lane_instructions: u64,
    /// Of those, barriers of the block and instructions for which the lanes of a warp wait.
    pub(crate) syncs: Syncs,
    /// Instructions that were executed.
    pub(crate) coverage: Coverage,
    /// Instructions of the blocks before.
    pub(crate) before: u64,
    /// What was taken from the budget.
    pub(crate) spent: u64,
    /// What copying and clearing memory cost since the budget was last asked, in instructions.
    pub(crate) charged: u64,
}

impl Report {
    /// Notes that this many bytes were copied or cleared besides what instructions do themselves: a
    /// budget must bound that, too.
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.charged += bytes as u64 / 8;
    }

    /// Tells whether the alignment of an access to an allocation is yet to be noted, and remembers that it was.
    pub(crate) fn is_new_placement(&mut self, site: Site, area: Area) -> bool {
        let position = site as usize;
        if self.aligned.len() <= position {
            self.aligned.resize(position + 1, None);
        }
        self.aligned[position].replace(area) != Some(area)
    }

    /// Records a finding that is unlike all others; its position, if there is room for it.
    pub(crate) fn add(&mut self, finding: Finding) -> Option<usize> {
        if self.findings.len() == MOST_FINDINGS {
            self.dropped += 1;
            return None;
        }
        self.findings.push(finding);
        Some(self.findings.len() - 1)
    }

    /// Records a doubt; a second one of its kind at the same place only counts. There are no more
    /// than places in the program.
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

    /// Records a fault; a second one of its kind at the same place only counts. There are no more
    /// than places in the program.
    pub(crate) fn find(&mut self, fault: Fault, place: Place, thread: Thread) {
        self.add_fault(Finding { fault, place, thread, count: 1 }, usize::MAX);
    }

    fn add_fault(&mut self, finding: Finding, most: usize) {
        let key = key(&finding);
        if let Some(&position) = self.known.get(&key) {
            self.findings[position].count += finding.count;
            return;
        }
        if self.findings.len() >= most {
            self.dropped += finding.count;
            return;
        }
        self.known.insert(key, self.findings.len());
        self.findings.push(finding);
    }

    /// Adds what the next block found.
    pub(crate) fn absorb(&mut self, block: Self) {
        block.findings.into_iter().for_each(|finding| self.add_fault(finding, MOST_FINDINGS));
        block.doubts.into_iter().for_each(|doubt| self.add_doubt(doubt));
        self.approximate.extend(block.approximate);
        self.alignments.extend(block.alignments);
        self.shared_alignment = self.shared_alignment.max(block.shared_alignment);
        self.shared_window |= block.shared_window;
        self.assumed_scopes.extend(block.assumed_scopes);
        self.assumed_parities.extend(block.assumed_parities);
        self.conditional.extend(block.conditional);
        self.has_choices |= block.has_choices;
        self.maybe_undefined |= block.maybe_undefined;
        // Threads are those of the block whose conflicts are looked at next.
        self.open_values = block.open_values;
        self.rounding_sums.extend(block.rounding_sums);
        self.unfixed |= block.unfixed;
        self.barrier_uses.extend(block.barrier_uses);
        self.mbarrier_uses.extend(block.mbarrier_uses);
        self.prints.extend(block.prints);
        self.lane_instructions += block.lane_instructions;
        self.coverage.absorb(&block.coverage);
        self.syncs.block += block.syncs.block;
        self.syncs.warp += block.syncs.warp;
        self.suspects.add(block.suspects);
        self.racing.add(block.racing);
    }
}
