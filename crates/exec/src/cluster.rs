//! Threads at their cluster barrier (PTX manual §9.7.13.3), and accesses to blocks that may have ended.
//!
//! A warp arrives, or waits, when all its running lanes have come. [`sync::Order`] defines the meaning.

use crate::address::{Area, MAX_SHARED};
use crate::arrival::ClusterArrival;
use crate::block::BlockRun;
use crate::cluster_fault::ClusterFault;
use crate::finding::{AccessKind, Fault, Gap, Place, StopReason, WaitKind};
use crate::interpret::remote::is_copy;
use crate::lanes::WARP;
use crate::machine::Machine;
use crate::position::Position;
use crate::warp::State;
use ir::{MbarrierOp, Op, SyncOp};
use std::num::NonZeroU16;
use sync::ClusterMisuse;

impl BlockRun<'_, '_> {
    /// Registers a warp if all its running lanes have come to the cluster barrier. Returns `true` if it registered the
    /// warp.
    pub(crate) fn register_at_cluster(&mut self, number: usize) -> Result<bool, Gap> {
        let warp = &self.warps[number];
        let come = |state: State| match state {
            State::Cluster { arrival, registered: false } => Some(arrival),
            _ => None,
        };
        let arrivals: Vec<(Position, ClusterArrival)> =
            warp.groups.iter().filter_map(|group| Some((group.at, come(group.state)?))).collect();
        if arrivals.len() < warp.groups.len() {
            return Ok(false);
        }
        let Some(&(at, first)) = arrivals.first() else { return Ok(false) };
        if let Some(fault) = self.disagreement(&arrivals) {
            return Err(self.stop_at_cluster(number, at, fault));
        }
        let (lanes, site) = (warp.alive(), self.machine.site(at));
        // If the arrival of any lane is relaxed, so is that of the warp.
        let releases = arrivals.iter().all(|(_, arrival)| arrival.releases);
        let outcome = match first.waits {
            true => self.tracker.wait_at_cluster(number),
            false => self.tracker.arrive_at_cluster((number, lanes, site), releases),
        };
        if let Err(misuse) = outcome {
            let fault = match misuse {
                ClusterMisuse::Twice { site } => {
                    ClusterFault::Twice { other: self.machine.site_place(site) }
                }
                ClusterMisuse::NotArrived => ClusterFault::NotArrived,
            };
            return Err(self.stop_at_cluster(number, at, fault));
        }
        self.report.syncs.block += u64::from(lanes.count());
        if !first.waits {
            self.tracker.note_event(number, lanes, site);
        }
        for group in &mut self.warps[number].groups {
            let State::Cluster { arrival, .. } = group.state else { continue };
            match first.waits {
                true => group.state = State::Cluster { arrival, registered: true },
                false => (group.state, group.at) = (State::Ready, group.at.next()),
            }
        }
        Ok(true)
    }

    /// Returns a fault if some lanes of a warp arrive and others wait, or if they are at different instructions, one
    /// of them `.aligned`.
    fn disagreement(&self, arrivals: &[(Position, ClusterArrival)]) -> Option<ClusterFault> {
        let ((at, first), others) = arrivals.split_first()?;
        others.iter().find_map(|(elsewhere, other)| {
            let place = self.machine.place(*elsewhere);
            if first.waits != other.waits {
                Some(ClusterFault::ArriveAndWait { other: place })
            } else if at != elsewhere && (first.aligned || other.aligned) {
                Some(ClusterFault::Divergent { other: place })
            } else {
                None
            }
        })
    }

    /// Records a misuse and ends the run: the manual does not define what follows.
    fn stop_at_cluster(&mut self, warp: usize, at: Position, fault: ClusterFault) -> Gap {
        let lanes = self.warps[warp].alive();
        self.with_context(warp, at, lanes, |context| {
            context.record_fault(Fault::Cluster(Box::new(fault)), lanes);
            context.gap("behaviour after a misused barrier is undefined")
        })
    }

