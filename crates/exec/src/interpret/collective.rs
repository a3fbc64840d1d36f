//! Collectives of a warp (manual §9.7.9.6, §9.7.13): shuffles, votes and similar, and arrivals at barriers.
//!
//! A collective executes when every lane its mask names, except exited ones, has come to it with the same
//! mask. The lanes may come to different instructions with the same qualifiers. Values from lanes outside the
//! mask are poison. A lane outside its own mask is a finding. Lanes that never come make the others wait
//! forever, which is found at the end.

use crate::arrival::{Arrival, Votes};
use crate::context::{Context, Flow};
use crate::finding::{BarrierFault, Fault, Gap, Origin, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::machine::Machine;
use crate::tags::Tags;
use crate::warp::Warp;
use ir::{BarrierKind, MatchMode, Operand, ReduxOp, Reg, ShuffleMode, SyncOp, VoteMode, Width};
use sync::SyncEvent;

/// Reads a lane mask, which must be a number.
fn masks(context: &mut Context<'_, '_>, mask: Operand) -> Result<Lanes, Gap> {
    let (values, tags) = context.read(mask, Width::B32);
    if context.require_numbers(tags, Sink::Synchronisation)? != context.lanes {
        return Err(context.gap("a lane mask is undefined"));
    }
    Ok(values)
}

/// Returns the continuation of a collective: complete if all named lanes are at this instruction, otherwise a
/// wait.
pub(super) fn complete(context: &mut Context<'_, '_>, mask: Operand) -> Result<Flow, Gap> {
    let values = masks(context, mask)?;
    let alive = context.warp.alive();
    let mut ready = Mask::NONE;
    for lane in context.lanes.iter() {
        let named = Mask(values[lane] as u32).and(alive);
        let here = context.lanes.iter().filter(|&other| values[other] == values[lane]);
        let here = Mask(here.fold(0, |mask, other| mask | 1 << other));
        if named.without(here).is_empty() {
            ready = ready.or(Mask::one(lane));
        }
    }
    let Some(first) = context.lanes.without(ready).lowest() else { return Ok(Flow::Next) };
    if !ready.is_empty() {
        return Ok(Flow::Divide(ready));
    }
    let same = context.lanes.iter().filter(|&lane| values[lane] == values[first]);
    let same = Mask(same.fold(0, |mask, lane| mask | 1 << lane));
    Ok(Flow::Collective(Mask(values[first] as u32), same))
}

/// Checks that every lane is in its own mask.
fn check_membership(context: &mut Context<'_, '_>, members: &Lanes) {
    let absent = context.lanes.iter().filter(|&lane| members[lane] >> lane & 1 == 0);
    let absent = Mask(absent.fold(0, |mask, lane| mask | 1 << lane));
    if let Some(lane) = absent.lowest() {
        context.record_fault(Fault::NotInMask { mask: members[lane] as u32 }, absent);
    }
}

/// Adds a note if a mask names lanes that have exited; the collective completes without them.
fn report_exited(context: &mut Context<'_, '_>, members: &Lanes) {
    let exited = context.warp.exited;
    if exited == Mask::NONE {
        return;
    }
    let without_them = |&lane: &usize| !exited.and(Mask(members[lane] as u32)).is_empty();
    if let Some(lane) = context.lanes.iter().find(without_them) {
        let (mask, lanes) = (Mask(members[lane] as u32), context.lanes);
        // The lanes learn of the exits: exit comes before the collective in waits-for.
        let all = lanes.or(exited.and(mask));
        context.tracker.apply(context.warp.number, all, SyncEvent::Wait);
        context.record_fault(lanes_exited(context.machine, context.warp, mask), lanes);
    }
}

/// The note for a collective that completes without exited lanes.
pub(crate) fn lanes_exited(machine: &Machine<'_>, warp: &Warp, mask: Mask) -> Fault {
    let exited = warp.exits.iter().map(|&(lanes, at)| (lanes.and(mask), machine.place(at)));
    let exited = exited.filter(|(lanes, _)| !lanes.is_empty());
    let exited = exited.map(|(lanes, place)| (lanes.0, place));
    Fault::LanesExited { mask: mask.0, exited: exited.collect() }
}

/// Executes `bar.warp.sync` for the lanes with the first lane's mask; the others come later.
pub(super) fn warp_barrier(context: &mut Context<'_, '_>, mask: Operand) -> Result<Flow, Gap> {
    let values = masks(context, mask)?;
    check_membership(context, &values);
    let Some(first) = context.lanes.lowest() else { return Ok(Flow::Next) };
    let same = context.lanes.iter().filter(|&lane| values[lane] == values[first]);
    let same = Mask(same.fold(0, |mask, lane| mask | 1 << lane));
    Ok(Flow::WarpBarrier(Mask(values[first] as u32), same))
}

/// Executes `bar` and `barrier`.
pub(super) fn barrier(
    context: &mut Context<'_, '_>,
    kind: &BarrierKind,
    id: Operand,
    count: Option<Operand>,
    aligned: bool,
) -> Result<Flow, Gap> {
    let uniform = |context: &mut Context<'_, '_>, operand: Operand| {
        let (values, tags) = context.read(operand, Width::B32);
        context.require_numbers(tags, Sink::Synchronisation)?;
        let mut values = context.lanes.iter().map(|lane| values[lane]);
        let first = values.next().unwrap_or_default();
        match values.all(|value| value == first) {
            true => Ok(first),
            false => Err(context.gap("lanes of a warp use different barriers or thread counts")),
        }
    };
    let number = uniform(context, id)?;
    let Some(id) = u8::try_from(number).ok().filter(|&id| id < 16) else {
        let lanes = context.lanes;
        context.record_fault(Fault::Barrier(BarrierFault::Id { id: number }), lanes);
        return Err(context.gap("barrier numbers are 0 to 15"));
    };
    let count = match count {
        Some(count) => Some(uniform(context, count)? as u32),
        None => None,
    };
    let votes = match kind {
        BarrierKind::Sync | BarrierKind::Arrive => None,
        BarrierKind::Popc { predicate, .. }
        | BarrierKind::And { predicate, .. }
        | BarrierKind::Or { predicate, .. } => Some(votes(context, *predicate)),
    };
    let waits = !matches!(kind, BarrierKind::Arrive);
    Ok(Flow::Barrier(Arrival { id, count, waits, aligned, votes }))
}

/// Reads the predicates of lanes at a barrier.
fn votes(context: &mut Context<'_, '_>, predicate: Operand) -> Votes {
    let lanes = context.lanes;
    let registers = &context.registers;
    let (truth, tags) = (registers.predicate(predicate), registers.operand_tags(predicate));
    let poisoned = tags.poison.and(lanes);
    if !poisoned.is_empty() {
        let origin = tags.undefined;
        let fault = Fault::Undefined { reaches: Sink::Synchronisation, origin };
        context.record_fault(fault, poisoned);
    }
    let unknown = !tags.is_number_in(lanes);
    let schedule_dependent = !tags.undetermined().and(lanes).is_empty();
    Votes { yes: truth.and(lanes).count(), all: lanes.count(), unknown, schedule_dependent }
}

/// Returns `true` if lanes at the two instructions can execute them together: same qualifiers. The caller
/// compares the masks.
pub(crate) fn same_collective(a: &SyncOp, b: &SyncOp) -> bool {
    match (a, b) {
        (SyncOp::Shuffle { mode: a, .. }, SyncOp::Shuffle { mode: b, .. }) => a == b,
        (SyncOp::Vote { mode: a, .. }, SyncOp::Vote { mode: b, .. }) => a == b,
        (SyncOp::Match { mode: a, width: v, .. }, SyncOp::Match { mode: b, width: w, .. }) => {
            (a, v) == (b, w)
        }
        (SyncOp::Redux { op: a, .. }, SyncOp::Redux { op: b, .. }) => a == b,
        (SyncOp::Elect { .. }, SyncOp::Elect { .. }) => true,
        _ => false,
    }
}

/// The inputs of lanes to a collective.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// Each lane's mask.
    members: Lanes,
    /// Each lane's value, or predicate as a number.
    values: Lanes,
    tags: Tags,
    /// For a shuffle: the source and its limits.
    lane: Lanes,
    clamp: Lanes,
}

