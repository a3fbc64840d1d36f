//! Threads at the barriers of their block: registration of warps, misuse, and release.
//! [`sync::Order::arrive`] defines the meaning of a registration.

use crate::arrival::{Arrival, BarrierArrival, BarrierUse, Unawaited, Votes};
use crate::block::BlockRun;
use crate::finding::{BarrierFault, Fault, Gap, Place};
use crate::lanes::{Mask, WARP};
use crate::position::Position;
use crate::tags::{Source, Tags};
use crate::warp::State;
use ir::{BarrierKind, Op, SyncOp};
use sync::{BarrierMisuse, BarrierReuse, Registration, Site};

impl BlockRun<'_, '_> {
    /// Registers a warp if all its running lanes have come to a barrier. Returns `true` if it registered the warp.
    pub(crate) fn register(&mut self, number: usize) -> Result<bool, Gap> {
        let warp = &self.warps[number];
        let arrivals: Vec<(Mask, Position, Arrival)> = warp
            .groups
            .iter()
            .filter_map(|group| match group.state {
                State::Barrier { arrival, registered: false } => {
                    Some((group.lanes, group.at, arrival))
                }
                _ => None,
            })
            .collect();
        if arrivals.len() < warp.groups.len() {
            return Ok(false);
        }
        let Some(&(_, at, Arrival { id, .. })) = arrivals.first() else { return Ok(false) };
        let lanes = warp.alive();
        self.check_warp(number, &arrivals)?;
        let waiting = arrivals.iter().filter(|(.., arrival)| arrival.waits);
        let registration = Registration {
            warp: number,
            lanes,
            waiting: waiting.fold(Mask::NONE, |all, (lanes, ..)| all.or(*lanes)),
            count: arrivals.iter().find_map(|(.., arrival)| arrival.count),
            reduces: arrivals.iter().any(|(.., arrival)| arrival.votes.is_some()),
            site: self.machine.site(at),
        };
        match self.tracker.arrive(id, registration) {
            Ok(None) => {}
            Ok(Some(reuse)) => self.report_reuse(number, at, id, reuse),
            Err(misuse) => {
                let fault = self.misuse(misuse);
                return Err(self.stop(number, at, fault));
            }
        }
        self.tracker.note_event(number, registration.lanes, registration.site);
        self.report.syncs.block += u64::from(lanes.count());
        for votes in arrivals.iter().filter_map(|(.., arrival)| arrival.votes) {
            self.votes[self.warps[number].rank][usize::from(id)].add(votes);
        }
        for group in &mut self.warps[number].groups {
            let State::Barrier { arrival, .. } = group.state else { continue };
            if arrival.waits {
                group.state = State::Barrier { arrival, registered: true };
            } else {
                group.state = State::Ready;
                group.at = group.at.next();
            }
        }
        let rank = self.warps[number].rank;
        if self.tracker.is_complete(rank, id) {
            self.release(rank, id);
        }
        Ok(true)
    }

    /// Retries collectives after exits: exited lanes are no longer awaited.
    pub(crate) fn retry_collectives(&mut self) -> bool {
        let mut progress = false;
        for warp in &mut self.warps {
            let alive = warp.alive();
            if warp.retried == alive {
                continue;
            }
            warp.retried = alive;
            for group in &mut warp.groups {
                if matches!(group.state, State::AtCollective(_) | State::WarpBarrier(_)) {
                    group.state = State::Ready;
                    progress = true;
                }
            }
        }
        progress
    }

    /// Ends the run with a finding if lanes of a warp use a barrier in incompatible ways.
    fn check_warp(
        &mut self,
        number: usize,
        arrivals: &[(Mask, Position, Arrival)],
    ) -> Result<(), Gap> {
        let Some(((_, at, first), others)) = arrivals.split_first() else { return Ok(()) };
        for (_, elsewhere, other) in others {
            let place = self.machine.place(*elsewhere);
            let fault = if first.id != other.id {
                BarrierFault::DifferentBarriers { ids: [first.id, other.id], other: place }
            } else if at != elsewhere && (first.aligned || other.aligned) {
                BarrierFault::Divergent { other: place }
            } else if first.count != other.count {
                let (here, before) = (other.count, first.count);
                BarrierFault::MixedCounts { here, before, other: place }
            } else if first.votes.is_some() != other.votes.is_some() {
                BarrierFault::MixedKinds { other: place }
            } else if first.waits != other.waits {
                BarrierFault::ArriveAndWait { other: place }
            } else {
                continue;
            };
            return Err(self.stop(number, *at, fault));
        }
        Ok(())
    }

    fn misuse(&self, misuse: BarrierMisuse) -> BarrierFault {
        let place = |site| self.machine.site_place(site);
        match misuse {
            BarrierMisuse::Count(count) => BarrierFault::Count { count },
            BarrierMisuse::MixedCounts { here, before, site } => {
                BarrierFault::MixedCounts { here, before, other: place(site) }
            }
            BarrierMisuse::MixedKinds { site } => BarrierFault::MixedKinds { other: place(site) },
        }
    }

    /// Records a misuse and ends the run: the manual does not define what follows.
    fn stop(&mut self, warp: usize, at: Position, fault: BarrierFault) -> Gap {
        let lanes = self.warps[warp].alive();
        self.with_context(warp, at, lanes, |context| {
            context.record_fault(Fault::Barrier(fault), lanes);
            context.gap("behaviour after a misused barrier is undefined")
        })
    }

