//! The budget of a run: instructions, memory of a domain, and time if the caller limits it.

use crate::finding::{Gap, StopReason, Thread};
use crate::lanes::WARP;
use crate::machine::Machine;
use crate::options::Limits;
use crate::position::Position;
use crate::warp::Group;
use crate::watch::Watch;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Instructions between two checks of the clock and the watcher.
const CHECK_INTERVAL: u64 = 1 << 17;

/// The remaining budget.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    instructions: u64,
    deadline: Option<Instant>,
    watch: Option<&'static Watch>,
    until_check: u64,
    /// Set when the result is no longer needed.
    cancelled: Option<Arc<AtomicBool>>,
    /// Set when the values of a domain take too much memory.
    memory: Option<Arc<AtomicBool>>,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            instructions: limits.lane_instructions,
            deadline: limits.deadline(),
            watch: limits.watch,
            until_check: CHECK_INTERVAL,
            cancelled: None,
            memory: None,
        }
    }

    /// The same budget for a run that ends when this flag is set; see [`crate::Domain::memory_flag`].
    pub(crate) fn with_memory(self, memory: Option<Arc<AtomicBool>>) -> Self {
        Self { memory, ..self }
    }

    /// The same budget for a speculative block, which this flag can cancel.
    pub(crate) fn cancelled_by(&self, cancelled: &Arc<AtomicBool>) -> Self {
        Self { cancelled: Some(Arc::clone(cancelled)), ..self.clone() }
    }

    /// Returns `true` if this many instructions are affordable.
    pub(crate) fn suffices(&self, cost: u64) -> bool {
        cost <= self.instructions
    }

    /// The number of remaining instructions.
    pub(crate) fn remaining(&self) -> u64 {
        self.instructions
    }

    /// Returns `true` if the time is up.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Subtracts instructions executed elsewhere.
    pub(crate) fn subtract(&mut self, cost: u64) {
        self.instructions = self.instructions.saturating_sub(cost);
    }

    /// Subtracts executed instructions, if affordable.
    pub(crate) fn spend(&mut self, cost: u64) -> Result<(), Exhausted> {
        self.instructions = self.instructions.checked_sub(cost).ok_or(Exhausted::Instructions)?;
        let is_set = |flag: &Option<Arc<AtomicBool>>| {
            flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
        };
        let is_watched = self.deadline.is_some() || self.watch.is_some();
        if !is_watched && self.cancelled.is_none() && self.memory.is_none() {
            return Ok(());
        }
        self.until_check = self.until_check.saturating_sub(cost);
        if self.until_check > 0 {
            return Ok(());
        }
        self.until_check = CHECK_INTERVAL;
        if let Some(watch) = self.watch {
            watch.add_instructions(CHECK_INTERVAL);
            if watch.is_stopped() {
                return Err(Exhausted::Interrupted);
            }
        }
        if is_set(&self.memory) {
            return Err(Exhausted::Memory);
        }
        if self.is_out_of_time() || is_set(&self.cancelled) { Err(Exhausted::Time) } else { Ok(()) }
    }
}

/// The exhausted resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exhausted {
    Instructions,
    Time,
    /// Memory of the domain.
    Memory,
    /// The watcher ended the run.
    Interrupted,
}

impl Exhausted {
    /// Describes the end of a run after `executed` instructions, the last by this group of a warp in the block at a
    /// position. The place is the innermost loop around the last instruction, if need be in a caller, or else the
    /// instruction.
    pub(crate) fn gap(
        self,
        machine: &Machine<'_>,
        (block, warp, group): ([u32; 3], usize, &Group),
        executed: u64,
    ) -> Gap {
        let first = group.lanes.lowest().map(|lane| (warp * WARP + lane) as u64);
        let position = |number| machine.launch.thread_position(number);
        let rank = (machine.blocks > 1).then(|| machine.launch.rank(block));
        let thread = first.map(|number| Thread { block, thread: position(number), rank });
        let frames = std::iter::once(group.at).chain(group.calls.iter().rev().copied());
        let start = frames.into_iter().find_map(|at| {
            let function = &machine.program.functions[at.function];
            let first = ir::cfg::innermost_loop(function, at.block)?;
            Some(Position::start(at.function, first))
        });
        let in_loop = start.is_some();
        let place = machine.place(start.unwrap_or(group.at));
        let stop = match self {
            Self::Instructions => StopReason::Budget { in_loop },
            Self::Time => StopReason::Time { in_loop },
            Self::Memory => StopReason::Memory,
            Self::Interrupted => StopReason::Interrupted,
        };
        let reason = match self {
            Self::Interrupted => format!("was interrupted after {executed} instructions"),
            Self::Memory => {
                format!(
                    "the expressions of its values took too much memory after {executed} instructions"
                )
            }
            Self::Instructions => format!("gave up after {executed} instructions"),
            Self::Time => format!("ran out of time after {executed} instructions"),
        };
        Gap { place, thread, reason, stop }
    }
}
