//! Findings collected along one run or all runs.

use crate::table::{Events, MAX_EVENTS};
use std::collections::BTreeSet;
use std::fmt;

/// A use of barriers that PTX forbids or leaves undefined. The run has no defined state after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misuse {
    /// An aligned barrier, with a lane of the warp at another instruction.
    Divergence,
    /// Lanes of a warp name different barriers.
    DifferentBarriers,
    /// A count other than a positive multiple of the warp's 32 threads.
    BadCount,
    /// Registrations of one generation with different counts, or some with and some without.
    MixedCounts,
    /// A reduction and something else in one generation.
    MixedReduction,
    /// Some lanes of a warp wait and others only arrive (an H200 hangs).
    ArriveAndWait,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Divergence => "divergent aligned barrier",
            Self::DifferentBarriers => "different barriers in one warp",
            Self::BadCount => "bad thread count",
            Self::MixedCounts => "mixed thread counts",
            Self::MixedReduction => "reduction mixed with another barrier",
            Self::ArriveAndWait => "lanes of a warp that wait and arrive",
        })
    }
}

/// The ends of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// All threads exited.
    pub(crate) completes: bool,
    /// Threads wait, and no move is possible.
    pub(crate) deadlocks: bool,
    /// When such a run ends, a lane at an aligned barrier waits for a lane elsewhere.
    pub(crate) stuck_at_aligned_barrier: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Findings {
    /// For each event, the events that it races with.
    pub(crate) races: [Events; MAX_EVENTS],
    /// For each event, the unordered events that store the same value.
    pub(crate) equal_stores: [Events; MAX_EVENTS],
    pub(crate) misuses: BTreeSet<Misuse>,
    pub(crate) ends: Ends,
    /// For each registration, the generation in which it was first seen.
    matching: [Events; MAX_EVENTS],
    /// Some registration was seen in two different generations.
    pub(crate) matchings_differ: bool,
    /// A registration of the previous generation might overtake one of the next; only with a history.
    pub(crate) reuse: bool,
    /// A shuffle read a value of an exited lane.
    pub(crate) undefined: bool,
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            races: [Events::NONE; MAX_EVENTS],
            equal_stores: [Events::NONE; MAX_EVENTS],
            misuses: BTreeSet::new(),
            ends: Ends::default(),
            matching: [Events::NONE; MAX_EVENTS],
            matchings_differ: false,
            reuse: false,
            undefined: false,
        }
    }
}

impl Findings {
    /// Records the registrations of a generation that is complete, or never will be.
    pub(crate) fn generation(&mut self, members: Events) {
        for event in members.iter() {
            let known = &mut self.matching[event];
            if known.is_empty() {
                *known = members;
            }
            self.matchings_differ |= *known != members;
        }
    }

    pub(crate) fn race_pairs(&self) -> BTreeSet<(usize, usize)> {
        pairs(&self.races)
    }

    pub(crate) fn equal_pairs(&self) -> BTreeSet<(usize, usize)> {
        pairs(&self.equal_stores)
    }
}

fn pairs(related: &[Events; MAX_EVENTS]) -> BTreeSet<(usize, usize)> {
    let all = related.iter().enumerate();
    all.flat_map(|(a, others)| others.iter().map(move |b| (a.min(b), a.max(b)))).collect()
}
