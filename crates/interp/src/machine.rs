//! The state of a run: the launch, the memory, and the threads of a block.
//!
//! Other files add methods: `runs.rs` runs launches, blocks and threads, `step.rs` executes an instruction, `access.rs`
//! checks and records accesses, `barriers.rs` tests claims, `contents.rs` draws initial contents, `compiled.rs` runs
//! with the arithmetic of compiled code.

use crate::arithmetic::Arithmetic;
use crate::code::Code;
use crate::contract::parameter_value;
use crate::history::History;
use crate::launch::{Launch, Thread};
use crate::outcome::Event;
use crate::rounding::Rounding;
use crate::runs::ROUNDED;
use crate::shadow::{Memory, Shadow};
use crate::unwritten::Unwritten;
use crate::value::{Environment, EvaluationError, Value};
use base::{Index, Span};
use kir::relevance;
use kir::{ArrayId, Builtin, Claim, Expr, Kernel, Precision, VarId, When, has_warp};

/// Threads of a warp.
pub(crate) const WARP: u64 = 32;

/// A run of a launch.
pub(crate) struct Machine<'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) launch: &'k Launch,
    pub(crate) code: Code<'k>,
    /// Variables that feed indices or conditions.
    pub(crate) relevant: Vec<bool>,
    /// The sizes of each array's dimensions on this launch, if stated.
    pub(crate) sizes: Vec<Vec<Option<i128>>>,
    /// Elements that were accessed so far; the others are drawn at their first access.
    pub(crate) global: Memory,
    pub(crate) shared: Memory,
    /// The accesses of the block since its last barrier, and those of all blocks.
    pub(crate) between_threads: Shadow,
    pub(crate) between_blocks: Shadow,
    pub(crate) events: Vec<Event>,
    /// Limit on `steps`.
    pub(crate) budget: u64,
    pub(crate) steps: u64,
    /// Set if a single thread is run, which waits at no barrier.
    pub(crate) runs_one_thread: bool,
    /// For each array, `true` if the kernel writes it.
    pub(crate) written: Vec<bool>,
    /// For each array, `true` if a requirement constrains it.
    pub(crate) constrained: Vec<bool>,
    /// Set once an element with requirements was drawn.
    pub(crate) drew_constrained: bool,
    /// Set if the kernel has functions for which the threads of a warp wait for each other.
    pub(crate) has_warps: bool,
    /// Set once all elements of arrays with one known size were drawn.
    pub(crate) all_contents_drawn: bool,
    /// The recorded stores, if requested.
    pub(crate) history: Option<History>,
    /// Set if contents are drawn from all numbers of an integer type, not only small ones.
    pub(crate) wide: bool,
    /// The arithmetic of compiled code, if it is modelled.
    pub(crate) compiled: Option<Arithmetic>,
    /// Decisions that depend on rounding.
    pub(crate) rounding: Rounding,
    /// Set if a run whose way rounding may have decided gives no contents.
    pub(crate) rejects_undecided: bool,
    /// Set if conversions of integers give the machine's number.
    pub(crate) conversions_wrap: bool,
    /// For each array, `true` if it feeds an index or a condition.
    pub(crate) feeds: Vec<bool>,
    /// Numbers that conditions name.
    pub(crate) numbers: Vec<i128>,
    /// Values of uninitialised elements, if the run tracks them.
    pub(crate) unwritten: Option<Unwritten>,
}

/// The state of a thread.
pub(crate) struct State<'k> {
    /// Its block and its place in the block.
    pub(crate) at: Thread,
    /// The thread's number in its block.
    pub(crate) number: u64,
    /// The position of its next instruction.
    pub(crate) pc: usize,
    pub(crate) vars: Vec<Value>,
    /// The iteration of each loop.
    pub(crate) counts: Vec<u64>,
    /// Its local arrays.
    pub(crate) local: Memory,
    /// The claims at the barrier it waits at.
    pub(crate) claims: Vec<&'k [Claim]>,
    /// The barrier it waits at.
    pub(crate) waits: Option<Span>,
    /// Set while it waits for its warp.
    pub(crate) waits_for_warp: bool,
    pub(crate) ended: bool,
}

