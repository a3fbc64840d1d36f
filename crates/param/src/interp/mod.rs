//! Runs a kernel on one launch, every thread of every block, and looks for what `engine` claims cannot
//! happen: races, divergent barriers, accesses out of bounds, overflow, division by zero, failed assertions.
//!
//! Threads of an interval run one after the other, in an order drawn from a seed; conflicts are found from the
//! sets of accesses, so the order does not decide whether a race is seen, only what values come of it. A run ends
//! at the first thing found that is no race. Each event has happened: it is a witness.

mod atomics;
mod barriers;
mod bits;
mod claims;
mod code;
mod compiled;
mod contents;
mod draw;
pub(crate) mod history;
mod machine;
mod many;
mod order;
pub(crate) mod reach;
mod shadow;
pub(crate) mod value;

pub use compiled::{Draw, Elements, Left, Manner, compiled, is_written, sizes, vary_scalars};
pub(crate) use contents::size;
pub(crate) use draw::draw;
pub use order::{OrderDependence, order_dependence};
pub use value::Value;

use crate::kir::{ArrayId, Kernel, Type, VarId};
use base::Span;
use std::collections::BTreeMap;

/// A launch with its sizes; contents of arrays come from the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Threads of a block on each axis.
    pub block: [i128; 3],
    /// Blocks on each axis.
    pub grid: [i128; 3],
    /// Integer and truth parameters.
    pub scalars: BTreeMap<VarId, i128>,
    /// What contents and order are drawn from.
    pub seed: u64,
}

impl Launch {
    /// The value of a floating-point parameter: drawn from its name and the seed.
    #[must_use]
    pub fn float(&self, name: &str) -> f64 {
        (draw(self.seed ^ contents::of_name(name)) % 13) as f64 / 4.0 + 0.25
    }

    /// How many threads it has.
    #[must_use]
    pub fn threads(&self) -> i128 {
        self.block.iter().chain(&self.grid).product()
    }
}

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// `blockIdx`.
    pub block: [i128; 3],
    /// `threadIdx`.
    pub thread: [i128; 3],
}

/// What is done to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic operation.
    Atomic,
}

/// An access that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// By whom.
    pub thread: Thread,
    /// Where in the source.
    pub span: Span,
    /// What.
    pub kind: AccessKind,
    /// The value that was stored, if an integer.
    pub value: Option<i128>,
}

/// Something that happened and should not have.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the module's header and the names say it")]
pub enum Event {
    Race {
        array: ArrayId,
        index: Vec<i128>,
        first: Access,
        second: Access,
    },
    OutOfBounds {
        array: ArrayId,
        index: Vec<i128>,
        sizes: Vec<Option<i128>>,
        access: Access,
    },
    /// An access that the contract does not allow.
    Footprint {
        array: ArrayId,
        index: Vec<i128>,
        writes: bool,
        access: Access,
    },
    Overflow {
        span: Span,
        ty: Type,
        exact: Option<i128>,
        thread: Thread,
    },
    DivisionByZero {
        span: Span,
        thread: Thread,
    },
    /// A thread waits at `at`; another is at another barrier, in another iteration, or has ended.
    Divergence {
        at: Span,
        thread: Thread,
        other: Thread,
        elsewhere: Option<Span>,
    },
    Assertion {
        span: Span,
        thread: Thread,
    },
    /// What is claimed at a barrier does not hold for a thread, or for it and another one, and these values of the claim's
    /// variables: the element that it is about, what it holds and what it should.
    Barrier {
        span: Span,
        thread: Thread,
        other: Option<Thread>,
        at: Vec<(VarId, i128)>,
        element: Option<(ArrayId, Vec<i128>)>,
        got: Option<Value>,
        want: Option<Value>,
    },
    /// An operation of a postcondition has no value, for these values of the claim's variables.
    NoValue {
        span: Span,
        at: Vec<(VarId, i128)>,
        divides: bool,
    },
    /// What the contract claims of the end does not hold for these values of its variables: the element that it is
    /// about, what it holds and what it should.
    Postcondition {
        span: Span,
        at: Vec<(VarId, i128)>,
        element: Option<(ArrayId, Vec<i128>)>,
        got: Option<Value>,
        want: Option<Value>,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// All threads ended.
    Complete,
    /// An event ended it.
    Event,
    /// It could not be followed: why.
    Stopped(&'static str),
}

/// Why a run ends that contradicts an `assume`.
pub(crate) const UNMET: &str = "an assumption does not hold";

/// What a run showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What happened, races first.
    pub events: Vec<Event>,
    /// How it ended.
    pub end: End,
    /// How many instructions were executed.
    pub steps: u64,
    /// Whether an element of which the contract demands something was found.
    pub demanded: bool,
}

/// Whether the contract demands something of contents.
pub(crate) fn demands_contents(kernel: &Kernel) -> bool {
    contents::demanded(kernel).contains(&true)
}

/// Runs a launch, or until `budget` instructions are executed.
#[must_use]
pub fn run(kernel: &Kernel, launch: &Launch, budget: u64) -> Run {
    machine::Machine::new(kernel, launch, budget).run(None)
}

/// What global arrays with one known size hold, array by array; other arrays have no entry.
pub type Contents = BTreeMap<ArrayId, Vec<Value>>;

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
    let env = contents::Contract { launch: &launch, bound: &[], elements: None };
    many::called(monoid, &[one, other], &env, false).ok().map(atomics::settled)
}

/// Runs one thread of a launch alone, past its barriers, until something depends on what another thread may have
/// written. Launches too large to run can be looked at this way.
#[must_use]
pub fn run_alone(kernel: &Kernel, launch: &Launch, thread: Thread, budget: u64) -> Run {
    machine::Machine::new(kernel, launch, budget).run(Some(thread))
}

/// Whether a launch fulfils the contract, as far as it does not speak of contents; `None` if that
/// cannot be said.
#[must_use]
pub fn is_allowed(kernel: &Kernel, launch: &Launch) -> Option<bool> {
    let mut all = Some(true);
    for requirement in kernel.requires.iter().filter(|one| one.forall.is_empty()) {
        let env = contents::Contract { launch, bound: &[], elements: None };
        match value::truth(&requirement.condition, &env) {
            Ok(true) => {}
            Ok(false) => return Some(false),
            Err(_) => all = None,
        }
    }
    all
}
