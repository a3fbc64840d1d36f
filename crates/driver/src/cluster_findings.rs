//! Findings about clusters of blocks: their kinds, properties and messages.

use crate::naming::{element, error_at, thread_label, verb};
use crate::precision::Kernel;
use crate::source_lines::source_lines;
use crate::vocabulary::{FindingKind, PropertyName};
use base::{Code, Diagnostic};
use exec::{ClusterFault, Finding, Launch, Place, Target};
use ir::{Op, Program, SpecialRegister, SyncOp, TensorCopyKind};

/// The remedy for a launch without clusters of a kernel that needs one.
const CLUSTER_HELP: &str = "`--cluster X[,Y[,Z]]` sets the number of blocks of a cluster";

/// Advice for a launch without clusters of a kernel that works with them, with the first such line.
pub(crate) fn missing_cluster(kernel: &Kernel<'_>, launch: &Launch) -> Option<String> {
    if launch.cluster.is_some() {
        return None;
    }
    let mut all = kernel.program.instructions_of(kernel.function);
    let (_, first) = all.find(|(_, one)| works_with_clusters(&one.op))?;
    let line = kernel.source.line(first.span.start);
    Some(format!(
        "the kernel works with clusters of blocks (line {line}), but the launch has none: {CLUSTER_HELP}"
    ))
}

/// Returns `true` if an operation concerns other blocks of a cluster.
fn works_with_clusters(op: &Op) -> bool {
    use SpecialRegister::{ClusterCtaid, ClusterCtarank, ClusterNctaid, ClusterNctarank};
    match op {
        Op::MapShared { .. } | Op::SharedRank { .. } | Op::RemoteStore(_) => true,
        Op::Sync(SyncOp::ClusterBarrier { .. }) => true,
        Op::BulkCopy(copy) => copy.multicast.is_some(),
        Op::TensorCopy(copy) => {
            matches!(&copy.kind, TensorCopyKind::Load { multicast, .. } if multicast.is_some())
        }
        Op::ReadSpecial { special, .. } => {
            matches!(special, ClusterCtaid(_) | ClusterCtarank | ClusterNctaid(_) | ClusterNctarank)
        }
        _ => false,
    }
}

/// The kind of a fault in machine-readable reports.
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
    let plain =
        |code: Code, message: String| error_at(code, finding, message).label(thread_label(finding));
    let also = |diagnostic: Diagnostic, place: Place, text: &str| {
        diagnostic.also_from(place.span, text.to_owned(), source_lines(place, program))
    };
    match fault {
        ClusterFault::Twice { other } => {
            let message = "arrives at the barrier of the cluster again before it has waited there";
            let diagnostic = plain(Code::BarrierMisuse, message.to_owned());
            also(diagnostic, *other, "it arrived here").note(
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
            let message = "lanes of one warp reach different `.aligned` barriers of the cluster";
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
                "{does} shared memory of a rank that does not exist: the cluster has {blocks} blocks, with \
                ranks 0 to {}",
                blocks - 1
            );
            plain(Code::OutOfBounds, message)
        }
        ClusterFault::Mask { mask, blocks } => {
            let named = if *mask == 0 { "no block" } else { "a block that does not exist" };
            let message = format!(
                "the mask {mask:#06x} of a copy to several blocks names {named}: the cluster has {blocks} blocks"
            );
            let diagnostic = plain(Code::AsyncCopy, message);
            if *blocks == 1 { diagnostic.help(CLUSTER_HELP) } else { diagnostic }
        }
        ClusterFault::OwnBlock => {
            let message =
                "writes to the shared memory of the executing block; it must be another block's";
            plain(Code::AsyncCopy, message.to_owned())
        }
        ClusterFault::Alone => {
            let message =
                "an asynchronous store needs a cluster of several blocks, but there is only one";
            plain(Code::AsyncCopy, message.to_owned()).help(CLUSTER_HELP)
        }
        ClusterFault::OtherBlock { destination, mbarrier } => {
            let message = format!(
                "writes to the block of rank {destination} but completes at an mbarrier of rank {mbarrier}: \
                both must be in one block"
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
            "nothing makes this thread wait until rank {rank} has started: add a barrier of the cluster at the start"
        ),
        (true, false) => format!(
            "no thread of rank {rank} waits for this access before it ends: add a barrier of the cluster at \
            the end, or a wait for an mbarrier"
        ),
        (true, true) => format!(
            "no thread of rank {rank} waits for the phase in which the bytes are delivered before it ends"
        ),
    };
    plain(Code::OutOfBounds, message).note(note)
}
