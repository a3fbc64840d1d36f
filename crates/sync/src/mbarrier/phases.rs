//! Phases of an mbarrier, and the rules that make them the same on every schedule (PTX manual §9.7.13.15).
//!
//! The phases of an mbarrier differ only in their order, and a wait names a phase by a single bit. The
//! *contributions* of a phase are its arrivals and its announced and delivered bytes. In one run, ordered by
//! waits-for:
//!
//! - **P1** A contribution of phase k+1 is after every contribution of phase k; otherwise it counts for k on
//!   some schedule.
//! - **P2** Bytes are announced before the phase can be over: every announcement is before some arrival of its
//!   phase; or it is before every delivery, and another announcement is before some arrival. When no arrival is
//!   pending, no more bytes were delivered than announced. Likewise, an arrival that `cp.async.mbarrier.arrive`
//!   adds to the pending ones is added before an arrival that the barrier expected anyway.
//! - **P3** A wait for phase k is after every contribution of phase k−1 (a), and before some contribution of
//!   phase k+1 if that one is over in the run (b); otherwise the bit names another phase on some schedule.
//!
//! With these rules every contribution and wait has the same phase on every schedule, by the argument for CTA
//! barriers (`barriers.rs`): the first differing event would have broken a rule. Where the mixed case of P2
//! is not decided the answer is [`BrokenRule::Undecided`]. Every other reported error does occur on some schedule.

use super::types::MbarrierScope;
use crate::clocks::{Clocks, LaneId, Time, Times, join};
use crate::lanes::Mask;
use crate::shadow::Site;

/// Lanes of a warp with the same action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// The warp.
    pub warp: usize,
    /// The lanes.
    pub lanes: Mask,
    /// The instruction.
    pub site: Site,
}

impl Lanes {
    /// Returns the single threads.
    pub(super) fn threads(self) -> impl Iterator<Item = LaneId> {
        self.lanes.iter().map(move |lane| LaneId { warp: self.warp as u8, lane: lane as u8 })
    }

    /// Returns the lowest of the lanes.
    #[must_use]
    pub fn first(&self) -> LaneId {
        let lane = self.lanes.lowest().unwrap_or(0);
        LaneId { warp: self.warp as u8, lane: lane as u8 }
    }
}

/// An action of lanes at a time in waits-for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedAction {
    pub(crate) who: Lanes,
    pub(crate) stamp: Time,
}

impl TimedAction {
    /// Returns a lane whose action `times` does not include.
    fn missing(&self, waits: &Clocks, times: &Times) -> Option<LaneId> {
        let known = |who: &LaneId| times.get(waits.party(*who)).is_some_and(|&t| self.stamp < t);
        self.who.threads().find(|who| !known(who))
    }
}

/// A broken rule about bytes or pending arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenRule {
    /// Bytes are announced, or a pending arrival is added, possibly after the phase is over.
    Late(Lanes),
    /// Like `Late`, but undecided.
    Undecided(Lanes),
    /// An arrival with `noComplete` may be the last and end the phase.
    Completes(Lanes),
}

/// A wait that is not before any contribution of the phase after its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// The waiting thread.
    pub who: LaneId,
    /// The wait.
    pub site: Site,
}

/// A phase with its contributions and waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    /// Contributions of threads.
    contributions: Vec<TimedAction>,
    /// Threads with contributing copies. Only the end of the phase waits for copies.
    copiers: Vec<Lanes>,
    /// Times that the contributions had waited for, their own included.
    pub(crate) contribution_times: Times,
    /// Like `contribution_times`, for all arrivals, and for those that the barrier expected without an increment.
    arrival_times: Times,
    expected_arrival_times: Times,
    /// Like `contribution_times`, for arrivals that may end the phase, and for deliveries.
    completing_times: Times,
    /// Times that all deliveries had waited for.
    delivery_times: Option<Times>,
    /// Separate announcements of bytes, and increments of the pending count.
    announcements: Vec<TimedAction>,
    increments: Vec<TimedAction>,
    /// Set if an arrival announced bytes in the same step.
    expected_in_step: bool,
    no_complete: Vec<TimedAction>,
    /// Times released to waiting threads.
    pub(crate) released: Vec<BlockRelease>,
    /// The time of the phase's end, in orders-memory.
    pub(crate) end_time: Time,
    /// Completed waits for this phase.
    pub(crate) waiters: Vec<TimedAction>,
}

