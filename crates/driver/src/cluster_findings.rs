//! Findings about clusters of blocks: their kinds, properties and messages.

use crate::naming::{at, element, verb, who};
use crate::source_lines::source_lines;
use crate::vocabulary::{FindingKind, PropertyName};
use base::{Code, Diagnostic};
use exec::{ClusterFault, Finding, Gap, Launch, Place, Target};
use ir::{Instr, Op, Program};

/// The remedy for a launch without clusters of a kernel that needs one.
pub(crate) const CLUSTER_HELP: &str =
    "`--cluster X[,Y[,Z]]` sets the number of blocks of a cluster";

/// Did the run stop because the launch has no clusters?
pub(crate) fn lacks_cluster(gap: &Gap, program: &Program, launch: &Launch) -> bool {
    let stops = |one: &Instr| one.span == gap.place.span && matches!(one.op, Op::MapShared { .. });
    launch.cluster_blocks() == 1
        && program.instructions_of(launch.kernel).any(|(_, one)| stops(one))
}

/// The kind of a fault in reports for programs.
pub(crate) fn kind(fault: &ClusterFault) -> FindingKind {
    match fault {
        ClusterFault::Twice { .. }
        | ClusterFault::NotArrived
        | ClusterFault::ArriveAndWait { .. } => FindingKind::BarrierMisuse,
        ClusterFault::Divergent { .. } => FindingKind::BarrierDivergence,
        ClusterFault::Lifetime { .. } | ClusterFault::NoSuchRank { .. } => FindingKind::OutOfBounds,
        ClusterFault::Mask { .. }
        | ClusterFault::OwnBlock
        | ClusterFault::Alone
        | ClusterFault::OtherBlock { .. } => FindingKind::AsyncCopy,
    }
}

/// The property that it refutes.
pub(crate) fn property(fault: &ClusterFault) -> PropertyName {
    match kind(fault) {
        FindingKind::BarrierMisuse | FindingKind::BarrierDivergence => PropertyName::Barriers,
        _ => PropertyName::Bounds,
    }
}

/// The byte it is about, if it is about one.
pub(crate) fn target(fault: &ClusterFault) -> Option<&Target> {
    match fault {
        ClusterFault::Lifetime { target, .. } => Some(target),
        _ => None,
    }
}

/// Formats a fault.
pub(crate) fn describe(fault: &ClusterFault, finding: &Finding, program: &Program) -> Diagnostic {
    let plain = |code: Code, message: String| at(code, finding, message).label(who(finding));
    let also = |diagnostic: Diagnostic, place: Place, text: &str| {
        diagnostic.also_from(place.span, text.to_owned(), source_lines(place, program))
    };
    match fault {
        ClusterFault::Twice { other } => {
            let message = "arrives at the barrier of the cluster again before it has waited there";
            let diagnostic = plain(Code::BarrierMisuse, message.to_owned());
            also(diagnostic, *other, "it has arrived here").note(
                "each thread arrives once and waits (barrier.cluster.wait) before it arrives again",
            )
        }
        ClusterFault::NotArrived => {
            let message = "waits at the barrier of the cluster without having arrived there";
            plain(Code::BarrierMisuse, message.to_owned()).note(
                "barrier.cluster.wait waits for the arrival (barrier.cluster.arrive) before it",
            )
        }
        ClusterFault::Divergent { other } => {
            let message = "lanes of one warp come to different `.aligned` barriers of the cluster";
            also(plain(Code::BarrierDivergence, message.to_owned()), *other, "others are here")
        }
        ClusterFault::ArriveAndWait { other } => {
            let message =
                "some lanes of a warp arrive at the barrier of the cluster and others wait there";
            also(plain(Code::BarrierMisuse, message.to_owned()), *other, "others are here")
        }
        ClusterFault::Lifetime { target, rank, kind, ended, copy } => {
            lifetime(target, (*rank, *ended, *copy), verb(*kind), &plain)
        }
        ClusterFault::NoSuchRank { kind, blocks } => {
            let does = verb(*kind);
            let message = format!(
                "{does} shared memory of a rank that the cluster has not: its {blocks} blocks have ranks 0 to {}",
                blocks - 1
            );
            plain(Code::OutOfBounds, message)
        }
        ClusterFault::Mask { mask, blocks } => {
            let why = if *mask == 0 { "no block" } else { "a block that is not" };
            let message = format!(
                "a copy to several blocks whose mask {mask:#06x} names {why} in the cluster, which has {blocks}"
            );
            let diagnostic = plain(Code::AsyncCopy, message);
            if *blocks == 1 { diagnostic.help(CLUSTER_HELP) } else { diagnostic }
        }
        ClusterFault::OwnBlock => {
            let message =
                "goes to the shared memory of the executing block, and must go to another block's";
            plain(Code::AsyncCopy, message.to_owned())
        }
        ClusterFault::Alone => {
            let message =
                "an asynchronous store needs a cluster of several blocks, and there is one";
            plain(Code::AsyncCopy, message.to_owned()).help(CLUSTER_HELP)
        }
        ClusterFault::OtherBlock { destination, mbarrier } => {
            let message = format!(
                "goes to the block of rank {destination} and is to complete at an mbarrier of rank {mbarrier}: both must be \
                 in one block"
            );
            plain(Code::AsyncCopy, message)
        }
    }
}

/// Formats an access to a block that may have ended.
fn lifetime(
    target: &Target,
    (rank, ended, copy): (u32, bool, bool),
    does: &str,
    plain: &dyn Fn(Code, String) -> Diagnostic,
) -> Diagnostic {
    let what = if copy { "an asynchronous copy or store " } else { "" };
    let place = element(target);
    let when = if ended { "may have ended" } else { "may not have started" };
    let message = format!("{what}{does} {place}, and the block of rank {rank} {when}");
    let note = match (ended, copy) {
        (false, _) => format!(
            "nothing makes this thread wait for a thread of rank {rank} before: a barrier of the cluster at the start does"
        ),
        (true, false) => format!(
            "no thread of rank {rank} waits for this access before it ends: a barrier of the cluster at the end does, or a wait \
             for an mbarrier"
        ),
        (true, true) => format!(
            "no thread of rank {rank} waits for the phase in which the bytes are delivered before it ends"
        ),
    };
    plain(Code::OutOfBounds, message).note(note)
}
