//! What lanes of a warp do together (manual §9.7.9.6, §9.7.13): shuffles, votes and their like, and
//! what they do at barriers.
//!
//! A collective executes when every lane its mask names, except exited ones, has come to it with
//! the same mask. Values from lanes outside the mask are poison. Misuse (a lane that is not in its
//! own mask, lanes that never come) is checked elsewhere; here such lanes wait, or get poison.

use super::{Arrival, Context, Flow};
use crate::finding::{Gap, Origin, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::Tags;
use ir::{BarrierKind, MatchMode, Operand, ReduxOp, ShuffleMode, SyncOp, VoteMode, Width};

/// A lane mask, which must be a number.
fn masks(context: &mut Context<'_, '_>, mask: Operand) -> Result<Lanes, Gap> {
    let (values, tags) = context.read(mask, Width::B32);
    if context.decide(tags, Sink::Synchronisation)? != context.lanes {
        return Err(context.gap("a lane mask is undefined"));
    }
    Ok(values)
}

/// The lanes for which everybody named has come.
pub(super) fn complete(context: &mut Context<'_, '_>, mask: Operand) -> Result<Mask, Gap> {
    let values = masks(context, mask)?;
    let alive = context.warp.alive();
    let mut ready = Mask::NONE;
    for lane in context.lanes.iter() {
        let named = Mask(values[lane] as u32).and(alive);
        let here = context.lanes.iter().filter(|&other| values[other] == values[lane]);
        let here = Mask(here.fold(0, |mask, other| mask | 1 << other));
        if named.without(here).is_empty() {
            ready = ready.or(Mask(1 << lane));
        }
    }
    Ok(ready)
}

/// `bar.warp.sync`: lanes with the first lane's mask; the others come later.
pub(super) fn warp_barrier(context: &mut Context<'_, '_>, mask: Operand) -> Result<Flow, Gap> {
    let values = masks(context, mask)?;
    let Some(first) = context.lanes.lowest() else { return Ok(Flow::Next) };
    let same = context.lanes.iter().filter(|&lane| values[lane] == values[first]);
    let same = Mask(same.fold(0, |mask, lane| mask | 1 << lane));
    Ok(Flow::WarpBarrier(Mask(values[first] as u32), same))
}

/// `bar` and `barrier`
pub(super) fn barrier(
    context: &mut Context<'_, '_>,
    kind: &BarrierKind,
    id: Operand,
    count: Option<Operand>,
) -> Result<Flow, Gap> {
    let uniform = |context: &mut Context<'_, '_>, operand: Operand| {
        let (values, tags) = context.read(operand, Width::B32);
        context.decide(tags, Sink::Synchronisation)?;
        let mut values = context.lanes.iter().map(|lane| values[lane]);
        let first = values.next().unwrap_or_default();
        match values.all(|value| value == first) {
            true => Ok(first),
            false => Err(context.gap("lanes of a warp name different barriers or counts")),
        }
    };
    let id = uniform(context, id)?;
    let id = u8::try_from(id).ok().filter(|&id| id < 16);
    let id = id.ok_or_else(|| context.gap("barriers are numbered 0 to 15"))?;
    let count = match count {
        Some(count) => Some(uniform(context, count)? as u32),
        None => None,
    };
    let votes = match kind {
        BarrierKind::Sync | BarrierKind::Arrive => Mask::NONE,
        BarrierKind::Popc { predicate, .. }
        | BarrierKind::And { predicate, .. }
        | BarrierKind::Or { predicate, .. } => {
            let registers = &context.registers;
            let (truth, tags) =
                (registers.predicate(*predicate), registers.operand_tags(*predicate));
            context.decide(tags, Sink::Synchronisation)?;
            truth.and(context.lanes)
        }
    };
    let waits = !matches!(kind, BarrierKind::Arrive);
    Ok(Flow::Barrier(Arrival { id, count, waits, votes }))
}

/// Executes a collective for which all lanes have come.
pub(super) fn execute(context: &mut Context<'_, '_>, sync: &SyncOp) -> Result<(), Gap> {
    match sync {
        SyncOp::Shuffle { mode, dst, in_range, value, lane, clamp, mask } => {
            let members = masks(context, *mask)?;
            let (lane_values, lane_tags) = context.read(*lane, Width::B32);
            let (clamps, clamp_tags) = context.read(*clamp, Width::B32);
            context.decide(lane_tags, Sink::Synchronisation)?;
            context.decide(clamp_tags, Sink::Synchronisation)?;
            let (values, tags) = context.read(*value, Width::B32);
            let sources: [(usize, bool); WARP] =
                std::array::from_fn(|own| source_lane(*mode, own, lane_values[own], clamps[own]));
            let out = std::array::from_fn(|own| values[sources[own].0]);
            let here = context.lanes;
            let absent = |own: &usize| {
                let source = sources[*own].0;
                !here.has(source) || members[*own] >> source & 1 == 0
            };
            let absent = Mask(here.iter().filter(absent).fold(0, |mask, own| mask | 1 << own));
            let moved = tags.permuted(here, |own| sources[own].0);
            let poison = Tags::poison(absent, Origin::Shuffle(context.place));
            context.write_words(*dst, &out, poison.within(absent, moved));
            if let Some(in_range) = in_range {
                let truth = (0..WARP).filter(|&own| sources[own].1);
                let truth = Mask(truth.fold(0, |mask, own| mask | 1 << own));
                context.write_predicate(*in_range, truth, Tags::NUMBER);
            }
        }
        SyncOp::Vote { mode, dst, predicate, mask } => {
            let members = masks(context, *mask)?;
            let registers = &context.registers;
            let (truth, tags) =
                (registers.predicate(*predicate), registers.operand_tags(*predicate));
            let ballot: Lanes =
                std::array::from_fn(|own| u64::from(truth.and(context.lanes).0) & members[own]);
            let present: Lanes =
                std::array::from_fn(|own| u64::from(context.lanes.0) & members[own]);
            let tags = gathered(tags, context.lanes);
            match mode {
                VoteMode::Ballot => context.write(*dst, &ballot, tags),
                VoteMode::All => vote(context, *dst, tags, |own| ballot[own] == present[own]),
                VoteMode::Any => vote(context, *dst, tags, |own| ballot[own] != 0),
                VoteMode::Uni => {
                    vote(context, *dst, tags, |own| ballot[own] == 0 || ballot[own] == present[own])
                }
            }
        }
        SyncOp::Match { mode, dst, all_equal, value, width, mask } => {
            let members = masks(context, *mask)?;
            let (values, tags) = context.read(*value, *width);
            let here = context.lanes;
            let equal: Lanes = std::array::from_fn(|own| {
                let same = here
                    .iter()
                    .filter(|&lane| members[own] >> lane & 1 != 0 && values[lane] == values[own]);
                same.fold(0, |mask, lane| mask | 1u64 << lane)
            });
            let present: Lanes = std::array::from_fn(|own| u64::from(here.0) & members[own]);
            let out = std::array::from_fn(|own| match mode {
                MatchMode::Any => equal[own],
                MatchMode::All => {
                    if equal[own] == present[own] {
                        equal[own]
                    } else {
                        0
                    }
                }
            });
            let tags = gathered(tags, here);
            context.write(*dst, &out, tags);
            if let Some(all_equal) = all_equal {
                vote(context, *all_equal, tags, |own| equal[own] == present[own]);
            }
        }
        SyncOp::Redux { op, dst, value, mask } => {
            let members = masks(context, *mask)?;
            let (values, tags) = context.read(*value, Width::B32);
            let here = context.lanes;
            let out = std::array::from_fn(|own| {
                let taking_part = here.iter().filter(|&lane| members[own] >> lane & 1 != 0);
                let values = taking_part.map(|lane| values[lane]);
                values.reduce(|a, b| reduce(*op, a, b)).unwrap_or_default()
            });
            context.write(*dst, &out, gathered(tags, here));
        }
        SyncOp::Elect { leader, is_leader, mask } => {
            let members = masks(context, *mask)?;
            // The manual leaves the choice open; hardware takes the lowest lane of the mask.
            let chosen = |own: usize| Mask(members[own] as u32).and(context.lanes).lowest();
            let leaders: [Option<usize>; WARP] = std::array::from_fn(chosen);
            if let Some(leader) = leader {
                let out = leaders.map(|leader| leader.unwrap_or_default() as u64);
                context.write(*leader, &out, Tags::NUMBER);
            }
            vote(context, *is_leader, Tags::NUMBER, |own| leaders[own] == Some(own));
        }
        _ => return Err(context.gap("this collective is not executed yet")),
    }
    Ok(())
}

/// One lane's tag becomes everybody's: the result depends on all.
fn gathered(tags: Tags, lanes: Mask) -> Tags {
    let any = |mask: Mask| if mask.and(lanes).is_empty() { Mask::NONE } else { Mask::ALL };
    let tags = tags.spread();
    let poison = any(tags.poison);
    Tags { poison, unknown: any(tags.unknown).without(poison), ..tags }
}

fn vote(context: &mut Context<'_, '_>, dst: ir::Reg, tags: Tags, holds: impl Fn(usize) -> bool) {
    let truth = (0..WARP).filter(|&own| holds(own)).fold(0, |mask, own| mask | 1 << own);
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

/// Which lane a shuffle reads, and whether it was in range (manual §9.7.9.6).
fn source_lane(mode: ShuffleMode, own: usize, operand: u64, clamp: u64) -> (usize, bool) {
    let own = own as i64;
    let lane = (operand & 0x1f) as i64;
    let limit = (clamp & 0x1f) as i64;
    let segment = (clamp >> 8 & 0x1f) as i64;
    let highest = (own & segment) | (limit & !segment);
    let lowest = own & segment;
    let (source, in_range) = match mode {
        ShuffleMode::Up => (own - lane, own - lane >= highest),
        ShuffleMode::Down => (own + lane, own + lane <= highest),
        ShuffleMode::Bfly => (own ^ lane, (own ^ lane) <= highest),
        ShuffleMode::Idx => {
            let source = lowest | (lane & !segment);
            (source, source <= highest)
        }
    };
    let source = if in_range { source } else { own };
    (source as usize & 31, in_range)
}