/// Times that arrivals of a block's threads pass on at one scope.
#[derive(Clone, Debug)]
pub(crate) struct BlockRelease {
    /// The rank of the block.
    pub(crate) block: usize,
    pub(crate) scope: MbarrierScope,
    pub(crate) times: Times,
}

/// The kind of a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contribution {
    Arrival {
        /// Set if the arrival announces bytes in the same step.
        expects: bool,
        no_complete: bool,
    },
    /// Bytes are announced; `true` if more than zero.
    Expect(bool),
    /// Bytes are delivered; `true` if more than zero.
    Delivery(bool),
    /// Like `Delivery`, by a completed bulk copy.
    CopyDelivery(bool),
    /// One more arrival is pending.
    Increment,
    /// An arrival of copies. `counted` if the barrier expected it without an increment.
    CopyArrival { counted: bool },
}

impl Phase {
    /// Adds a contribution that had waited for `times`.
    pub(crate) fn add(
        &mut self,
        waits: &Clocks,
        action: TimedAction,
        kind: Contribution,
        times: &Times,
    ) {
        let join_times = |into: &mut Times| {
            waits.complete(into);
            join(into, times);
        };
        join_times(&mut self.contribution_times);
        match kind {
            Contribution::Arrival { expects, no_complete } => {
                join_times(&mut self.arrival_times);
                join_times(&mut self.expected_arrival_times);
                self.expected_in_step |= expects;
                match no_complete {
                    true => self.no_complete.push(action),
                    false => join_times(&mut self.completing_times),
                }
            }
            Contribution::Expect(true) => self.announcements.push(action),
            // No wait depends on zero bytes.
            Contribution::Expect(false) | Contribution::Delivery(false) => {}
            Contribution::Increment => self.increments.push(action),
            Contribution::Delivery(true) => {
                join_times(&mut self.completing_times);
                keep_common_times(waits, &mut self.delivery_times, times);
            }
            Contribution::CopyDelivery(any) => {
                self.copiers.push(action.who);
                if any {
                    join_times(&mut self.completing_times);
                    keep_common_times(waits, &mut self.delivery_times, times);
                }
                return;
            }
            Contribution::CopyArrival { counted } => {
                self.copiers.push(action.who);
                join_times(&mut self.arrival_times);
                join_times(&mut self.completing_times);
                if counted {
                    join_times(&mut self.expected_arrival_times);
                }
                return;
            }
        }
        self.contributions.push(action);
    }

    /// Finds a contribution that is not before the next action of `later` (rules P1 and P3 a). `over` is set
    /// if `later` knows that the phase is over.
    pub(crate) fn unordered(&self, waits: &Clocks, later: LaneId, over: bool) -> Option<Lanes> {
        if over {
            return None;
        }
        let is_unordered = |action: &&TimedAction| {
            !waits.all_ordered((action.who.warp as u8, action.who.lanes), action.stamp, later)
        };
        let threads = self.contributions.iter().find(is_unordered).map(|action| action.who);
        // A copy arrives at any time.
        threads.or_else(|| self.copiers.first().copied())
    }

    /// Returns `true` if some wait for the phase is before the next action of `later`.
    pub(crate) fn was_observed(&self, waits: &Clocks, later: LaneId) -> bool {
        self.waiters
            .iter()
            .any(|action| action.who.threads().any(|who| waits.ordered(who, action.stamp, later)))
    }

