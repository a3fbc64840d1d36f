//! Runs a kernel on one launch, every thread of every block, and looks for what `engine` claims cannot
//! happen: races, divergent barriers, accesses out of bounds, overflow, division by zero, failed assertions.
//!
//! Threads of an interval run one after the other, in an order drawn from a seed; conflicts are found from the
//! sets of accesses, so the order does not decide whether a race is seen, only what values come of it. A run ends
//! at the first thing found that is no race. Each event has happened: it is a witness.

mod arithmetic;
mod atomics;
mod barriers;
mod bits;
mod claims;
mod code;
mod compiled;
mod contents;
mod contract;
mod draw;
pub(crate) mod history;
mod launch;
mod machine;
mod many;
mod order;
mod outcome;
pub(crate) mod reach;
mod shadow;
pub(crate) mod value;

pub use arithmetic::{Draw, Manner};
pub use compiled::{Elements, Left, compiled, is_written, sizes, vary_scalars};
pub use contract::is_allowed;
pub(crate) use contract::size;
pub use launch::{Launch, Thread};
pub use order::{OrderDependence, order_dependence};
pub(crate) use outcome::UNMET;
pub use outcome::{Access, AccessKind, Contents, End, Event, Run};
pub use value::Value;

use crate::kir::Kernel;
use std::collections::BTreeMap;

/// Whether the contract demands something of contents.
pub(crate) fn demands_contents(kernel: &Kernel) -> bool {
    contract::demanded(kernel).contains(&true)
}

/// Runs a launch, or until `budget` instructions are executed.
#[must_use]
pub fn run(kernel: &Kernel, launch: &Launch, budget: u64) -> Run {
    machine::Machine::new(kernel, launch, budget).run(None)
}

/// Runs a launch to its end; what memory holds before and after, or why it does not end.
///
/// # Errors
/// If the run does not come to its end.
pub fn memory(kernel: &Kernel, launch: &Launch, budget: u64) -> Result<(Contents, Contents), Run> {
    machine::Machine::new(kernel, launch, budget).recorded()
}

/// Runs a launch to its end; what memory holds before, and what its first block stores on the way. Integers are drawn from all of
/// their type if `wide`.
pub(crate) fn history(
    kernel: &Kernel,
    launch: &Launch,
    wide: bool,
    budget: u64,
) -> Option<(Contents, history::History)> {
    machine::Machine::new(kernel, launch, budget).told(wide)
}

/// What a monoid makes of two values.
pub(crate) fn combined(monoid: &crate::kir::Monoid, one: Value, other: Value) -> Option<Value> {
    let launch = Launch { block: [1; 3], grid: [1; 3], scalars: BTreeMap::new(), seed: 0 };
    let env = contract::Contract { launch: &launch, bound: &[], elements: None };
    many::called(monoid, &[one, other], &env, false).ok().map(atomics::settled)
}

/// Runs one thread of a launch alone, past its barriers, until something depends on what another thread may have
/// written. Launches too large to run can be looked at this way.
#[must_use]
pub fn run_alone(kernel: &Kernel, launch: &Launch, thread: Thread, budget: u64) -> Run {
    machine::Machine::new(kernel, launch, budget).run(Some(thread))
}