    fn report_reuse(&mut self, warp: usize, at: Position, id: u8, reuse: BarrierReuse) {
        let (earlier, site) = reuse.earlier;
        let other: Place = self.machine.site_place(site);
        let lanes = self.warps[warp].alive();
        let thread = self.thread(earlier, 0);
        self.unawaited.reused |= 1 << id;
        let fault = BarrierFault::Reuse { id, generation: reuse.generation, other, thread };
        self.with_context(warp, at, lanes, |context| {
            context.record_fault(Fault::Barrier(fault), lanes)
        });
    }

    /// Releases the threads that wait at a barrier, with the result of its reduction.
    pub(crate) fn release(&mut self, rank: usize, id: u8) {
        self.record_use(rank, id, true);
        self.record_unawaited(rank, id);
        let votes = std::mem::take(&mut self.votes[rank][usize::from(id)]);
        let released = self.tracker.release(rank, id);
        self.report_mixed_sites(&released.sites, rank, id);
        for (warp, _) in released.waiting {
            for group in 0..self.warps[warp].groups.len() {
                let here = &self.warps[warp].groups[group];
                let waits = matches!(here.state, State::Barrier { arrival, registered: true }
                    if arrival.id == id);
                if !waits {
                    continue;
                }
                let (at, lanes) = (here.at, here.lanes);
                self.deliver_votes(warp, at, lanes, votes);
                let group = &mut self.warps[warp].groups[group];
                group.state = State::Ready;
                group.at = at.next();
            }
        }
    }

    /// Keeps the current generation of a barrier if no thread waits for it.
    fn record_unawaited(&mut self, rank: usize, id: u8) {
        let generation = self.tracker.generation(rank, id);
        let Some(first) = generation.registrations.first() else { return };
        let waits = |one: &Registration| !one.waiting.is_empty();
        let known = |(site, ..): &(Site, usize, BarrierFault)| *site == first.site;
        if generation.registrations.iter().any(waits) || self.unawaited.arrivals.iter().any(known) {
            return;
        }
        let arrived = (generation.registrations.len() * WARP) as u32;
        let fault = BarrierFault::Unawaited { id, count: generation.count, arrived };
        self.unawaited.arrivals.push((first.site, first.warp, fault));
    }

    /// Reports arrivals that no thread waited for. Call it once all threads have ended.
    pub(crate) fn report_unawaited(&mut self) {
        for rank in 0..self.votes.len() {
            (0..16).for_each(|id| self.record_unawaited(rank, id));
        }
        let Unawaited { arrivals, reused } = std::mem::take(&mut self.unawaited);
        for (site, warp, fault) in arrivals {
            let is_reused =
                matches!(fault, BarrierFault::Unawaited { id, .. } if reused >> id & 1 == 1);
            if !is_reused {
                let (place, thread) = (self.machine.site_place(site), self.thread(warp, 0));
                self.report.record_fault(Fault::Barrier(fault), place, thread);
            }
        }
    }

    /// Records the warps at a barrier if uses are requested; for a cluster, those of the first block.
    fn record_use(&mut self, rank: usize, id: u8, complete: bool) {
        if !self.tracker.records_uses() || rank != 0 {
            return;
        }
        let generation = self.tracker.generation(rank, id);
        let arrival = |(one, &time): (&Registration, &sync::Time)| BarrierArrival {
            warp: one.warp,
            place: self.machine.site_place(one.site),
            waits: !one.waiting.is_empty(),
            time,
        };
        let registered = generation.registrations.iter().zip(&generation.times);
        let arrivals: Vec<BarrierArrival> = registered.map(arrival).collect();
        if !arrivals.is_empty() {
            let count = generation.count;
            self.report.barrier_uses.push(BarrierUse { id, count, arrivals, complete });
        }
    }

    /// Records the incomplete uses of barriers.
    pub(crate) fn record_open_uses(&mut self) {
        (0..16).for_each(|id| self.record_use(0, id, false));
        self.record_phases();
    }

    /// Notes threads that waited at different aligned instructions: the manual forbids it, current hardware
    /// allows it.
    fn report_mixed_sites(&mut self, sites: &[Site], rank: usize, id: u8) {
        let is_aligned = |site: &&Site| {
            let op = self.machine.op(**site);
            matches!(op, Some(Op::Sync(SyncOp::Barrier { aligned: true, .. })))
        };
        let mut aligned = sites.iter().filter(is_aligned);
        if let (Some(&first), Some(&second)) = (aligned.next(), aligned.next()) {
            let other = self.machine.site_place(second);
            let fault = Fault::Barrier(BarrierFault::DifferentSites { id, other });
            let warp = rank * self.machine.launch.warps();
            let (place, thread) = (self.machine.site_place(first), self.thread(warp, 0));
            self.report.record_fault(fault, place, thread);
        }
    }

    fn deliver_votes(&mut self, warp: usize, at: Position, lanes: Mask, votes: Votes) {
        let machine = self.machine;
        let Some(Op::Sync(SyncOp::Barrier { kind, .. })) = machine.op_at(at) else {
            return;
        };
        let tags = match (votes.unknown, votes.schedule_dependent) {
            (_, true) => Tags::unknown(Mask::ALL, Source::Stored),
            (true, false) => Tags::unknown(Mask::ALL, Source::Data),
            (false, false) => Tags::NUMBER,
        };
        let truth = |holds: bool| if holds { Mask::ALL } else { Mask::NONE };
        self.with_context(warp, at, lanes, |context| match kind {
            BarrierKind::Sync | BarrierKind::Arrive => {}
            BarrierKind::Popc { dst, .. } => {
                context.write(*dst, &[u64::from(votes.yes); WARP], tags);
            }
            BarrierKind::And { dst, .. } => {
                context.write_predicate(*dst, truth(votes.yes == votes.all), tags);
            }
            BarrierKind::Or { dst, .. } => {
                context.write_predicate(*dst, truth(votes.yes > 0), tags);
            }
        });
    }
}