    /// Checks rule P2 on a completed phase, and arrivals with `noComplete`.
    pub(crate) fn check_bytes(&mut self, waits: &Clocks) -> Option<BrokenRule> {
        for times in
            [&mut self.arrival_times, &mut self.expected_arrival_times, &mut self.completing_times]
        {
            waits.complete(times);
        }
        self.delivery_times.iter_mut().for_each(|times| waits.complete(times));
        let completes =
            self.no_complete.iter().find(|d| d.missing(waits, &self.completing_times).is_some());
        if let Some(done) = completes {
            return Some(BrokenRule::Completes(done.who));
        }
        let is_late = |done: &&TimedAction| done.missing(waits, &self.arrival_times).is_some();
        let is_late_increment =
            |done: &&TimedAction| done.missing(waits, &self.expected_arrival_times).is_some();
        let announced = self.expected_in_step || self.announcements.iter().any(|d| !is_late(&d));
        if let Some(late) = self.increments.iter().find(is_late_increment) {
            let some_in_time = self.increments.iter().any(|done| !is_late_increment(&done));
            return Some(match announced || some_in_time {
                true => BrokenRule::Undecided(late.who),
                false => BrokenRule::Late(late.who),
            });
        }
        let before_all = |done: &TimedAction| {
            self.delivery_times.as_ref().is_some_and(|times| done.missing(waits, times).is_none())
        };
        let late = self
            .announcements
            .iter()
            .find(|done| is_late(done) && !(announced && before_all(done)))?;
        Some(match announced {
            true => BrokenRule::Undecided(late.who),
            false => BrokenRule::Late(late.who),
        })
    }

    /// Finds a wait for this phase that is not before any contribution of `next`, which is over (rule P3 b).
    pub(crate) fn overtaken(&self, waits: &Clocks, next: &Times) -> Option<Overtaken> {
        self.waiters.iter().find_map(|done| {
            let who = done.missing(waits, next)?;
            Some(Overtaken { who, site: done.who.site })
        })
    }

    /// Adds times passed on by arrivals.
    pub(crate) fn pass_on(
        &mut self,
        memory: &Clocks,
        (block, scope): (usize, MbarrierScope),
        times: &Times,
    ) {
        let known = self.released.iter_mut().find(|one| (one.block, one.scope) == (block, scope));
        match known {
            Some(known) => {
                memory.complete(&mut known.times);
                join(&mut known.times, times);
            }
            None => self.released.push(BlockRelease { block, scope, times: times.clone() }),
        }
    }

    /// Returns the times that a wait of a thread in a block acquires at a scope, and `true` if a missing
    /// scope was taken for that of the cluster. The end of the phase, by way of `party`, is acquired too
    /// unless a copy of another block is left out.
    pub(crate) fn acquired_times(
        &self,
        memory: &Clocks,
        party: usize,
        (block, scope): (usize, MbarrierScope),
        warps: usize,
    ) -> (Times, bool) {
        let (mut times, mut assumed) = (Times::new(), false);
        memory.complete(&mut times);
        for one in &self.released {
            let near = one.block == block;
            if near || ![one.scope, scope].contains(&MbarrierScope::Block) {
                let mut passed = one.times.clone();
                memory.complete(&mut passed);
                join(&mut times, &passed);
                assumed |= !near && [one.scope, scope].contains(&MbarrierScope::Assumed);
            }
        }
        let far = self.copiers.iter().any(|who| who.warp / warps != block);
        if !far || scope != MbarrierScope::Block {
            times[party] = times[party].max(self.end_time);
            assumed |= far && scope == MbarrierScope::Assumed;
        }
        (times, assumed)
    }

    /// Returns the contributions so far, with `true` for those by copies.
    pub(crate) fn contributors(&self) -> impl Iterator<Item = (Lanes, bool)> {
        let threads = self.contributions.iter().map(|done| (done.who, false));
        threads.chain(self.copiers.iter().map(|&who| (who, true)))
    }
}

/// Reduces `into` to the times that it and `times` have both waited for.
fn keep_common_times(waits: &Clocks, into: &mut Option<Times>, times: &Times) {
    match into {
        None => *into = Some(times.clone()),
        Some(known) => {
            waits.complete(known);
            known.iter_mut().zip(times).for_each(|(one, &other)| *one = (*one).min(other));
        }
    }
}