/// The reason why a run ends early.
pub(crate) enum Halt {
    Event(Box<Event>),
    Stopped(&'static str),
}

/// The environment of a thread's expressions.
pub(crate) struct ThreadView<'m> {
    state: &'m State<'m>,
    launch: &'m Launch,
    compiled: Option<&'m Arithmetic>,
    conversions_wrap: bool,
    rounding: &'m Rounding,
    precision: Precision,
}

impl Environment for ThreadView<'_> {
    fn var(&self, var: VarId) -> Value {
        self.state.vars.get(var.position()).copied().unwrap_or(Value::Undefined)
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        let vector = match builtin {
            Builtin::Thread => &self.state.at.thread,
            Builtin::Block => &self.state.at.block,
            Builtin::BlockDim => &self.launch.block,
            Builtin::GridDim => &self.launch.grid,
        };
        vector.get(axis).copied()
    }

    fn element(&self, _: ArrayId, _: When, _: [i128; 3]) -> Value {
        Value::Undefined
    }

    fn compiled(&self) -> Option<&Arithmetic> {
        self.compiled
    }

    fn conversions_wrap(&self) -> bool {
        self.conversions_wrap
    }

    fn rounding(&self) -> Option<&Rounding> {
        Some(self.rounding)
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn as_dyn(&self) -> &dyn Environment {
        self
    }
}

impl<'k> Machine<'k> {
    pub(crate) fn new(kernel: &'k Kernel, launch: &'k Launch, budget: u64) -> Self {
        let size = |expr: &Option<Expr>| {
            expr.as_ref().and_then(|expr| crate::contract::size(expr, launch))
        };
        let sizes = kernel.arrays.iter().map(|array| array.dimensions.iter().map(size).collect());
        let relevant = relevance::relevant(kernel);
        Self {
            kernel,
            launch,
            code: Code::new(kernel),
            feeds: relevance::feeding(kernel, &relevant),
            numbers: relevance::compared_numbers(kernel),
            relevant,
            sizes: sizes.collect(),
            global: Memory::default(),
            shared: Memory::default(),
            between_threads: Shadow::default(),
            between_blocks: Shadow::default(),
            events: Vec::new(),
            budget,
            steps: 0,
            runs_one_thread: false,
            written: relevance::written(kernel),
            constrained: crate::contract::constrained_arrays(kernel),
            drew_constrained: false,
            has_warps: has_warp(&kernel.body),
            all_contents_drawn: false,
            history: None,
            wide: false,
            compiled: None,
            rounding: Rounding::default(),
            rejects_undecided: false,
            conversions_wrap: false,
            unwritten: None,
        }
    }

    /// A thread before its first instruction; `number` is its number in the block.
    pub(crate) fn new_thread(&self, at: Thread, number: u64) -> State<'k> {
        let mut vars = vec![Value::Undefined; self.kernel.vars.len()];
        for var in &self.kernel.scalars {
            vars[var.position()] = parameter_value(self.kernel, self.launch, *var);
        }
        let counts = vec![0; self.code.loops];
        let local = Memory::default();
        let (claims, waits) = (Vec::new(), None);
        State {
            at,
            number,
            pc: 0,
            vars,
            counts,
            local,
            claims,
            waits,
            waits_for_warp: false,
            ended: false,
        }
    }

    /// The environment of a thread.
    pub(crate) fn view<'m>(&'m self, state: &'m State<'m>) -> ThreadView<'m> {
        let (compiled, conversions_wrap) = (self.compiled.as_ref(), self.conversions_wrap);
        let (rounding, precision) = (&self.rounding, self.kernel.precision);
        ThreadView { state, launch: self.launch, compiled, conversions_wrap, rounding, precision }
    }
}

/// Ends a run of a thread because an expression has no value.
pub(crate) fn halt(error: EvaluationError, thread: Thread) -> Halt {
    match error {
        EvaluationError::Overflow { span, ty, exact } => {
            Halt::Event(Box::new(Event::Overflow { span, ty, exact, thread }))
        }
        EvaluationError::DivisionByZero(span) => {
            Halt::Event(Box::new(Event::DivisionByZero { span, thread }))
        }
        EvaluationError::Rounded => Halt::Stopped(ROUNDED),
        EvaluationError::Undefined => Halt::Stopped("an unassigned value is used"),
        EvaluationError::Shift(_) => Halt::Stopped("a shift by more than the width"),
    }
}
