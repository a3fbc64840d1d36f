//! Launches whose blocks take tickets from a counter ([`exec::check_last`]): one run for each block that may be the last, all in one domain.
//!
//! The result of the launch must not depend on which block is the last: every element of every buffer is the same value in all runs. Then
//! the result of the atomic operation is no choice of the schedule that anybody can see. If a run cannot be followed, or two differ or
//! may differ, the outcome has a gap that says so.

use crate::symbolic::Symbolic;
use exec::domain::Domain;
use exec::{
    Access, Buffer, Checks, Doubt, Doubtful, Element, Finding, Gap, Launch, Limits, Outcome, Place,
    Results, Stop, Undecided,
};
use ir::{Program, Scalar};

/// Launches of more blocks are not run with each as the last.
const MOST_BLOCKS: u64 = 64;

/// Runs a launch whose blocks may take tickets. `None` if none does; the run is one like any other then.
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
    let is_over = |outcome: &Outcome| {
        outcome.gap.is_some() || outcome.findings.iter().any(|finding| !finding.fault.is_note())
    };
    if is_over(&outcome) {
        return Some((outcome, results));
    }
    if blocks > MOST_BLOCKS {
        outcome.gap = gap(
            place,
            format!(
                "blocks take tickets here: each of up to {MOST_BLOCKS} blocks is tried as the last, and there are {blocks}"
            ),
        );
        return Some((outcome, results));
    }
    if outcome.ticket.is_some_and(|ticket| ticket.leaves_variables) {
        let reason =
            "blocks take tickets here, and module variables are written, which are not compared";
        outcome.gap = gap(place, reason.to_owned());
        return Some((outcome, results));
    }
    for last in 0..blocks - 1 {
        let (other, mut left) = exec::check_last(program, launch, how, domain, last);
        if is_over(&other) {
            return Some((other, left));
        }
        absorb(&mut outcome, other);
        if let Some(name) = difference(launch, domain, [&mut results, &mut left]) {
            outcome.gap = gap(
                place,
                format!(
                    "what `{name}` holds in the end depends on which block takes the last ticket, or may"
                ),
            );
            return Some((outcome, results));
        }
    }
    let is_float = |buffer: &Buffer| matches!(buffer.element, Some(Scalar::Float(_)) | None);
    let floats = launch.buffers.iter().any(|one| one.access != Access::In && is_float(one));
    let is_ticket = |doubt: &Doubt| doubt.place == place && doubt.about == Doubtful::AtomicResult;
    if floats {
        // Equal as real numbers; which block is the last may show in the last bits.
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

/// Adds what another run found beside errors.
fn absorb(outcome: &mut Outcome, other: Outcome) {
    let is_new = |finding: &Finding| {
        !outcome.findings.iter().any(|own| own.place == finding.place && own.fault.is_note())
    };
    let notes: Vec<Finding> = other.findings.into_iter().filter(is_new).collect();
    outcome.findings.extend(notes);
    for doubt in other.doubts {
        if !outcome.doubts.iter().any(|own| (own.place, &own.about) == (doubt.place, &doubt.about))
        {
            outcome.doubts.push(doubt);
        }
    }
    for open in other.undecided {
        let places = |one: &Undecided| one.race.sides.each_ref().map(|side| side.place);
        if !outcome
            .undecided
            .iter()
            .any(|own| (places(own), own.reason) == (places(&open), open.reason))
        {
            outcome.undecided.push(open);
        }
    }
    outcome.conditional |= other.conditional;
    outcome.maybe_undefined |= other.maybe_undefined;
    outcome.maybe_unwritten.extend(other.maybe_unwritten);
    outcome.unfixed |= other.unfixed;
    outcome.shared_alignment = outcome.shared_alignment.max(other.shared_alignment);
    outcome.alignments.extend(other.alignments);
    outcome.executed.extend(other.executed);
    outcome.executed.sort_unstable();
    outcome.executed.dedup();
}

fn gap(place: Place, reason: String) -> Option<Gap> {
    Some(Gap { place, thread: None, reason, stop: Stop::NotFollowed })
}

/// A buffer that two runs do not leave alike, or of which that is not known.
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
            let pair =
                [&mut *one, &mut *other].map(|left| left.element(domain, number, start, scalar));
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