impl Default for Inputs {
    fn default() -> Self {
        let zero = [0; WARP];
        Self { members: zero, values: zero, tags: Tags::NUMBER, lane: zero, clamp: zero }
    }
}

impl Inputs {
    /// Reads the inputs of the context's lanes.
    pub(crate) fn read(context: &mut Context<'_, '_>, sync: &SyncOp) -> Result<Self, Gap> {
        let mut inputs = Self::default();
        let (mask, value, width) = match sync {
            SyncOp::Shuffle { mask, value, .. } | SyncOp::Redux { mask, value, .. } => {
                (mask, Some(value), Width::B32)
            }
            SyncOp::Vote { mask, predicate, .. } => (mask, Some(predicate), Width::B1),
            SyncOp::Match { mask, value, width, .. } => (mask, Some(value), *width),
            SyncOp::Elect { mask, .. } => (mask, None, Width::B32),
            _ => return Err(context.gap("this collective is not executed yet")),
        };
        inputs.members = masks(context, *mask)?;
        check_membership(context, &inputs.members);
        if let Some(value) = value {
            (inputs.values, inputs.tags) = context.read(*value, width);
        }
        if let SyncOp::Shuffle { lane, clamp, .. } = sync {
            for (operand, into) in [(lane, &mut inputs.lane), (clamp, &mut inputs.clamp)] {
                let (values, tags) = context.read(*operand, Width::B32);
                context.require_numbers(tags, Sink::Synchronisation)?;
                *into = values;
            }
        }
        Ok(inputs)
    }

