//! Turns conflicts into findings: classifies unordered accesses as races, harmless, or undecided.
//!
//! Unordered accesses to the same bytes, one of which changes them, are a race in two cases. One of them is weak or
//! volatile (manual §8.7.1 defines the latter, but the schedule decides the result). Or the scope of one excludes the
//! other's thread (§8.7): then updates may get lost. Among the others, commuting read-modify-writes do not race.
//! Otherwise, and where fences might order the two, the values observed at run time decide: that is left open. So is
//! the question if two writes of unknown values write the same.

use crate::address::Area;
use crate::causality;
use crate::doubt::Doubtful;
use crate::finding::{AccessKind, Fault, Finding, Place, Target};
use crate::launch::Launch;
use crate::machine::Machine;
use crate::mbarrier_fault::{BulkTransfer, CopyCompletion};
use crate::memory::Allocation;
use crate::open_pair::{CONDITION_OPEN, Undecided, VALUES_OPEN};
use crate::race::{PassedBarrier, Race, RaceSide};
use crate::report::Report;
use crate::tracker::{ConflictContext, CopyNote, CountedConflict};
use crate::updates::{is_reducing_copy, update};
use ir::{BarrierKind, MbarrierOp, Op, Ordering, Scope, Skips, SyncOp};
use rustc_hash::FxHashMap;
use sync::{Conflict, ConflictSide, Conflicts, MemoryEffect, SameValue, Site, Visibility};

mod between;

pub(crate) use between::Between;

/// The class of a conflict.
enum Judgement {
    Harmless,
    Race,
    /// Both write the same.
    SameValue,
    /// Both add floats: the order affects the last bits.
    FloatOrder,
    Open(&'static str),
}

/// The strength of an access in the memory model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Weak,
    Volatile,
    /// Strong, for threads of this scope.
    Strong(Scope),
}

fn strength(op: Option<&Op>) -> Strength {
    let ordering = match op {
        Some(Op::Load(load)) => load.ordering,
        Some(Op::Store(store)) => store.ordering,
        Some(Op::Atomic(atomic)) => atomic.ordering,
        // Its reads are weak, too, but nothing updates the bytes it reads.
        op if update(op).is_some() => Ordering::Relaxed(Scope::Gpu),
        _ => Ordering::Weak,
    };
    match (ordering, ordering.scope()) {
        (_, None) => Strength::Weak,
        (Ordering::Volatile, _) => Strength::Volatile,
        (_, Some(scope)) => Strength::Strong(scope),
    }
}

/// Returns `true` if the scope of one access excludes the thread of the other's block.
fn outside_scope(machine: &Machine<'_>, conflict: &Conflict, ops: [Option<&Op>; 2]) -> bool {
    let clusters = machine.launch.cluster.is_some() && conflict.blocks.is_some();
    let leaves_out = |op| match strength(op) {
        Strength::Strong(scope) => scope == Scope::Cta || scope == Scope::Cluster && clusters,
        _ => false,
    };
    is_between_blocks(machine, conflict) && ops.into_iter().any(leaves_out)
}

/// Returns `true` if threads of two blocks conflict.
fn is_between_blocks(machine: &Machine<'_>, conflict: &Conflict) -> bool {
    let rank =
        |side: ConflictSide| machine.block_warps().map(|warps| u16::from(side.who.warp) / warps);
    conflict.blocks.is_some() || rank(conflict.earlier) != rank(conflict.later)
}

/// Bytes of a single value of an access; wide copies move several values.
fn element_bytes(op: Option<&Op>) -> Option<u32> {
    match op? {
        Op::Load(load) => Some(load.width.bytes()),
        Op::Store(store) => Some(store.width.bytes()),
        Op::Atomic(atomic) => Some(atomic.scalar.width().bytes()),
        Op::AsyncCopy(copy) => Some(u32::from(copy.bytes)).filter(|&bytes| bytes <= 8),
        _ => None,
    }
}

/// Returns `true` if the updates of two instructions commute between different blocks.
fn commute(machine: &Machine<'_>, a: Site, b: Site) -> bool {
    // Tickets: increments of a counter that does not wrap before the end; with others the run ends with a gap.
    let increments =
        |op: Option<&Op>| matches!(op, Some(Op::Atomic(one)) if one.op == ir::AtomicOp::Inc);
    if machine.tickets.last().is_some() && a == b && increments(machine.op(a)) {
        return true;
    }
    match (update(machine.op(a)), update(machine.op(b))) {
        (Some(a), Some(b)) => a.commutes(b, true) && !a.rounds(),
        _ => false,
    }
}

