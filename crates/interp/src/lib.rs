//! Runs a kernel on one launch, every thread of every block, and looks for events that proofs (`allsizes`) show to be
//! impossible: races, divergent barriers, accesses out of bounds, overflow, division by zero, failed assertions.
//!
//! Threads of an interval run one after the other, in an order drawn from a seed. Conflicts are found from the sets
//! of accesses, so the order does not affect which races are found, only the values that result. A run ends at the
//! first event that is not a race. Each event has happened: it is a witness.

mod access;
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
mod enclosure;
mod evaluate;
mod existence;
mod functions;
pub mod history;
mod launch;
mod machine;
mod operations;
mod order;
mod outcome;
mod quantifiers;
pub mod reach;
mod real;
mod rounding;
mod runs;
mod shadow;
mod step;
mod unwritten;
mod value;

pub use arithmetic::{CompiledRunOptions, Draw};
pub use claims::failed_postcondition;
pub use compiled::{CompiledResults, Elements, is_written, run_compiled, sizes, vary_scalars};
pub use contract::is_allowed;
pub use contract::size;
pub use evaluate::{evaluate, truth};
pub use launch::{Launch, Thread};
pub use order::{OrderDependence, order_dependence};
pub use outcome::ASSUMPTION_FAILS;
pub use outcome::{Access, AccessKind, Contents, End, Event, Run};
pub use real::Real;
pub use value::{Environment, EvaluationError, Value};

use kir::Kernel;
use std::collections::BTreeMap;

/// Returns `true` if the contract has requirements on contents.
pub fn constrains_contents(kernel: &Kernel) -> bool {
    contract::constrained_arrays(kernel).contains(&true)
}

/// Runs a launch, for at most `budget` instructions.
#[must_use]
pub fn run(kernel: &Kernel, launch: &Launch, budget: u64) -> Run {
    machine::Machine::new(kernel, launch, budget).run(None)
}

/// Runs a launch, or one thread of it alone, in which conversions between types of integers give the machine's number,
/// as CUDA's compilers define. Other runs report a number that a conversion changed and that is used.
#[must_use]
pub fn run_with_conversions(
    kernel: &Kernel,
    launch: &Launch,
    thread: Option<Thread>,
    budget: u64,
) -> Run {
    let mut machine = machine::Machine::new(kernel, launch, budget);
    machine.conversions_wrap = true;
    machine.run(thread)
}

/// Runs a launch to its end; returns initial and final contents.
///
/// # Errors
/// The unfinished run, if an event or a limit ended it.
pub fn memory(kernel: &Kernel, launch: &Launch, budget: u64) -> Result<(Contents, Contents), Run> {
    machine::Machine::new(kernel, launch, budget).run_for_contents()
}

/// Like [`memory`], for a run in which rounding decided nothing.
///
/// # Errors
/// The run, if it is unfinished or rounding may have decided which way it took.
pub fn decided_memory(
    kernel: &Kernel,
    launch: &Launch,
    budget: u64,
) -> Result<(Contents, Contents), Run> {
    let mut machine = machine::Machine::new(kernel, launch, budget);
    machine.rejects_undecided = true;
    machine.run_for_contents()
}

/// Runs a launch to its end; returns the initial contents, and the stores of its first block. Integers are drawn from
/// their whole type if `wide`.
pub fn history(
    kernel: &Kernel,
    launch: &Launch,
    wide: bool,
    budget: u64,
) -> Option<(Contents, history::History)> {
    machine::Machine::new(kernel, launch, budget).history(wide)
}

/// Applies a monoid to two values.
pub fn apply_monoid(monoid: &kir::Monoid, one: Value, other: Value) -> Option<Value> {
    let launch = Launch { block: [1; 3], grid: [1; 3], scalars: BTreeMap::new(), seed: 0 };
    let env = contract::Contract { launch: &launch, bound: &[], elements: None };
    quantifiers::apply_monoid(monoid, &[one, other], &env, false).ok().map(atomics::as_stored)
}

/// Runs one thread of a launch alone, through its barriers, until a result depends on another thread's possible
/// stores. This allows launches that are too large to run.
#[must_use]
pub fn run_alone(kernel: &Kernel, launch: &Launch, thread: Thread, budget: u64) -> Run {
    machine::Machine::new(kernel, launch, budget).run(Some(thread))
}