    /// Adds the inputs of other lanes.
    pub(crate) fn merge(&mut self, more: &Self, lanes: Mask) {
        for lane in lanes.iter() {
            self.members[lane] = more.members[lane];
            self.values[lane] = more.values[lane];
            self.lane[lane] = more.lane[lane];
            self.clamp[lane] = more.clamp[lane];
        }
        self.tags = more.tags.within(lanes, self.tags);
    }

    /// Computes the collective of the lanes `here` and writes its results in the context's lanes.
    pub(crate) fn finish(
        &self,
        context: &mut Context<'_, '_>,
        sync: &SyncOp,
        here: Mask,
    ) -> Result<(), Gap> {
        context.tracker.apply(context.warp.number, here, SyncEvent::Collective);
        report_exited(context, &self.members);
        match sync {
            SyncOp::Shuffle { mode, dst, in_range, .. } => {
                self.shuffle(context, *mode, (*dst, *in_range), here);
            }
            SyncOp::Vote { mode, dst, .. } => self.vote(context, *mode, *dst, here),
            SyncOp::Match { mode, dst, all_equal, .. } => {
                self.find_equal(context, *mode, (*dst, *all_equal), here);
            }
            SyncOp::Redux { op, dst, .. } => {
                let out = std::array::from_fn(|receiver| {
                    let values = self.participants(receiver, here).map(|lane| self.values[lane]);
                    values.reduce(|a, b| reduce(*op, a, b)).unwrap_or_default()
                });
                context.write(*dst, &out, of_all_lanes(self.tags, here));
            }
            SyncOp::Elect { leader, is_leader, .. } => {
                // The manual leaves the choice open. Hardware takes the lowest lane of the mask; the
                // behaviour is unknown if that one has exited.
                let lowest = |lane: usize| Mask(self.members[lane] as u32).lowest();
                let exited = context.warp.exited;
                if context.lanes.iter().any(|lane| lowest(lane).is_some_and(|one| exited.has(one)))
                {
                    return Err(context.gap(
                        "the lowest lane of the mask has ended: the elected lane is unknown",
                    ));
                }
                let leaders: [Option<usize>; WARP] =
                    std::array::from_fn(|receiver| self.participants(receiver, here).next());
                if let Some(leader) = leader {
                    let out = leaders.map(|leader| leader.unwrap_or_default() as u64);
                    context.write(*leader, &out, Tags::NUMBER);
                }
                write_vote(context, *is_leader, Tags::NUMBER, |receiver| {
                    leaders[receiver] == Some(receiver)
                });
            }
            _ => return Err(context.gap("this collective is not executed yet")),
        }
        Ok(())
    }

    /// The lanes of `here` that a lane's mask names.
    fn participants(&self, receiver: usize, here: Mask) -> impl Iterator<Item = usize> {
        here.and(Mask(self.members[receiver] as u32)).iter()
    }

    fn shuffle(
        &self,
        context: &mut Context<'_, '_>,
        mode: ShuffleMode,
        (dst, in_range): (Reg, Option<Reg>),
        here: Mask,
    ) {
        let sources: [(usize, bool); WARP] = std::array::from_fn(|receiver| {
            source_lane(mode, receiver, self.lane[receiver], self.clamp[receiver])
        });
        let out = std::array::from_fn(|receiver| self.values[sources[receiver].0]);
        let absent = |receiver: &usize| {
            let source = sources[*receiver].0;
            !here.has(source) || self.members[*receiver] >> source & 1 == 0
        };
        let lanes = context.lanes;
        let absent =
            Mask(lanes.iter().filter(absent).fold(0, |mask, receiver| mask | 1 << receiver));
        let shuffled = self.tags.permuted(lanes, |receiver| sources[receiver].0);
        let poison = Tags::poison(absent, Origin::Shuffle(context.place));
        context.write_words(dst, &out, poison.within(absent, shuffled));
        if let Some(in_range) = in_range {
            write_vote(context, in_range, Tags::NUMBER, |receiver| sources[receiver].1);
        }
    }

