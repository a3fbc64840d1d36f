//! Phases of an mbarrier, and the rules by which every schedule has the same phases (PTX manual §9.7.13.15).
//!
//! Nothing but their order tells the phases of an mbarrier apart, and a wait names one by a single bit. Call what
//! counts for a phase (arrivals, announced and delivered bytes) its *contributions*. In one run, with waits-for as the order:
//!
//! - **P1** A contribution of phase k+1 is after every contribution of phase k; otherwise it counts for k on some schedule.
//! - **P2** Bytes are announced before the phase can be over: an announcement is before some arrival of its phase, or
//!   another one is and this one is before every delivery. When no arrival is pending, no more bytes were delivered than
//!   announced. Likewise an arrival that `cp.async.mbarrier.arrive` adds to the pending ones is added before an arrival
//!   that the barrier expected anyway.
//! - **P3** A wait for phase k is after every contribution of phase k−1 (a), and before some contribution of phase k+1
//!   if that one is over in the run (b); otherwise the bit names another phase on some schedule.
//!
//! With these, the phase of every contribution and wait is the same on every schedule, by the argument for CTA barriers
//! (`barriers.rs`): the first event that differed would have broken a rule. Where the mixed case of P2 is not decided the
//! answer is [`Broken::Undecided`]; all other errors are ways in which some schedule goes wrong.

use super::types::MbarrierScope;
use crate::clocks::{Clocks, LaneId, Time, Times, join};
use crate::lanes::Mask;
use crate::shadow::Site;

/// Lanes of a warp that do the same.
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
    fn each(self) -> impl Iterator<Item = LaneId> {
        self.lanes.iter().map(move |lane| LaneId { warp: self.warp as u8, lane: lane as u8 })
    }

    /// One of them.
    #[must_use]
    pub fn first(&self) -> LaneId {
        let lane = self.lanes.lowest().unwrap_or(0);
        LaneId { warp: self.warp as u8, lane: lane as u8 }
    }
}

/// Something that lanes did at a time in waits-for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) who: Lanes,
    pub(crate) stamp: Time,
}

impl Done {
    /// A lane of which what it did is not among `times`.
    fn missing(&self, waits: &Clocks, times: &Times) -> Option<LaneId> {
        let known = |who: &LaneId| times.get(waits.party(*who)).is_some_and(|&t| self.stamp < t);
        self.who.each().find(|who| !known(who))
    }
}

/// A rule about bytes or pending arrivals that some schedule breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Bytes are announced, or a pending arrival is added, where the phase may be over already.
    Late(Lanes),
    /// The same, where it is not decided.
    Undecided(Lanes),
    /// An arrival that must not end the phase may be the last.
    Completes(Lanes),
}

/// A wait that is not before any contribution of the phase after its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// The thread that waits.
    pub who: LaneId,
    /// The wait.
    pub site: Site,
}

/// A phase: its contributions and waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    /// Contributions of threads.
    contributions: Vec<Done>,
    /// Threads whose copies contribute, which only the end of the phase waits for.
    copiers: Vec<Lanes>,
    /// Times that the contributions had waited for, themselves included.
    pub(crate) joined: Times,
    /// The same for arrivals alone, and for arrivals that are no mere pairs of increments.
    arrivals: Times,
    expected_arrivals: Times,
    /// The same for arrivals that may end the phase, and for deliveries.
    completing: Times,
    /// Times that every delivery had waited for.
    deliveries: Option<Times>,
    /// Announcements of bytes by themselves, and increments of the pending count.
    expects: Vec<Done>,
    increments: Vec<Done>,
    /// Set if an arrival announced bytes in the same step.
    expected_in_step: bool,
    no_complete: Vec<Done>,
    /// Times that are released to those who wait.
    pub(crate) released: Vec<Released>,
    /// When the phase is over, in orders-memory.
    pub(crate) over: Time,
    /// Waits that returned for this phase.
    pub(crate) waiters: Vec<Done>,
}

/// Times that arrivals of threads of a block pass on at one scope.
#[derive(Clone, Debug)]
pub(crate) struct Released {
    /// The block, by rank.
    pub(crate) block: usize,
    pub(crate) scope: MbarrierScope,
    pub(crate) times: Times,
}

/// The kind of a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contribution {
    Arrival {
        /// Set if bytes are announced in the same step.
        expects: bool,
        no_complete: bool,
    },
    /// Bytes are announced; whether any.
    Expect(bool),
    /// Bytes are delivered; whether any.
    Delivery(bool),
    /// The same by a bulk copy, when it is done.
    CopyDelivery(bool),
    /// One more arrival is pending.
    Increment,
    /// An arrival of copies: `counted` if the barrier expected it, and no increment did.
    CopyArrival { counted: bool },
}

