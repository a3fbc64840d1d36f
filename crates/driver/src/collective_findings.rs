//! Formats faults of collectives as diagnostics: wrong masks and lanes, warp groups that diverge.

use crate::source_lines::source_lines;
use base::{Code, Diagnostic};
use exec::{Finding, GroupFault, Place};
use ir::Program;

/// A lane that uses a mask without itself.
pub(crate) fn not_in_mask(mask: u32, (finding, who): (&Finding, String)) -> Diagnostic {
    let message = format!("the lane mask {mask:#010x} does not name the lane that uses it");
    Diagnostic::error(Code::WarpCollective, finding.place.span, message).label(who)
}

/// A collective that completes without some lanes of its mask, because they have ended.
pub(crate) fn lanes_exited(
    mask: u32,
    left: &[(u32, Place)],
    (finding, who): (&Finding, String),
    program: &Program,
) -> Diagnostic {
    let all = left.iter().fold(0, |all, (lanes, _)| all | lanes);
    let message = format!(
        "lanes {all:#010x}, which the mask {mask:#010x} names, have ended without executing this: it \
         completes without them"
    );
    let diagnostic =
        Diagnostic::error(Code::WarpCollective, finding.place.span, message).label(who);
    left.iter().fold(diagnostic, |diagnostic, (lanes, place)| {
        let text = format!("lanes {lanes:#010x} end here");
        diagnostic.also_from(place.span, text, source_lines(*place, program))
    })
}

/// A matrix instruction in an incomplete warp.
pub(crate) fn lanes_missing(missing: u32, (finding, who): (&Finding, String)) -> Diagnostic {
    let message = format!(
        "this instruction needs all lanes of its warp; lanes {missing:#010x} have ended or do not exist"
    );
    Diagnostic::error(Code::WarpCollective, finding.place.span, message).label(who)
}

/// An instruction that the warps of a group execute differently.
pub(crate) fn part_of_group(instruction: &str, why: GroupFault) -> String {
    match why {
        GroupFault::Absent(other) => format!(
            "{instruction} must be executed by all four warps of a warp group; warp {other} does not execute it"
        ),
        GroupFault::Differs(other) => format!(
            "{instruction} must have the same descriptors and scale in all four warps of a warp group; warp \
            {other} has different ones"
        ),
        GroupFault::Incomplete => format!(
            "{instruction} must be executed by four warps, and the first must have a number that is a multiple of four; the block has fewer"
        ),
        GroupFault::Waits(other) => format!(
            "{instruction} blocks each warp of a warp group until all four have reached it; this warp \
            reaches it only after a wait for something that warp {other} does later: the group hangs"
        ),
        GroupFault::Lanes => {
            format!("{instruction} must have the same descriptors and scale in all lanes of a warp")
        }
    }
}