/// Classifies a conflict by the rules of the module's header.
fn judge(machine: &Machine<'_>, conflict: &Conflict, context: ConflictContext) -> Judgement {
    let ops @ [a, b] = [conflict.earlier, conflict.later].map(|side| machine.op(side.site));
    match conflict.unseen {
        Some(Visibility::Open) => {
            return Judgement::Open(
                "they are ordered, but whether fences of other threads make a write visible to a bulk copy is \
                 not decided",
            );
        }
        Some(Visibility::NeedsFence) if matches!(a, Some(Op::RemoteStore(_))) => {
            return Judgement::Open(
                "they are ordered, but the manual does not say through which proxy `st.async` writes, or \
                whether it needs a fence",
            );
        }
        Some(Visibility::NeedsFence | Visibility::NeedsMapFence | Visibility::Visible) => {
            return Judgement::Race;
        }
        None => {}
    }
    if conflict.non_coherent {
        return Judgement::Race;
    }
    match conflict.same_value {
        Some(SameValue::Equal) => return Judgement::SameValue,
        Some(SameValue::Undecided) => {
            return Judgement::Open(VALUES_OPEN);
        }
        Some(SameValue::Different) | None => {}
    }
    let updates = [a, b].map(update);
    let both_update =
        [conflict.earlier, conflict.later].iter().all(|side| side.kind == MemoryEffect::Update);
    if let ([Some(a), Some(b)], true) = (updates, both_update)
        && a.rounds()
        && a.commutes(b, conflict.blocks.is_some())
        && !outside_scope(machine, conflict, ops)
    {
        return Judgement::FloatOrder;
    }
    if context.fenced {
        return Judgement::Open("fences might order them");
    }
    let reads_source =
        |side: &ConflictSide, op| side.kind != MemoryEffect::Update && is_reducing_copy(op);
    if reads_source(&conflict.earlier, a) || reads_source(&conflict.later, b) {
        return Judgement::Race;
    }
    let (Strength::Strong(one), Strength::Strong(other)) = (strength(a), strength(b)) else {
        return Judgement::Race;
    };
    if outside_scope(machine, conflict, ops) {
        return Judgement::Race;
    }
    if conflict.blocks.is_some() && [one, other].contains(&Scope::Cluster) {
        return Judgement::Open("nothing orders them unless their blocks are in one cluster");
    }
    match updates {
        [Some(a), Some(b)] if a.commutes(b, false) => Judgement::Harmless,
        [Some(_), Some(_)] => {
            Judgement::Open("nothing orders them, and their order may decide the result")
        }
        _ => Judgement::Open("their order is decided at run time"),
    }
}

/// Returns `true` if a conflict within a block becomes a finding or an undecided pair.
pub(crate) fn is_reported(
    machine: &Machine<'_>,
    conflict: &Conflict,
    context: ConflictContext,
) -> bool {
    !matches!(judge(machine, conflict, context), Judgement::Harmless | Judgement::FloatOrder)
}

/// Races reported so far, and undecided conflicts.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// Conflicts within blocks, each kind once.
    conflicts: Conflicts,
    /// For each conflict the finding that contains it.
    findings: Vec<Option<usize>>,
    /// The finding for two instructions, by whether they write the same value and lack only a fence after a read.
    pairs: FxHashMap<((Site, Site), bool, bool), usize>,
    /// The position of two instructions among the undecided pairs of the report.
    open: FxHashMap<(Site, Site), usize>,
}

impl Reported {
    /// Reports the conflicts of the next block.
    pub(crate) fn add_block(
        &mut self,
        report: &mut Report,
        names: &ReportContext<'_, '_>,
        conflicts: &[CountedConflict],
    ) {
        self.conflicts.warps = names.machine.block_warps();
        for CountedConflict { conflict, count, context } in conflicts {
            if self.conflicts.add_times(*conflict, *count) {
                let judgement = judge(names.machine, conflict, *context);
                let finding = self.add(report, names, conflict, *context, judgement);
                self.findings.push(finding);
            }
        }
    }

    /// Reports the conflicts between blocks.
    pub(crate) fn add_between(
        &mut self,
        report: &mut Report,
        names: &ReportContext<'_, '_>,
        conflicts: &[(Area, Conflicts)],
    ) {
        let fenced = causality::may_order_blocks(names.machine);
        for (area, found) in conflicts {
            for (conflict, count) in &found.found {
                let sides = [conflict.earlier, conflict.later];
                let is_weak =
                    |side: ConflictSide| strength(names.machine.op(side.site)) == Strength::Weak;
                let fenced = fenced && sides.into_iter().all(is_weak);
                let context = ConflictContext { fenced, ..ConflictContext::new(*area) };
                let judgement = judge(names.machine, conflict, context);
                let finding = self.add(report, names, conflict, context, judgement);
                if let Some(finding) = finding {
                    report.findings[finding].count += count - 1;
                }
            }
        }
    }

