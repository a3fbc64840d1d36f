//! CTA barriers of the block (PTX manual §9.7.13.1).
//!
//! **A registration is an event of a warp.** A thread at a barrier, even for a mere arrival, first waits for
//! all lanes of the warp that have not exited. They must all be at a barrier, and name the same one with the
//! same count. Then the warp counts as 32 threads, however many of its lanes are left. At an aligned barrier they
//! must be at one instruction. A warp that registers twice in one generation counts twice.
//!
//! **A generation** ends when its count of threads has registered. The count is fixed: exiting threads do not
//! lower it (hardware hangs there). A barrier without a count ends when every warp with a thread that has not
//! exited has registered; an exit may bring that about.
//!
//! **Reuse.** The generation of a registration must not depend on the schedule. On a single run the rule is:
//! every registration of the previous generation, arrivals included, must come before it in the waits-for
//! order. Generations of a single warp (count 32) have no partners and need not be ordered among each other. But
//! each of them must come after the last generation with partners, and the next generation with partners after all
//! of them.

use crate::findings::{Findings, Misuse};
use crate::machine::Machine;
use crate::program::{BARRIERS, Barrier, BarrierKind, Op};
use crate::state::{Generation, State, Status, Terms};
use crate::table::Events;

const WARP: u16 = 32;

impl Terms {
    /// Returns `true` if the first registration completes the generation.
    fn is_single_warp(self) -> bool {
        self.count == Some(WARP)
    }
}