impl Phase {
    /// Adds a contribution that had waited for `times`.
    pub(crate) fn add(&mut self, waits: &Clocks, done: Done, kind: Contribution, times: &Times) {
        let learn = |into: &mut Times| {
            waits.complete(into);
            join(into, times);
        };
        learn(&mut self.joined);
        match kind {
            Contribution::Arrival { expects, no_complete } => {
                learn(&mut self.arrivals);
                learn(&mut self.expected_arrivals);
                self.expected_in_step |= expects;
                match no_complete {
                    true => self.no_complete.push(done),
                    false => learn(&mut self.completing),
                }
            }
            Contribution::Expect(true) => self.expects.push(done),
            // Nothing waits for no bytes.
            Contribution::Expect(false) | Contribution::Delivery(false) => {}
            Contribution::Increment => self.increments.push(done),
            Contribution::Delivery(true) => {
                learn(&mut self.completing);
                meet(waits, &mut self.deliveries, times);
            }
            Contribution::CopyDelivery(any) => {
                self.copiers.push(done.who);
                if any {
                    learn(&mut self.completing);
                    meet(waits, &mut self.deliveries, times);
                }
                return;
            }
            Contribution::CopyArrival { counted } => {
                self.copiers.push(done.who);
                learn(&mut self.arrivals);
                learn(&mut self.completing);
                if counted {
                    learn(&mut self.expected_arrivals);
                }
                return;
            }
        }
        self.contributions.push(done);
    }

    /// A thread whose contribution is not before what `later` does now, if there is one; rules P1 and P3 (a). `over` tells
    /// whether `later` knows that the phase is over.
    pub(crate) fn unordered(&self, waits: &Clocks, later: LaneId, over: bool) -> Option<Lanes> {
        if over {
            return None;
        }
        let before = |done: &&Done| {
            !waits.all_ordered((done.who.warp as u8, done.who.lanes), done.stamp, later)
        };
        let threads = self.contributions.iter().find(before).map(|done| done.who);
        // Copies arrive when they like.
        threads.or_else(|| self.copiers.first().copied())
    }

    /// Tells whether some wait for the phase is before what `later` does now.
    pub(crate) fn was_observed(&self, waits: &Clocks, later: LaneId) -> bool {
        self.waiters
            .iter()
            .any(|done| done.who.each().any(|who| waits.ordered(who, done.stamp, later)))
    }

    /// Rule P2 (a), now that the phase is over, and arrivals that must not end it.
    pub(crate) fn check_bytes(&mut self, waits: &Clocks) -> Option<Broken> {
        for times in [&mut self.arrivals, &mut self.expected_arrivals, &mut self.completing] {
            waits.complete(times);
        }
        self.deliveries.iter_mut().for_each(|times| waits.complete(times));
        let completes =
            self.no_complete.iter().find(|d| d.missing(waits, &self.completing).is_some());
        if let Some(done) = completes {
            return Some(Broken::Completes(done.who));
        }
        let is_late = |done: &&Done| done.missing(waits, &self.arrivals).is_some();
        let is_late_increment =
            |done: &&Done| done.missing(waits, &self.expected_arrivals).is_some();
        let announced = self.expected_in_step || self.expects.iter().any(|d| !is_late(&d));
        if let Some(late) = self.increments.iter().find(is_late_increment) {
            let pairs = self.increments.iter().any(|done| !is_late_increment(&done));
            return Some(match announced || pairs {
                true => Broken::Undecided(late.who),
                false => Broken::Late(late.who),
            });
        }
        let before_all = |done: &Done| {
            self.deliveries.as_ref().is_some_and(|times| done.missing(waits, times).is_none())
        };
        let late =
            self.expects.iter().find(|done| is_late(done) && !(announced && before_all(done)))?;
        Some(match announced {
            true => Broken::Undecided(late.who),
            false => Broken::Late(late.who),
        })
    }

    /// A wait for this phase that is not before any contribution of `next`, which is over; rule P3 (b).
    pub(crate) fn overtaken(&self, waits: &Clocks, next: &Times) -> Option<Overtaken> {
        self.waiters.iter().find_map(|done| {
            let who = done.missing(waits, next)?;
            Some(Overtaken { who, site: done.who.site })
        })
    }

    /// Adds times that arrivals pass on.
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
            None => self.released.push(Released { block, scope, times: times.clone() }),
        }
    }

    /// Returns what a wait of a thread in a block learns at a scope, and whether that the scopes are those of the cluster is assumed. The
    /// end of the phase, `party` in it, is learned unless a copy of another block is left out.
    pub(crate) fn learned(
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
            times[party] = times[party].max(self.over);
            assumed |= far && scope == MbarrierScope::Assumed;
        }
        (times, assumed)
    }

    /// Contributions of threads so far, and whether they are by copies.
    pub(crate) fn contributors(&self) -> impl Iterator<Item = (Lanes, bool)> {
        let threads = self.contributions.iter().map(|done| (done.who, false));
        threads.chain(self.copiers.iter().map(|&who| (who, true)))
    }
}

/// Keeps the times that both had waited for.
fn meet(waits: &Clocks, into: &mut Option<Times>, times: &Times) {
    match into {
        None => *into = Some(times.clone()),
        Some(known) => {
            waits.complete(known);
            known.iter_mut().zip(times).for_each(|(one, &other)| *one = (*one).min(other));
        }
    }
}
