//! Collectives of a warp: `bar.warp.sync`, `shfl.sync`, `vote.sync` (PTX manual §9.7.9.6, §9.7.13).
//!
//! A lane is at one collective at a time. It proceeds when every lane named by its mask that has not exited
//! is at the same operation with the same mask. The manual requires the same qualifiers and mask, not the
//! same instruction, and so do we. An exchange of values across instructions is recorded, because hardware
//! executes an instruction for the lanes that are at it.
//!
//! All of them make lanes wait. Only `bar.warp.sync` orders memory. A shuffle from an exited lane gives an
//! undefined value, which the emitted kernel stores: that is a finding.

use crate::findings::Findings;
use crate::machine::Machine;
use crate::program::{LaneMask, Op};
use crate::state::{State, Status};
use crate::table::Events;
use crate::values::offered;

/// A complete collective.
struct CompleteCollective {
    /// The participating threads.
    threads: Vec<usize>,
    mask: LaneMask,
}

impl Machine<'_> {
    /// Completes each collective of a warp that all its lanes have reached.
    pub(crate) fn complete_collectives(
        &self,
        state: &mut State,
        warp: usize,
        findings: &mut Findings,
    ) {
        while let Some(collective) = self.find_complete(state, warp) {
            self.exchange(state, warp, &collective, findings);
            self.order_participants(state, warp, &collective);
            collective.threads.iter().for_each(|&thread| self.finish_step(state, thread));
        }
    }

    fn find_complete(&self, state: &State, warp: usize) -> Option<CompleteCollective> {
        let lanes = self.lanes(warp);
        lanes.clone().filter(|&lane| state.status[lane] == Status::AtCollective).find_map(|lane| {
            let op = self.op(state, lane)?;
            let mask = op.lanes()?;
            let named = lanes.clone().filter(|&other| {
                mask >> self.table.threads[other].lane & 1 != 0
                    && state.status[other] != Status::Exited
            });
            let all_present = named.clone().all(|other| self.is_at(state, other, op, mask));
            all_present.then(|| CompleteCollective { threads: named.collect(), mask })
        })
    }

    /// Returns `true` if a lane is at the same operation with the same mask.
    fn is_at(&self, state: &State, lane: usize, op: Op, mask: LaneMask) -> bool {
        state.status[lane] == Status::AtCollective
            && self.op(state, lane).is_some_and(|other| {
                std::mem::discriminant(&other) == std::mem::discriminant(&op)
                    && other.lanes() == Some(mask)
            })
    }

    /// Orders the participants' earlier events before their next steps: in waits-for, and for `bar.warp.sync` in
    /// orders-memory too.
    fn order_participants(&self, state: &mut State, warp: usize, collective: &CompleteCollective) {
        let orders_memory =
            |&&thread: &&usize| matches!(self.op(state, thread), Some(Op::WarpSync(_)));
        if self.tracked.memory && collective.threads.iter().any(|thread| orders_memory(&thread)) {
            let mut known = Events::NONE;
            let threads = &mut state.memory.threads;
            collective.threads.iter().for_each(|&thread| known.add(threads[thread]));
            collective.threads.iter().for_each(|&thread| threads[thread].add(known));
        }
        let events: Vec<usize> =
            collective.threads.iter().map(|&thread| self.event(state, thread)).collect();
        let Some(history) = &mut state.history else { return };
        let threads = &mut history.waits.threads;
        let mut waited = Events::NONE;
        events.iter().for_each(|&event| waited.add(Events::one(event)));
        // Named lanes that do not take part have exited, and the others waited for that.
        for lane in self.lanes(warp) {
            if collective.mask >> self.table.threads[lane].lane & 1 != 0 {
                waited.add(threads[lane]);
            }
        }
        collective.threads.iter().for_each(|&thread| threads[thread].add(waited));
    }

    /// Computes the results of a shuffle or vote.
    fn exchange(
        &self,
        state: &mut State,
        warp: usize,
        collective: &CompleteCollective,
        findings: &mut Findings,
    ) {
        for &thread in &collective.threads {
            let result = match self.op(state, thread) {
                Some(Op::Shuffle { from, .. }) => {
                    let partner = self
                        .lanes(warp)
                        .find(|&lane| self.table.threads[lane].lane == from)
                        .filter(|lane| collective.threads.contains(lane));
                    findings.undefined |= partner.is_none();
                    partner.map_or(0, |lane| offered(self.event(state, lane)))
                }
                Some(Op::Vote { .. }) => self.ballot(state, collective),
                _ => continue,
            };
            let event = self.event(state, thread);
            if let Some(values) = &mut state.values {
                values.results[event] = u64::from(result);
            }
        }
    }

    fn ballot(&self, state: &State, collective: &CompleteCollective) -> u32 {
        let voters = collective.threads.iter().filter(|&&thread| {
            matches!(self.op(state, thread), Some(Op::Vote { predicate: true, .. }))
        });
        voters.fold(0, |ballot, &thread| ballot | 1 << self.table.threads[thread].lane)
    }
}