    fn vote(&self, context: &mut Context<'_, '_>, mode: VoteMode, dst: Reg, here: Mask) {
        let ballot: Lanes = std::array::from_fn(|receiver| {
            let yes = self.participants(receiver, here).filter(|&lane| self.values[lane] & 1 != 0);
            yes.fold(0, |mask, lane| mask | 1u64 << lane)
        });
        let present: Lanes =
            std::array::from_fn(|receiver| u64::from(here.0) & self.members[receiver]);
        let tags = of_all_lanes(self.tags, here);
        match mode {
            VoteMode::Ballot => context.write(dst, &ballot, tags),
            VoteMode::All => {
                write_vote(context, dst, tags, |receiver| ballot[receiver] == present[receiver])
            }
            VoteMode::Any => write_vote(context, dst, tags, |receiver| ballot[receiver] != 0),
            VoteMode::Uni => {
                write_vote(context, dst, tags, |receiver| {
                    ballot[receiver] == 0 || ballot[receiver] == present[receiver]
                });
            }
        }
    }

    fn find_equal(
        &self,
        context: &mut Context<'_, '_>,
        mode: MatchMode,
        (dst, all_equal): (Reg, Option<Reg>),
        here: Mask,
    ) {
        let equal: Lanes = std::array::from_fn(|receiver| {
            let same = |lane: &usize| self.values[*lane] == self.values[receiver];
            self.participants(receiver, here).filter(same).fold(0, |mask, lane| mask | 1u64 << lane)
        });
        let present: Lanes =
            std::array::from_fn(|receiver| u64::from(here.0) & self.members[receiver]);
        let out = std::array::from_fn(|receiver| match mode {
            MatchMode::All if equal[receiver] != present[receiver] => 0,
            MatchMode::All | MatchMode::Any => equal[receiver],
        });
        let tags = of_all_lanes(self.tags, here);
        context.write(dst, &out, tags);
        if let Some(all_equal) = all_equal {
            write_vote(context, all_equal, tags, |receiver| equal[receiver] == present[receiver]);
        }
    }
}

/// Spreads each lane's tag to all lanes: the result depends on all.
fn of_all_lanes(tags: Tags, lanes: Mask) -> Tags {
    let any = |mask: Mask| if mask.and(lanes).is_empty() { Mask::NONE } else { Mask::ALL };
    let tags = tags.spread();
    let poison = any(tags.poison);
    let (unknown, schedule_dependent) =
        (any(tags.unknown).without(poison), any(tags.undetermined()));
    Tags { poison, unknown, schedule_dependent, ..tags }
}

fn write_vote(context: &mut Context<'_, '_>, dst: Reg, tags: Tags, holds: impl Fn(usize) -> bool) {
    let truth = (0..WARP)
        .filter(|&receiver| holds(receiver))
        .fold(0, |mask, receiver| mask | 1 << receiver);
    context.write_predicate(dst, Mask(truth), tags);
}

fn reduce(op: ReduxOp, a: u64, b: u64) -> u64 {
    let signed = |value: u64| value as u32 as i32;
    match op {
        ReduxOp::Add => a.wrapping_add(b) & 0xffff_ffff,
        ReduxOp::Min { signed: false } => a.min(b),
        ReduxOp::Max { signed: false } => a.max(b),
        ReduxOp::Min { signed: true } => {
            if signed(a) <= signed(b) {
                a
            } else {
                b
            }
        }
        ReduxOp::Max { signed: true } => {
            if signed(a) >= signed(b) {
                a
            } else {
                b
            }
        }
        ReduxOp::And => a & b,
        ReduxOp::Or => a | b,
        ReduxOp::Xor => a ^ b,
    }
}

/// Returns the source lane of a shuffle, and `true` if it was in range (manual §9.7.9.6).
fn source_lane(mode: ShuffleMode, receiver: usize, operand: u64, clamp: u64) -> (usize, bool) {
    let receiver = receiver as i64;
    let lane = (operand & 0x1f) as i64;
    let limit = (clamp & 0x1f) as i64;
    let segment = (clamp >> 8 & 0x1f) as i64;
    let highest = (receiver & segment) | (limit & !segment);
    let lowest = receiver & segment;
    let (source, in_range) = match mode {
        ShuffleMode::Up => (receiver - lane, receiver - lane >= highest),
        ShuffleMode::Down => (receiver + lane, receiver + lane <= highest),
        ShuffleMode::Bfly => (receiver ^ lane, (receiver ^ lane) <= highest),
        ShuffleMode::Idx => {
            let source = lowest | (lane & !segment);
            (source, source <= highest)
        }
    };
    let source = if in_range { source } else { receiver };
    (source as usize & 31, in_range)
}