    fn add(
        &mut self,
        report: &mut Report,
        names: &ReportContext<'_, '_>,
        conflict: &Conflict,
        context: ConflictContext,
        judgement: Judgement,
    ) -> Option<usize> {
        let (a, b) = (conflict.earlier.site, conflict.later.site);
        let pair = (a.min(b), a.max(b));
        let conditional = [a, b].iter().any(|site| report.conditional.contains(site))
            || names.may_not_happen(report, conflict);
        use Judgement::{Open, SameValue};
        let judgement = match judgement {
            Judgement::Race | Open(VALUES_OPEN) if conditional => Open(CONDITION_OPEN),
            judgement => judgement,
        };
        let same_value = match judgement {
            Judgement::Harmless => return None,
            Judgement::FloatOrder => {
                names.doubt_order(report, conflict);
                return None;
            }
            Open(reason) => {
                let position = *self.open.entry(pair).or_insert(report.undecided.len());
                if position == report.undecided.len() {
                    let race = names.race(conflict, context, false);
                    let values = report.open_values.get(&(b, conflict.later.who)).cloned();
                    let asks = reason == VALUES_OPEN && conflict.blocks.is_none();
                    let values = values.filter(|_| asks);
                    report.undecided.push(Undecided { race, reason, values });
                }
                return None;
            }
            Judgement::Race => false,
            SameValue => true,
        };
        // A note must not stand for an error.
        let is_fence_after_read =
            conflict.unseen.is_some() && conflict.earlier.kind == MemoryEffect::Read;
        let key = (pair, same_value, is_fence_after_read);
        if let Some(&known) = self.pairs.get(&key) {
            report.findings[known].count += 1;
            return Some(known);
        }
        let race = Race { conditional, ..names.race(conflict, context, same_value) };
        let (place, thread) = (race.sides[1].place, race.sides[1].thread);
        let finding = Finding { fault: Fault::Race(Box::new(race)), place, thread, count: 1 };
        let position = report.add(finding)?;
        self.pairs.insert(key, position);
        Some(position)
    }

    /// Adds the number of occurrences of each conflict to its finding.
    pub(crate) fn count(&self, report: &mut Report) {
        for (finding, (_, count)) in self.findings.iter().zip(&self.conflicts.found) {
            if let Some(finding) = finding {
                report.findings[*finding].count += count - 1;
            }
        }
    }
}

/// Names and places for reports of races.
pub(crate) struct ReportContext<'s, 'p> {
    pub(crate) machine: &'s Machine<'p>,
    pub(crate) shared: &'s [Allocation],
    pub(crate) global: &'s [Allocation],
    /// The block or the cluster.
    pub(crate) number: u64,
}

impl ReportContext<'_, '_> {
    /// Returns `true` if a side is an update that may leave memory alone, and does not change it in this run.
    fn may_not_happen(&self, report: &Report, conflict: &Conflict) -> bool {
        let units = conflict.blocks.unwrap_or([self.number; 2]);
        let sides = [conflict.earlier, conflict.later].into_iter().zip(units);
        { sides }.any(|(side, unit)| {
            let op = self.machine.op(side.site);
            side.kind == MemoryEffect::Update
                && matches!(op, Some(Op::Atomic(atomic)) if atomic.skips != Skips::Never)
                && {
                    let update = (side.site, unit, side.who);
                    let is_certain = report.certain_updates.contains(&update);
                    !is_certain || report.open_updates.contains(&update)
                }
        })
    }

    /// Records a doubt about two threads that add floats in schedule-dependent order.
    fn doubt_order(&self, report: &mut Report, conflict: &Conflict) {
        let [first, second] = conflict.blocks.unwrap_or([self.number; 2]);
        let between = conflict.blocks.is_some();
        let earlier = self.side(conflict.earlier, (first, between), None);
        let later = self.side(conflict.later, (second, between), None);
        if [earlier.place, later.place].iter().any(|place| report.rounding_sums.contains(place)) {
            report.doubt(Doubtful::FloatOrder, later.place, later.thread);
        }
    }