impl Machine<'_> {
    /// Registers a warp at a barrier once all its running lanes are at it.
    ///
    /// # Errors
    /// If the registration is not allowed.
    pub(crate) fn register(
        &self,
        state: &mut State,
        warp: usize,
        findings: &mut Findings,
    ) -> Result<(), Misuse> {
        let lanes = self.lanes(warp);
        let mut alive = lanes.filter(|&lane| state.status[lane] != Status::Exited).peekable();
        let Some(&first) = alive.peek() else { return Ok(()) };
        if alive.clone().any(|lane| state.status[lane] != Status::AtBarrier) {
            return Ok(());
        }
        let barrier = self.common_barrier(state, first, alive)?;
        let terms = Terms { count: barrier.count, reduces: barrier.reduces() };
        let id = usize::from(barrier.id);
        admit(&mut state.generations[id], terms, warp)?;
        self.pass_on_knowledge(state, warp, id);
        self.judge_reuse(state, first, id, findings);
        self.perform_registrations(state, warp, id);
        self.complete(state, id, findings);
        Ok(())
    }

    /// Returns the barrier at which all lanes of the warp are; a misuse if they do not agree.
    fn common_barrier(
        &self,
        state: &State,
        first: usize,
        mut alive: impl Iterator<Item = usize> + Clone,
    ) -> Result<Barrier, Misuse> {
        let wanted = self.barrier(state, first);
        let site = |lane: usize| self.table.sites[self.event(state, lane)];
        let all = alive.clone().map(|lane| self.barrier(state, lane));
        if all.clone().any(|other| other.aligned) && alive.any(|lane| site(lane) != site(first)) {
            return Err(Misuse::Divergence);
        }
        for other in all {
            if other.id != wanted.id {
                return Err(Misuse::DifferentBarriers);
            }
            if other.count != wanted.count {
                return Err(Misuse::MixedCounts);
            }
            if other.reduces() != wanted.reduces() {
                return Err(Misuse::MixedReduction);
            }
            let arrives = |barrier: Barrier| matches!(barrier.kind, BarrierKind::Arrive);
            if arrives(other) != arrives(wanted) {
                return Err(Misuse::ArriveAndWait);
            }
        }
        match wanted.count {
            Some(count) if count == 0 || !count.is_multiple_of(WARP) => Err(Misuse::BadCount),
            _ => Ok(wanted),
        }
    }

    fn barrier(&self, state: &State, lane: usize) -> Barrier {
        match self.op(state, lane) {
            Some(Op::Barrier(barrier)) => barrier,
            other => unreachable!("a lane arrived at {other:?}"),
        }
    }

    /// Passes the lanes' knowledge to the generation. The lanes have waited for each other, and for those
    /// that exited.
    fn pass_on_knowledge(&self, state: &mut State, warp: usize, id: usize) {
        let lanes = self.lanes(warp);
        let alive = lanes.clone().filter(|&lane| state.status[lane] != Status::Exited);
        if self.tracked.memory {
            alive
                .clone()
                .for_each(|lane| state.memory.barriers[id].add(state.memory.threads[lane]));
        }
        let Some(history) = &mut state.history else { return };
        let mut waited = Events::NONE;
        lanes.for_each(|lane| waited.add(history.waits.threads[lane]));
        alive.for_each(|lane| history.waits.threads[lane].add(waited));
        history.waits.barriers[id].add(waited);
    }

    /// Records a finding if a registration of an earlier generation does not come before this one.
    fn judge_reuse(&self, state: &State, lane: usize, id: usize, findings: &mut Findings) {
        let Some(history) = &state.history else { return };
        let waited = history.waits.threads[lane];
        let before_partners = history.last_partnered[id].within(waited);
        let before_all = before_partners && history.since_partnered[id].within(waited);
        let is_single_warp = state.generations[id].terms.is_some_and(Terms::is_single_warp);
        findings.reuse |= !if is_single_warp { before_partners } else { before_all };
    }

    /// Performs the lanes' registrations; threads that only arrive continue.
    fn perform_registrations(&self, state: &mut State, warp: usize, id: usize) {
        for lane in self.lanes(warp) {
            if state.status[lane] == Status::Exited {
                continue;
            }
            let event = Events::one(self.event(state, lane));
            let barrier = self.barrier(state, lane);
            state.done.add(event);
            state.generations[id].members.add(event);
            state.generations[id].votes += u8::from(barrier.kind == BarrierKind::Popc(true));
            if self.tracked.memory {
                state.memory.barriers[id].add(event);
            }
            if let Some(history) = &mut state.history {
                history.waits.barriers[id].add(event);
            }
            if barrier.waits() {
                state.status[lane] = Status::Registered;
            } else {
                self.finish_step(state, lane);
            }
        }
    }

    /// Completes barriers without a count: they wait for all warps that have not exited, so an exit may complete them.
    pub(crate) fn complete_barriers_without_count(
        &self,
        state: &mut State,
        findings: &mut Findings,
    ) {
        for id in 0..BARRIERS {
            if state.generations[id].terms.is_some_and(|terms| terms.count.is_none()) {
                self.complete(state, id, findings);
            }
        }
    }

    /// Lets the waiting threads continue if the generation is complete.
    fn complete(&self, state: &mut State, id: usize, findings: &mut Findings) {
        let generation = state.generations[id];
        let Some(terms) = generation.terms else { return };
        let complete = match terms.count {
            Some(count) => u16::from(generation.registrations) * WARP >= count,
            None => self.warps_alive(state) & !generation.warps == 0,
        };
        if !complete {
            return;
        }
        findings.generation(generation.members);
        state.generations[id] = Generation::default();
        self.close_history(state, id, generation);
        for lane in 0..self.table.threads.len() {
            let event = self.event(state, lane);
            if state.status[lane] == Status::Registered
                && Events::one(event).within(generation.members)
            {
                self.release(state, lane, id, generation);
            }
        }
        state.memory.barriers[id] = Events::NONE;
        if let Some(history) = &mut state.history {
            history.waits.barriers[id] = Events::NONE;
        }
    }

    /// Lets a thread continue whose generation is complete.
    fn release(&self, state: &mut State, lane: usize, id: usize, generation: Generation) {
        let event = self.event(state, lane);
        if self.tracked.memory {
            let passed_on_events = state.memory.barriers[id];
            state.memory.threads[lane].add(passed_on_events);
        }
        if let Some(history) = &mut state.history {
            let passed_on_events = history.waits.barriers[id];
            history.waits.threads[lane].add(passed_on_events);
        }
        if let Some(values) = &mut state.values
            && generation.terms.is_some_and(|terms| terms.reduces)
        {
            values.results[event] = u64::from(generation.votes);
        }
        self.finish_step(state, lane);
    }

    /// Records a completed generation in the history, for judging the next one.
    fn close_history(&self, state: &mut State, id: usize, generation: Generation) {
        let uncounted = generation.terms.is_some_and(|terms| terms.count.is_none());
        let is_single_warp = generation.terms.is_some_and(Terms::is_single_warp);
        let exited: Vec<usize> = (0..self.table.threads.len())
            .filter(|&thread| state.status[thread] == Status::Exited)
            .collect();
        let Some(history) = &mut state.history else { return };
        // A barrier without a count has also waited for every exited thread.
        if uncounted {
            for thread in exited {
                let waited = history.waits.threads[thread];
                history.waits.barriers[id].add(waited);
            }
        }
        if is_single_warp {
            history.since_partnered[id].add(generation.members);
        } else {
            history.last_partnered[id] = generation.members;
            history.since_partnered[id] = Events::NONE;
        }
    }

    fn warps_alive(&self, state: &State) -> u8 {
        let threads = self.table.threads.iter().zip(&state.status);
        let alive = threads.filter(|(_, status)| **status != Status::Exited);
        alive.fold(0, |warps, (thread, _)| warps | 1 << thread.warp)
    }
}

/// Counts a registration of a warp for a generation; a misuse if its terms differ from those of earlier ones.
fn admit(generation: &mut Generation, terms: Terms, warp: usize) -> Result<(), Misuse> {
    let agreed = *generation.terms.get_or_insert(terms);
    if agreed.count != terms.count {
        return Err(Misuse::MixedCounts);
    }
    if agreed.reduces != terms.reduces {
        return Err(Misuse::MixedReduction);
    }
    generation.warps |= 1 << warp;
    generation.registrations += 1;
    Ok(())
}
