//! A state of a running program.
//!
//! What is ordered before a thread's next step is kept as a *set of events* instead of a clock: the
//! programs are tiny, and sets cannot be compared wrongly. There are two relations.
//!
//! - *Orders memory* decides races. A thread knows its own earlier steps; what the others of a
//!   `bar.warp.sync` know; what all registrations of a barrier's generation know, if it waited for
//!   that generation; the copies that its `cp.async` waits cover. An arrival tells and does not
//!   learn. Shuffles and votes order nothing.
//! - *Waits for* contains it. Besides, a lane that registers at a barrier, be it an arrival, has
//!   waited for its warp's other lanes; lanes of a shuffle or vote have waited for each other; and
//!   whoever was let go because a thread exited has waited for that exit.

use crate::program::{BARRIERS, MAX_COPIES, MAX_THREADS};
use crate::table::Events;
use crate::values::Values;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Status {
    /// It can take its next step, if that is not a wait for copies in flight.
    #[default]
    Running,
    /// It stands at a collective of its warp.
    Gathering,
    /// It stands at a barrier, and its warp does not count there yet.
    Arrived,
    /// It waits at a barrier where its warp counts.
    Registered,
    /// It is gone.
    Exited,
}

/// Sets of events for each agent, in one relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Order {
    pub(crate) threads: [Events; MAX_THREADS],
    pub(crate) barriers: [Events; BARRIERS],
}

/// The generation of a barrier that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Generation {
    /// Registrations so far.
    pub(crate) members: Events,
    /// Warps that have registered, one bit each.
    pub(crate) warps: u8,
    /// How often warps have registered.
    pub(crate) registrations: u8,
    /// What the first registration said; the others must say the same.
    pub(crate) terms: Option<Terms>,
    /// Threads that came with a true predicate.
    pub(crate) votes: u8,
}

/// What all registrations of a generation must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Terms {
    pub(crate) count: Option<u16>,
    pub(crate) reduces: bool,
}

/// Everything that decides how a run goes on, and what will be found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Each thread's next step.
    pub(crate) next: [u8; MAX_THREADS],
    pub(crate) status: [Status; MAX_THREADS],
    /// Events that have happened.
    pub(crate) done: Events,
    /// Copies in flight.
    pub(crate) flying: Events,
    pub(crate) generations: [Generation; BARRIERS],
    pub(crate) memory: Order,
    /// What is ordered before each copy; copies wait for nothing else.
    pub(crate) copies: [Events; MAX_COPIES],
    pub(crate) history: Option<Box<History>>,
    pub(crate) values: Option<Box<Values>>,
}

/// What only the judge of a single run must remember.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct History {
    pub(crate) waits: Order,
    /// For each barrier, registrations of the last generation that had partners to find.
    pub(crate) partnered: [Events; BARRIERS],
    /// For each barrier, registrations since then; each was a generation of its own.
    pub(crate) alone: [Events; BARRIERS],
}
