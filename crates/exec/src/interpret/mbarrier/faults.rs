//! Reports misuses of mbarriers and other findings about them.

use super::LaneGroup;
use crate::context::Context;
use crate::finding::{Fault, Gap};
use crate::interpret::access::allocation;
use crate::lanes::Mask;
use crate::mbarrier_fault::{MbarrierFault, MbarrierFaultKind, Other};
use sync::{
    LaneId, MbarrierFinding, MbarrierId, MbarrierMisuse, MbarrierReuse, MbarrierStop, Site,
};

/// Records an error that ends the run.
pub(super) fn explain_stop(
    context: &mut Context<'_, '_>,
    group: &LaneGroup,
    stop: MbarrierStop,
) -> Gap {
    let misuse = match stop {
        MbarrierStop::Misuse(misuse) => misuse,
        MbarrierStop::Undecided(who) => {
            let place = context.machine.site_place(who.site);
            let reason =
                "it is not decided if these bytes are announced before the mbarrier's phase ends";
            return Gap { place, ..context.gap(reason) };
        }
        MbarrierStop::NoneExpected => {
            return context.gap("this mbarrier expects no more arrivals");
        }
    };
    let place = |site: Site| context.machine.site_place(site);
    let other = |who: sync::Lanes| other(context, who.first(), who.site);
    let kind = match misuse {
        MbarrierMisuse::NotLive => MbarrierFaultKind::NotLive,
        MbarrierMisuse::Live(site) => MbarrierFaultKind::Initialised { other: place(site) },
        MbarrierMisuse::Count(count) => MbarrierFaultKind::Count { count },
        MbarrierMisuse::TooMany { pending, count } => MbarrierFaultKind::TooMany { pending, count },
        MbarrierMisuse::Range => MbarrierFaultKind::Range,
        MbarrierMisuse::NotAnnounced { bytes } => MbarrierFaultKind::NotAnnounced { bytes },
        MbarrierMisuse::Late(who) => MbarrierFaultKind::Late(other(who)),
        MbarrierMisuse::Completes(who) => MbarrierFaultKind::Completes(other(who)),
        MbarrierMisuse::OtherState => MbarrierFaultKind::OtherState,
        MbarrierMisuse::OldState { named, current } => {
            MbarrierFaultKind::OldState { named, current }
        }
    };
    report_fault(context, group.id, kind, group.lanes);
    context.gap("behaviour after a misused mbarrier is undefined")
}

/// Describes the action of another lane, for a finding.
fn other(context: &Context<'_, '_>, who: LaneId, site: Site) -> Other {
    let launch = context.machine.launch;
    let thread = launch.thread(context.unit, who.warp.into(), who.lane.into());
    Other { thread, place: context.machine.site_place(site) }
}

/// Reports findings other than errors that end the run.
pub(super) fn report_findings(context: &mut Context<'_, '_>) {
    for (who, id, finding) in context.tracker.take_mbarrier_findings() {
        let kind = match finding {
            MbarrierFinding::Unobserved(phase) => MbarrierFaultKind::Unobserved { phase },
            MbarrierFinding::Reuse(MbarrierReuse::Contribution { phase, earlier }) => {
                let other = other(context, earlier.first(), earlier.site);
                MbarrierFaultKind::EarlyContribution { phase, other }
            }
            MbarrierFinding::Reuse(MbarrierReuse::Early { phase, earlier }) => {
                let other = other(context, earlier.first(), earlier.site);
                MbarrierFaultKind::EarlyWait { phase, other }
            }
            MbarrierFinding::Reuse(MbarrierReuse::Overtaken { phase, wait }) => {
                let other = other(context, wait.who, wait.site);
                MbarrierFaultKind::Overtaken { phase, other }
            }
        };
        report_fault(context, id, kind, who.lanes);
    }
}

fn report_fault(
    context: &mut Context<'_, '_>,
    id: MbarrierId,
    kind: MbarrierFaultKind,
    lanes: Mask,
) {
    let Some((area, offset)) = context.tracker.mbarrier_place(id) else { return };
    let Some((memory, ..)) = allocation(context, area, 0) else { return };
    let target = memory.target(offset);
    context.record_fault(Fault::Mbarrier(Box::new(MbarrierFault { target, kind })), lanes);
}

/// Records an ordinary access to the bytes of a live mbarrier, if there was one.
pub(crate) fn check_plain_access(context: &mut Context<'_, '_>) -> Result<(), Gap> {
    let Some((lanes, area, offset, site)) = context.tracker.take_mbarrier_access() else {
        return Ok(());
    };
    let place = context.machine.site_place(site);
    let Some((memory, ..)) = allocation(context, area, 0) else { return Ok(()) };
    let kind = MbarrierFaultKind::PlainAccess { other: place };
    let fault = MbarrierFault { target: memory.target(offset), kind };
    context.record_fault(Fault::Mbarrier(Box::new(fault)), lanes);
    Err(context.gap("an ordinary access to an mbarrier is undefined"))
}
