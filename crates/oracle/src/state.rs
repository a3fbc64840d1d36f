//! States of a running program.
//!
//! The events ordered before a thread's next step are kept as a *set* instead of a clock: the programs are
//! tiny, and sets cannot be compared wrongly. There are two relations.
//!
//! - *Orders memory* decides races. A thread knows its own earlier steps and the copies covered by its
//!   `cp.async` waits. It learns everything that the other lanes of a `bar.warp.sync` know. If it waited for
//!   a barrier's generation, it learns everything that the registrations of that generation know. An arrival
//!   releases and does not acquire. Shuffles and votes order nothing.
//! - *Waits for* contains that relation. In addition, a lane that registers at a barrier, even to arrive, has
//!   waited for the other lanes of its warp. Lanes of a shuffle or vote have waited for each other. A thread
//!   released by an exit has waited for that exit.

use crate::program::{BARRIERS, MAX_COPIES, MAX_THREADS};
use crate::table::Events;
use crate::values::Values;

/// The status of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Status {
    /// It can take its next step, except a wait for copies in flight.
    #[default]
    Running,
    /// It is at a collective of its warp.
    AtCollective,
    /// It is at a barrier at which its warp is not registered yet.
    AtBarrier,
    /// It waits at a barrier at which its warp is registered.
    Registered,
    /// It has exited.
    Exited,
}

/// Sets of events for each agent, in one relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Order {
    pub(crate) threads: [Events; MAX_THREADS],
    pub(crate) barriers: [Events; BARRIERS],
}

/// The current generation of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Generation {
    /// Registrations so far.
    pub(crate) members: Events,
    /// Warps that have registered, one bit each.
    pub(crate) warps: u8,
    /// The number of registrations of warps.
    pub(crate) registrations: u8,
    /// The terms of the first registration, which the others must match.
    pub(crate) terms: Option<Terms>,
    /// Threads with a true predicate.
    pub(crate) votes: u8,
}

/// The terms on which all registrations of a generation must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Terms {
    pub(crate) count: Option<u16>,
    pub(crate) reduces: bool,
}

/// Everything that determines the rest of a run and its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Each thread's next step.
    pub(crate) next: [u8; MAX_THREADS],
    pub(crate) status: [Status; MAX_THREADS],
    /// Events that have happened.
    pub(crate) done: Events,
    /// Copies in flight.
    pub(crate) in_flight: Events,
    pub(crate) generations: [Generation; BARRIERS],
    pub(crate) memory: Order,
    /// The events ordered before each copy; copies wait for nothing else.
    pub(crate) copies: [Events; MAX_COPIES],
    pub(crate) history: Option<Box<History>>,
    pub(crate) values: Option<Box<Values>>,
}

/// Additional state for judging a single run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct History {
    pub(crate) waits: Order,
    /// For each barrier, registrations of the last generation with partners.
    pub(crate) last_partnered: [Events; BARRIERS],
    /// For each barrier, registrations since then; each was a generation of its own.
    pub(crate) since_partnered: [Events; BARRIERS],
}