    fn race(&self, conflict: &Conflict, context: ConflictContext, same_value: bool) -> Race {
        let [first, second] = conflict.blocks.unwrap_or([self.number; 2]);
        let ops = [conflict.earlier.site, conflict.later.site].map(|site| self.machine.op(site));
        let outside_scope = outside_scope(self.machine, conflict, ops);
        let ConflictContext { passed: [before, after], ended, copies, .. } = context;
        let transfer = |copy: Option<CopyNote>| {
            let bulk = copy.filter(|copy| !copy.product);
            bulk.map(|copy| Box::new(self.transfer(copy)))
        };
        let product =
            |copy: Option<CopyNote>| copy.filter(|copy| copy.product).map(|one| one.newer);
        let [product, later_product] = copies.map(product);
        let [transfer, later_transfer] = copies.map(transfer);
        let between = conflict.blocks.is_some();
        let earlier = self.side(conflict.earlier, (first, between), before);
        let target = self.target(context.area, conflict.offset);
        let declared = target.element_bytes > 1 || target.space != ir::Space::Shared;
        Race {
            sides: [
                RaceSide { ended, transfer, product, ..earlier },
                RaceSide {
                    transfer: later_transfer,
                    product: later_product,
                    ..self.side(conflict.later, (second, between), after)
                },
            ],
            target,
            element_bytes: match declared {
                true => None,
                false => ops.iter().filter_map(|op| element_bytes(*op)).min(),
            },
            same_value,
            conditional: false,
            unused: false,
            non_coherent: conflict.non_coherent,
            unseen: conflict.unseen.is_some(),
            unseen_map: conflict.unseen == Some(Visibility::NeedsMapFence),
            strong: ops.iter().all(|op| strength(*op) != Strength::Weak)
                && element_bytes(ops[0]) == element_bytes(ops[1])
                && !outside_scope,
            outside_scope,
            in_different_units: between,
            when: None,
        }
    }

    fn side(
        &self,
        side: ConflictSide,
        (block, between): (u64, bool),
        passed: Option<Site>,
    ) -> RaceSide {
        let launch: &Launch = self.machine.launch;
        let op = self.machine.op(side.site);
        let bulk = matches!(op, Some(Op::BulkCopy(_) | Op::TensorCopy(_) | Op::RemoteStore(_)));
        let copies = bulk || matches!(op, Some(Op::AsyncCopy(_) | Op::Wgmma(_)));
        let place: Place = self.machine.site_place(side.site);
        RaceSide {
            thread: launch.thread(block, side.who.warp.into(), side.who.lane.into()),
            place,
            kind: match side.kind {
                MemoryEffect::Read => AccessKind::Read,
                MemoryEffect::Write => AccessKind::Write,
                MemoryEffect::Update => AccessKind::Atomic,
            },
            passed: passed.map(|site| self.passed(site)),
            in_flight: copies && side.time.is_none() && !between,
            bulk,
            product: None,
            transfer: None,
            ended: false,
        }
    }

    fn transfer(&self, copy: CopyNote) -> BulkTransfer {
        let completion = match copy.signal {
            Some((area, offset, phase)) => {
                CopyCompletion::Phase { target: self.target(area, offset), phase }
            }
            None => CopyCompletion::Group { newer: copy.newer },
        };
        BulkTransfer { bytes: copy.bytes, completion }
    }

    fn passed(&self, site: Site) -> PassedBarrier {
        let op = self.machine.op(site);
        let arrive = |op: &Op| match op {
            Op::Sync(SyncOp::Barrier { kind, .. }) => *kind == BarrierKind::Arrive,
            Op::Sync(SyncOp::Mbarrier(mbarrier)) => mbarrier.test().is_none(),
            Op::Sync(SyncOp::ClusterBarrier { waits, .. }) => !waits,
            _ => false,
        };
        let relaxed = |op: &Op| {
            if let Op::Sync(SyncOp::ClusterBarrier { waits: false, releases, .. }) = op {
                return !releases;
            }
            let Op::Sync(SyncOp::Mbarrier(mbarrier)) = op else { return false };
            let ordering = match &mbarrier.op {
                MbarrierOp::Arrive(arrive) => Some(arrive.ordering),
                _ => mbarrier.test().map(|test| test.ordering),
            };
            matches!(ordering, Some(Ordering::Relaxed(_)))
        };
        let (only_arrived, relaxed) = (op.is_some_and(arrive), op.is_some_and(relaxed));
        let mbarrier = matches!(op, Some(Op::Sync(SyncOp::Mbarrier(_))));
        PassedBarrier { place: self.machine.site_place(site), only_arrived, mbarrier, relaxed }
    }

    fn target(&self, area: Area, offset: i64) -> Target {
        let memory = match area {
            Area::Shared(number) => self.shared.get(number),
            Area::Global(number) => self.global.get(number),
            Area::Local(_) | Area::Param(_) => None,
        };
        match memory {
            Some(memory) => memory.target(offset),
            None => Allocation::new("memory", ir::Space::Generic, 0, 0).target(offset),
        }
    }
}
