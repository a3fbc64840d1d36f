//! Launches whose blocks take tickets from a counter ([`exec::check_last`]): one run for each block that may
//! be the last, all in one domain.
//!
//! The result of the launch must not depend on which block is last: every element of every buffer has the
//! same value in all runs. Then the schedule's choice of tickets is not observable. If a run is incomplete,
//! or two runs differ or may differ, the outcome has a gap with that reason.

use crate::symbolic::Symbolic;
use exec::domain::Domain;
use exec::{
    Access, Buffer, Checks, Doubt, Doubtful, Element, Gap, Launch, Limits, Outcome, Place, Results,
    StopReason,
};
use ir::{Program, Scalar};

/// The reason for a gap where blocks that take tickets write module variables.
const VARIABLES_REASON: &str =
    "blocks take tickets here, and write module variables, which are not compared";

/// Most blocks for runs with each one as the last.
const MOST_BLOCKS: u64 = 64;

/// Runs a launch whose blocks may take tickets. `None` if none does; then it is an ordinary run.
pub(crate) fn run(
    program: &Program,
    launch: &Launch,
    how: (Limits, Checks),
    domain: &mut Symbolic,
) -> Option<(Outcome, Results)> {
    let blocks = launch.blocks();
    if !exec::may_take_tickets(program) || blocks == 0 {
        return None;
    }
    let last = blocks - 1;
    let (mut outcome, mut results) = exec::check_last(program, launch, how, domain, last);
    let place = outcome.ticket?.place;
    let is_final = |outcome: &Outcome| {
        outcome.gap.is_some() || outcome.findings.iter().any(|finding| !finding.fault.is_note())
    };
    if is_final(&outcome) {
        return Some((outcome, results));
    }
    if blocks > MOST_BLOCKS {
        outcome.gap = gap(
            place,
            format!(
                "blocks take tickets here: each block is tried as the last one; the launch has {blocks} blocks, the limit is {MOST_BLOCKS}"
            ),
        );
        return Some((outcome, results));
    }
    let leaves_variables =
        |outcome: &Outcome| outcome.ticket.is_some_and(|ticket| ticket.leaves_variables);
    let counter = |outcome: &Outcome| outcome.ticket.and_then(|ticket| ticket.left);
    if leaves_variables(&outcome) {
        outcome.gap = gap(place, VARIABLES_REASON.to_owned());
        return Some((outcome, results));
    }
    for last in 0..blocks - 1 {
        let (other, mut other_results) = exec::check_last(program, launch, how, domain, last);
        if is_final(&other) {
            return Some((other, other_results));
        }
        if leaves_variables(&other) {
            outcome.gap = gap(place, VARIABLES_REASON.to_owned());
            return Some((outcome, results));
        }
        if counter(&outcome) != counter(&other) || outcome.written != other.written {
            let reason = "the final contents of the counter, or the written elements, depend on which block takes the last ticket";
            outcome.gap = gap(place, reason.to_owned());
            return Some((outcome, results));
        }
        outcome.absorb(other);
        if let Some(name) = difference(launch, domain, [&mut results, &mut other_results]) {
            outcome.gap = gap(
                place,
                format!(
                    "the final contents of `{name}` may depend on which block takes the last ticket"
                ),
            );
            return Some((outcome, results));
        }
    }
    let is_float = |buffer: &Buffer| matches!(buffer.element, Some(Scalar::Float(_)) | None);
    let floats = launch.buffers.iter().any(|one| one.access != Access::In && is_float(one));
    let is_ticket = |doubt: &Doubt| doubt.place == place && doubt.about == Doubtful::AtomicResult;
    if floats {
        // Equal as real numbers; the last bits may still depend on which block is last.
        outcome
            .doubts
            .iter_mut()
            .filter(|doubt| is_ticket(doubt))
            .for_each(|doubt| doubt.about = Doubtful::FloatOrder);
    } else {
        outcome.doubts.retain(|doubt| !is_ticket(doubt));
    }
    Some((outcome, results))
}

fn gap(place: Place, reason: String) -> Option<Gap> {
    Some(Gap { place, thread: None, reason, stop: StopReason::NotFollowed })
}

/// Returns a buffer that two runs leave differently, or possibly so.
fn difference(
    launch: &Launch,
    domain: &mut Symbolic,
    results: [&mut Results; 2],
) -> Option<String> {
    let [one, other] = results;
    for (number, buffer) in launch.buffers.iter().enumerate() {
        if buffer.access == Access::In {
            continue;
        }
        let byte = Scalar::Integer { width: ir::Width::B8, signed: false };
        let scalar = buffer.element.unwrap_or(byte);
        let size = scalar.width().bytes() as usize;
        for start in (0..buffer.contents.size() as usize).step_by(size) {
            let pair = [&mut *one, &mut *other]
                .map(|other_results| other_results.element(domain, number, start, scalar));
            let same = match pair {
                [Element::Value(a), Element::Value(b)] => {
                    domain.same(a, b) == Some(true) && !domain.has_ticket(a)
                }
                [a, b] => a == b && !matches!(a, Element::Lost(_)),
            };
            if !same {
                return Some(buffer.name.clone());
            }
        }
    }
    None
}
