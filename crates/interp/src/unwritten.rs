//! Tracks reads of uninitialised elements of shared and local memory in a run, and the values computed from them.
//!
//! The value of such a read is [`Value::Undefined`], like every other value that a run does not know. A computed value
//! is attributed to a read only if it would be known with a number in place of the read. The run reports a read whose
//! value reaches global memory or decides a branch; copying it inside a block is not a fault.

use crate::evaluate::evaluate;
use crate::outcome::{Access, Event};
use crate::shadow::Cell;
use crate::value::{Environment, EvaluationError, Value};
use kir::{ArrayId, Builtin, Expr, ExprKind, Kernel, Type, VarId, When, visit};
use rustc_hash::FxHashMap;

/// The number of a read.
type Read = usize;

/// The uninitialised reads of a run, and the variables and elements of the current block that hold their values.
#[derive(Default)]
pub(crate) struct Unwritten {
    reads: Vec<Event>,
    /// Variables by thread.
    vars: FxHashMap<(u64, VarId), Read>,
    /// Elements of shared arrays, and of local arrays with the number of their thread.
    cells: FxHashMap<(Option<u64>, Cell), Read>,
    /// The first read whose value affects the result.
    first_use: Option<Read>,
}

impl Unwritten {
    pub(crate) fn new_block(&mut self) {
        self.vars.clear();
        self.cells.clear();
    }

    /// Returns `true` if no variable or element holds the value of an uninitialised read.
    pub(crate) fn is_empty(&self) -> bool {
        self.vars.is_empty() && self.cells.is_empty()
    }

    /// Returns the read that an element's value came from. If no thread has stored to the element, this read is a new
    /// one.
    pub(crate) fn source_of(
        &mut self,
        owner: Option<u64>,
        cell: &Cell,
        is_stored: bool,
        access: Access,
    ) -> Option<Read> {
        if let Some(read) = self.cells.get(&(owner, *cell)) {
            return Some(*read);
        }
        if is_stored {
            return None;
        }
        self.reads.push(Event::Unwritten { array: cell.0, index: cell.1.to_vec(), access });
        Some(self.reads.len() - 1)
    }

    pub(crate) fn set_var(&mut self, thread: u64, var: VarId, source: Option<Read>) {
        match source {
            Some(read) => self.vars.insert((thread, var), read),
            None => self.vars.remove(&(thread, var)),
        };
    }

    pub(crate) fn set_cell(&mut self, owner: Option<u64>, cell: &Cell, source: Option<Read>) {
        match source {
            Some(read) => self.cells.insert((owner, *cell), read),
            None => self.cells.remove(&(owner, *cell)),
        };
    }

    /// Records that the value of a read affects the result.
    pub(crate) fn record_use(&mut self, source: Option<Read>) {
        self.first_use = self.first_use.or(source);
    }

    /// Returns the first read whose value affects the result.
    pub(crate) fn first_use(self) -> Option<Event> {
        self.reads.into_iter().nth(self.first_use?)
    }

    /// Returns the first read that makes an expression undefined; `None` if something else is undefined in it too.
    pub(crate) fn source_of_undefined(
        &self,
        kernel: &Kernel,
        thread: u64,
        expr: &Expr,
        env: &dyn Environment,
    ) -> Option<Read> {
        let mut first: Option<Read> = None;
        visit(expr, &mut |inner| {
            if let ExprKind::Var(var) = inner.kind
                && let Some(read) = self.vars.get(&(thread, var))
            {
                first = Some(first.map_or(*read, |before| before.min(*read)));
            }
        });
        let filled = FilledEnvironment { env, kernel, thread, vars: &self.vars };
        let is_known = |value: Result<Value, EvaluationError>| matches!(value, Ok(value) if value != Value::Undefined);
        first.filter(|_| is_known(evaluate(expr, &filled, false)))
    }
}

/// An environment with numbers in place of values that come from uninitialised reads.
struct FilledEnvironment<'e> {
    env: &'e dyn Environment,
    kernel: &'e Kernel,
    thread: u64,
    vars: &'e FxHashMap<(u64, VarId), Read>,
}

impl Environment for FilledEnvironment<'_> {
    fn var(&self, var: VarId) -> Value {
        match (self.vars.contains_key(&(self.thread, var)), self.kernel.vars[var].ty) {
            (false, _) => self.env.var(var),
            (true, Type::Float) => Value::float(1.0),
            (true, _) => Value::int(1),
        }
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        self.env.builtin(builtin, axis)
    }

    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value {
        self.env.element(array, when, index)
    }

    fn conversions_wrap(&self) -> bool {
        self.env.conversions_wrap()
    }

    fn as_dyn(&self) -> &dyn Environment {
        self
    }
}
