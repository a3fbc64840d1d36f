//! Fences between the generic and the async proxy (PTX manual §8.6, §8.9.5, §9.7.13.4), which make writes of
//! threads visible to bulk copies.
//!
//! A generic write e that is ordered before an access x of a bulk copy is visible to it if a
//! `fence.proxy.async` lies on the way from e to x. Two fences count: one of the writing thread before it
//! passed the write on, and one of the thread that issues x after it learned of the write. The manual states
//! the rule for the second fence only for aliases; we assume that it holds in general. A fence of a third thread
//! may lie on the way as well; that case is left open. Accesses that arrive at an mbarrier on completion
//! (`cp.async`, `st.async`) are passed on by that arrival: they are visible if the issuing thread fences
//! after it learned of the arrival. (The manual does not name the proxy of `st.async`; the code that judges
//! an answer leaves it open without a fence.)
//!
//! No fence is needed after a bulk copy: its completion is a fence towards the generic proxy (§9.7.9.25.2),
//! and two accesses of the async proxy in one block are of one proxy. Between a generic read and an async
//! write, order is required, and a missing fence is worth a note.

use crate::clocks::{Clocks, LaneId, LaneSnapshot, Time};
use crate::lanes::Mask;
use std::collections::BTreeMap;

/// A kind of memory that a fence may be restricted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum ProxySpace {
    Shared,
    Global,
}

/// Visibility of a write to an operation of another proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// A fence makes it visible.
    Visible,
    /// No fence makes it visible.
    NeedsFence,
    /// The chain of fences from a write to a tensor map to the copy through it is incomplete.
    NeedsMapFence,
    /// A fence of a third thread might make it visible.
    Open,
}

/// The proxy fences of a thread.
#[derive(Clone, Debug, Default)]
struct LaneFences {
    /// Their times, ascending.
    stamps: Vec<Time>,
    /// The knowledge of the thread at the last one.
    last: Option<LaneSnapshot>,
}

impl LaneFences {
    /// Returns `true` if a fence of a third thread may lie on the way from a write to a bulk copy: its last
    /// one comes after the write, and its first one before the copy.
    fn may_help(
        &self,
        clocks: &Clocks,
        who: LaneId,
        (earlier, time): (LaneId, Time),
        later: LaneId,
    ) -> bool {
        let knew = self
            .last
            .as_ref()
            .is_some_and(|snapshot| clocks.snapshot_covers(who, snapshot, earlier, time));
        knew && self.stamps.first().is_some_and(|&first| clocks.ordered(who, first, later))
    }
}

/// The proxy fences of a block, for shared and for global memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProxyFences {
    lanes: [BTreeMap<LaneId, LaneFences>; 2],
}

impl ProxyFences {
    /// Records a `fence.proxy.async`, for one kind of memory or for all.
    pub(crate) fn fence(
        &mut self,
        clocks: &mut Clocks,
        (warp, lanes): (usize, Mask),
        space: Option<ProxySpace>,
    ) {
        let snapshots = clocks.snapshots(warp, lanes);
        let stamp = clocks.now(warp);
        for one_space in [ProxySpace::Shared, ProxySpace::Global] {
            if space.is_some_and(|space| space != one_space) {
                continue;
            }
            for (who, snapshot) in &snapshots {
                let fences = self.lanes[one_space as usize].entry(*who).or_default();
                fences.stamps.push(stamp);
                fences.last = Some(snapshot.clone());
            }
        }
    }

    /// Returns the visibility, to a bulk copy issued by `later`, of a copy that one of these arrivals completes (each
    /// a party at a time). It is visible if `later` fenced after it learned of the arrival, and open if another
    /// thread did.
    pub(crate) fn arrival_visibility(
        &self,
        clocks: &Clocks,
        arrivals: &[(u16, Time)],
        later: LaneId,
        space: ProxySpace,
    ) -> Visibility {
        let knew = |fences: &LaneFences| {
            let last = fences.last.as_ref();
            let knows = |snapshot| {
                arrivals.iter().any(|&(party, time)| Clocks::knew_party(snapshot, party, time))
            };
            last.is_some_and(knows)
        };
        let lanes = &self.lanes[space as usize];
        if lanes.get(&later).is_some_and(knew) {
            return Visibility::Visible;
        }
        let passed_on = |who: LaneId, fences: &LaneFences| {
            fences.stamps.first().is_some_and(|&first| clocks.ordered(who, first, later))
        };
        let mut others = lanes.iter().filter(|(who, _)| **who != later);
        match others.any(|(who, fences)| knew(fences) && passed_on(*who, fences)) {
            true => Visibility::Open,
            false => Visibility::NeedsFence,
        }
    }

    /// Returns the visibility, to a bulk copy issued by `later`, of a write of `earlier` at `time` that is ordered
    /// before it.
    pub(crate) fn visibility(
        &self,
        clocks: &Clocks,
        (earlier, time): (LaneId, Time),
        later: LaneId,
        space: ProxySpace,
    ) -> Visibility {
        let lanes = &self.lanes[space as usize];
        let writer = lanes.get(&earlier).and_then(|fences| {
            let next = fences.stamps.partition_point(|&stamp| stamp <= time);
            fences.stamps.get(next)
        });
        if writer.is_some_and(|&stamp| clocks.ordered(earlier, stamp, later)) {
            return Visibility::Visible;
        }
        let issuer = lanes.get(&later).and_then(|fences| fences.last.as_ref());
        if issuer.is_some_and(|snapshot| clocks.snapshot_covers(later, snapshot, earlier, time)) {
            return Visibility::Visible;
        }
        let mut others = lanes.iter().filter(|(who, _)| ![earlier, later].contains(who));
        match others.any(|(who, fences)| fences.may_help(clocks, *who, (earlier, time), later)) {
            true => Visibility::Open,
            false => Visibility::NeedsFence,
        }
    }
}
