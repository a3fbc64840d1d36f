//! Runs a launch: all blocks one after the other, and in a block all threads from barrier to barrier. A single thread
//! can run alone.

use crate::arithmetic::Arithmetic;
use crate::claims;
use crate::contents::{NONE_ALLOWED, TOO_MANY_RELATED};
use crate::history::History;
use crate::launch::Thread;
use crate::machine::{Halt, Machine, State, WARP};
use crate::outcome::{Contents, End, Run};
use crate::unwritten::Unwritten;
use base::mix64;

impl<'k> Machine<'k> {
    /// Runs to the end; returns the initial contents and the recorded stores.
    pub(crate) fn history(mut self, wide: bool) -> Option<(Contents, History)> {
        self.history = Some(History::default());
        self.wide = wide;
        self.draw_related_contents().ok()?;
        let before = self.contents();
        self.run_grid().ok()?;
        self.history.filter(|_| self.events.is_empty()).map(|history| (before, history))
    }

    /// Runs the launch, or one thread of it alone.
    pub(crate) fn run(mut self, only: Option<Thread>) -> Run {
        self.runs_one_thread = only.is_some();
        // Orders of warps and fences are not modelled, so a store may only seem to be missing.
        let is_ordered = !self.runs_one_thread && !self.has_warps && !self.kernel.fences;
        self.unwritten = is_ordered.then(Unwritten::default);
        let result = match only {
            Some(thread) => self.run_thread_alone(thread),
            None => self.draw_related_contents().and_then(|()| self.run_and_test_claims()),
        };
        let mut end = match result {
            Ok(()) => End::Complete,
            Err(Halt::Stopped(why)) => End::Stopped(why),
            Err(Halt::Event(_)) if self.rounding.decides() => End::Stopped(ROUNDED),
            Err(Halt::Event(event)) => {
                self.events.push(*event);
                End::Event
            }
        };
        // After a race, a missing store may be a consequence.
        if self.events.is_empty() && !self.rounding.decides() {
            self.events.extend(self.unwritten.take().and_then(Unwritten::first_use));
        }
        let events = std::mem::take(&mut self.events);
        let any = !events.is_empty();
        let events = self.allowed_events(events);
        if any && events.is_empty() {
            end = End::Stopped(NONE_ALLOWED);
        }
        Run { events, end, steps: self.steps, drew_constrained: self.drew_constrained }
    }

    /// Runs all blocks, then tests the contract's claims about the end; after a race the final contents are
    /// indefinite.
    fn run_and_test_claims(&mut self) -> Result<(), Halt> {
        if self.kernel.ensures.is_empty() {
            return self.run_grid();
        }
        let before = self.contents();
        self.run_grid()?;
        if !self.events.is_empty() || self.rounding.decides() {
            return Ok(());
        }
        let after = self.contents();
        match claims::failed_postcondition(self.kernel, self.launch, [&before, &after]) {
            Some(event) => Err(Halt::Event(Box::new(event))),
            None => Ok(()),
        }
    }

    /// Runs to the end; returns initial and final contents.
    pub(crate) fn run_for_contents(mut self) -> Result<(Contents, Contents), Run> {
        // Another kernel names other numbers, and both must get the same contents.
        self.numbers.clear();
        let prepared = self.draw_related_contents();
        let before = self.contents();
        let end = match prepared.and_then(|()| self.run_grid()) {
            Ok(()) if self.rejects_undecided && self.rounding.decides() => End::Stopped(ROUNDED),
            Ok(()) if self.events.is_empty() && !self.has_allowed_contents() => {
                End::Stopped(NONE_ALLOWED)
            }
            Ok(()) if self.events.is_empty() => {
                return Ok((before, self.contents()));
            }
            Ok(()) => End::Event,
            Err(Halt::Stopped(why)) => End::Stopped(why),
            Err(Halt::Event(event)) => {
                self.events.push(*event);
                End::Event
            }
        };
        Err(Run {
            events: self.events,
            end,
            steps: self.steps,
            drew_constrained: self.drew_constrained,
        })
    }

    /// Runs to the end.
    pub(crate) fn run_to_end(&mut self) -> Result<(), Halt> {
        self.draw_related_contents()?;
        self.run_grid()
    }

    /// Runs a thread through its barriers.
    fn run_thread_alone(&mut self, at: Thread) -> Result<(), Halt> {
        match self.draw_related_contents() {
            Ok(()) | Err(Halt::Stopped(TOO_MANY_RELATED)) => {}
            Err(halt) => return Err(halt),
        }
        let mut state = self.new_thread(at, 0);
        while !state.ended {
            self.step(&mut state)?;
        }
        Ok(())
    }

    /// Runs all blocks.
    fn run_grid(&mut self) -> Result<(), Halt> {
        let [width, height, depth] = self.launch.grid;
        let mut number = 0;
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    self.run_block([x, y, z], number)?;
                    number += 1;
                }
            }
        }
        Ok(())
    }

    /// Runs a block, interval by interval. The order of its threads depends on the seed.
    fn run_block(&mut self, block: [i128; 3], number: u64) -> Result<(), Halt> {
        self.shared.clear();
        self.between_threads.clear();
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.new_block();
        }
        let [width, height, depth] = self.launch.block;
        let mut threads = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let at = Thread { block, thread: [x, y, z] };
                    threads.push(self.new_thread(at, threads.len() as u64));
                }
            }
        }
        let mut interval = 0;
        while threads.iter().any(|state| !state.ended) {
            // The first thread depends on the seed and changes from interval to interval.
            let seed = self.launch.seed ^ self.compiled.as_ref().map_or(0, Arithmetic::order_seed);
            let first = mix64(seed ^ number << 32 ^ interval) as usize % threads.len();
            let backwards = interval % 2 == 1;
            interval += 1;
            for position in 0..threads.len() {
                let position = if backwards { threads.len() - 1 - position } else { position };
                let chosen = (first + position) % threads.len();
                let state = &mut threads[chosen];
                while !state.ended && state.waits.is_none() && !state.waits_for_warp {
                    self.step(state)?;
                }
            }
            if threads.iter().any(|state| state.waits_for_warp) {
                release_warps(&mut threads)?;
            } else {
                self.check_barrier(&mut threads)?;
            }
        }
        Ok(())
    }
}

/// A run stops with this where its result may depend on rounding.
pub(crate) const ROUNDED: &str = "rounding may decide the result";

/// Resumes warps whose threads all wait for each other at one place.
fn release_warps(threads: &mut [State<'_>]) -> Result<(), Halt> {
    let mut any_released = false;
    for warp in threads.chunks_mut(WARP as usize) {
        let mut waiting = warp.iter().filter(|state| state.waits_for_warp);
        let Some(place) = waiting.next().map(|state| state.pc) else { continue };
        if warp.iter().all(|state| state.ended || state.waits_for_warp && state.pc == place) {
            any_released = true;
            warp.iter_mut().for_each(|state| state.waits_for_warp = false);
        }
    }
    match any_released {
        true => Ok(()),
        false => Err(Halt::Stopped("not all threads of a warp reach this point")),
    }
}
