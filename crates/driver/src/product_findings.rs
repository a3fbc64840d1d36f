//! Formats faults of warp-group products: registers touched too early, and races with the operands.

use crate::source_lines::source_lines;
use base::{Code, Diagnostic};
use exec::{Finding, Race, RaceSide, RegisterWindow};
use ir::Program;

/// An access to registers of a product at a time when it is forbidden.
pub(crate) fn registers(
    window: RegisterWindow,
    (finding, who): (&Finding, String),
    program: &Program,
) -> Diagnostic {
    let (message, other) = match window {
        RegisterWindow::First => (
            "no `wgmma.fence` comes before the first product: earlier writes to registers may be missing".to_owned(),
            None,
        ),
        RegisterWindow::Unfenced { access } => (
            "no `wgmma.fence` comes between an access to a register and a product that uses it".to_owned(),
            Some((access, "the access")),
        ),
        RegisterWindow::InFlight { product } => (
            "a register of a product is used before `wgmma.wait_group` has waited for the product".to_owned(),
            Some((product, "the product")),
        ),
    };
    let diagnostic = Diagnostic::error(Code::AsyncCopy, finding.place.span, message).label(who);
    let diagnostic = match other {
        Some((place, text)) => {
            diagnostic.also_from(place.span, text.to_owned(), source_lines(place, program))
        }
        None => diagnostic,
    };
    diagnostic.note(
        "undefined by the manual; ptxas adds the missing part if it sees both in one function, and says so".to_owned(),
    )
}

/// Products that no thread waited for.
pub(crate) fn in_flight(products: usize, (finding, who): (&Finding, String)) -> Diagnostic {
    let products = match products {
        1 => "1 product is".to_owned(),
        products => format!("{products} products are"),
    };
    let message = format!("{products} still running when the warp ends");
    Diagnostic::error(Code::AsyncCopy, finding.place.span, message).label(who)
}

/// Describes a race with a product, if it is one.
pub(crate) fn race(race: &Race, place: &str) -> Option<String> {
    let [earlier, later] = &race.sides;
    match (earlier.product, later.product) {
        (Some(_), _) if lacks_barrier(race) => Some(format!(
            "race on {place}: a product (wgmma) that reads it and a write, which nothing orders"
        )),
        (Some(_), _) if earlier.in_flight => Some(format!(
            "race on {place}: a product (wgmma) still reads it when it is overwritten"
        )),
        (Some(_), _) => Some(format!(
            "race on {place}: it is overwritten, and nothing orders that after a product (wgmma) that reads it"
        )),
        (None, Some(_)) if race.unseen => Some(format!(
            "race on {place}: `fence.proxy.async` is missing between a write and a product (wgmma) that reads it"
        )),
        (None, Some(_)) => Some(format!(
            "race on {place}: a write and a product (wgmma) that reads it, which nothing orders"
        )),
        (None, None) => None,
    }
}

/// Returns `true` if the write is ordered neither before the product nor after it: the threads are of two warps, and
/// the last barrier of both is the same. Warps are distinguished only in blocks of one dimension.
pub(crate) fn lacks_barrier(race: &Race) -> bool {
    let [earlier, later] = &race.sides;
    let is_by_thread = later.transfer.is_none() && !later.bulk && later.product.is_none();
    let [[x, y, z], [other, ..]] = race.sides.each_ref().map(|side| side.thread.thread);
    let is_line =
        race.sides.iter().all(|side| side.thread.thread[1..] == [y, z]) && [y, z] == [0; 2];
    let same = earlier.passed == later.passed && earlier.thread.rank == later.thread.rank;
    earlier.product.is_some()
        && earlier.in_flight
        && is_by_thread
        && is_line
        && same
        && x / 32 != other / 32
}

/// The two ways to order a product and a write of another warp.
pub(crate) const EITHER: &str = "if the product is to see the write, `fence.proxy.async` and a barrier must come between them; \
     otherwise `wgmma.wait_group` and a barrier must come before the write";

/// Explains why a product is not ordered before a later access of this run: nothing waited for it, or too late.
pub(crate) fn why(earlier: &RaceSide, newer: Option<u32>) -> String {
    let [x, y, z] = earlier.thread.thread;
    let warp = format!("the warp of thread ({x},{y},{z})");
    match newer {
        _ if !earlier.in_flight => format!(
            "{warp} waited for the product too late: `wgmma.wait_group` must come before the barrier or arrival by which \
             others learn that they may write"
        ),
        None => format!(
            "{warp} has not waited for the product, which is in no group: `wgmma.commit_group`, then `wgmma.wait_group 0`"
        ),
        Some(newer) => format!(
            "{warp} has not waited for the product: `wgmma.wait_group {newer}`, or a lower number, must come before \
             others are told that they may write"
        ),
    }
}

/// Explains why a product need not see a write that is ordered before it.
pub(crate) const UNSEEN: &str = "the two are ordered, but threads and products access shared memory through different proxies, and \
     the product need not see the write: the thread that writes needs `fence.proxy.async` after the write and before the \
     barrier, or a thread of the product's warp between the barrier and the product";