    /// Lets warps continue that wait at a complete cluster barrier. Returns `true` if there were any.
    pub(crate) fn resume_at_cluster(&mut self) -> bool {
        let mut progress = false;
        for number in 0..self.warps.len() {
            let waits = |state: State| matches!(state, State::Cluster { registered: true, .. });
            let warp = &self.warps[number];
            let Some(at) = warp.groups.iter().find(|group| waits(group.state)).map(|g| g.at) else {
                continue;
            };
            let lanes = warp.alive();
            if !self.tracker.resume_at_cluster(number, lanes) {
                continue;
            }
            self.tracker.note_event(number, lanes, self.machine.site(at));
            for group in self.warps[number].groups.iter_mut().filter(|group| waits(group.state)) {
                (group.state, group.at) = (State::Ready, group.at.next());
            }
            progress = true;
        }
        progress
    }

    /// Describes a wait at the cluster barrier, for a deadlock report.
    pub(crate) fn cluster_wait(&self) -> WaitKind {
        let (generation, arrived, missing) = self.tracker.cluster_status().unwrap_or_default();
        let exited = self.warps.iter().filter(|warp| warp.groups.is_empty()).count();
        WaitKind::Cluster {
            generation,
            arrived: (arrived * WARP) as u32,
            missing: missing.map(|warp| self.thread(warp, 0)),
            exited: (exited * WARP) as u32,
        }
    }

    /// Reports, at the end of a cluster, accesses to blocks that may have ended before.
    pub(crate) fn report_late_accesses(&mut self) {
        for (access, lane, area, offset) in self.tracker.take_late_accesses() {
            let Area::Shared(number) = area else { continue };
            let Some(memory) = self.shared.get(number) else { continue };
            let op = self.machine.op(access.site);
            let fault = ClusterFault::Lifetime {
                target: memory.target(offset),
                rank: access.block as u32,
                kind: kind(op),
                ended: true,
                copy: is_copy(op),
            };
            let place = self.machine.site_place(access.site);
            let thread = self.thread(access.warp, lane);
            self.report.record_fault(Fault::Cluster(Box::new(fault)), place, thread);
        }
        self.report.assumed_scopes.extend(self.tracker.take_assumed_scopes());
    }
}

impl Machine<'_> {
    /// Warps of a block, if several blocks run together.
    pub(crate) fn block_warps(&self) -> Option<NonZeroU16> {
        let warps = u16::try_from(self.launch.warps()).ok().and_then(NonZeroU16::new);
        warps.filter(|_| self.blocks > 1)
    }

    /// Checks that addresses can tell apart the shared variables of all blocks of a cluster. One more number is
    /// kept for addresses that point nowhere.
    pub(crate) fn check_windows(&self) -> Result<(), Gap> {
        if self.blocks == 1 || self.shared.len().saturating_mul(self.blocks) < MAX_SHARED {
            return Ok(());
        }
        let place = Place { span: self.kernel().span, location: None };
        let reason = format!(
            "the blocks of a cluster together have more than {} shared variables",
            MAX_SHARED - 1
        );
        Err(Gap { place, thread: None, reason, stop: StopReason::NotFollowed })
    }
}

/// The kind of an instruction's access to the memory of another block.
fn kind(op: Option<&Op>) -> AccessKind {
    match op {
        Some(Op::Load(_)) => AccessKind::Read,
        Some(Op::Atomic(_)) => AccessKind::Atomic,
        Some(Op::Sync(SyncOp::Mbarrier(mbarrier))) => match mbarrier.op {
            MbarrierOp::Init(_) | MbarrierOp::Inval => AccessKind::Write,
            _ => AccessKind::Atomic,
        },
        Some(Op::RemoteStore(store)) if store.reduce.is_some() => AccessKind::Atomic,
        _ => AccessKind::Write,
    }
}
