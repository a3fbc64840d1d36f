//! The state of a launch, and the execution of instructions.
//!
//! Long: one case for each kind of statement.

use super::{atomics, bits, claims};
use crate::arithmetic::Arithmetic;
use crate::code::{Code, Insn};
use crate::contract::of_scalar;
use crate::history::History;
use crate::launch::{Launch, Thread};
use crate::outcome::{Access, AccessKind, Contents, End, Event, Run};
use crate::shadow::{Cell, How, Memory, Shadow};
use crate::unwritten::Unwritten;
use crate::value::{Environment, Trouble, Value, evaluate, looked_at, truth};
use base::mix64;
use base::{Index, Span};
use kir::relevance;
use kir::spec::widens;
use kir::{
    ArrayId, AtomicOp, Builtin, Claim, Element, Expr, ExprKind, Kernel, Space, Type, VarId, When,
    has_warp,
};

/// Limit on the races kept from one run.
const MAX_RACES: usize = 64;
/// Threads of a warp.
const WARP: u64 = 32;

/// A run of a launch.
pub(crate) struct Machine<'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) launch: &'k Launch,
    pub(crate) code: Code<'k>,
    /// Variables that feed indices or conditions.
    relevant: Vec<bool>,
    /// The sizes of each array's dimensions on this launch, if stated.
    pub(crate) sizes: Vec<Vec<Option<i128>>>,
    /// Elements that were accessed so far; the others are drawn at their first access.
    pub(crate) global: Memory,
    pub(crate) shared: Memory,
    /// The accesses of the block since its last barrier, and those of all blocks.
    pub(crate) between_threads: Shadow,
    between_blocks: Shadow,
    pub(crate) events: Vec<Event>,
    /// Limit on `steps`.
    budget: u64,
    pub(crate) steps: u64,
    /// Set if a single thread is run, which waits at no barrier.
    runs_one_thread: bool,
    /// For each array, does the kernel write it?
    pub(crate) written: Vec<bool>,
    /// For each array, does a requirement constrain it?
    pub(crate) demanded: Vec<bool>,
    /// Was an element with requirements drawn?
    pub(crate) found_demanded: bool,
    has_warps: bool,
    /// Were all elements of known arrays drawn?
    pub(crate) all_contents_drawn: bool,
    /// The recorded stores, if requested.
    history: Option<History>,
    /// Are integers drawn from their whole type?
    pub(crate) wide: bool,
    /// The arithmetic of compiled code, if it is modelled.
    pub(crate) compiled: Option<Arithmetic>,
    /// For each array, does it feed an index or a condition?
    pub(crate) feeds: Vec<bool>,
    /// Numbers that conditions name.
    pub(crate) numbers: Vec<i128>,
    /// Values of uninitialised elements, if the run tracks them.
    unwritten: Option<Unwritten>,
}

/// The state of a thread.
pub(crate) struct State<'k> {
    pub(crate) at: Thread,
    /// The thread's number in its block.
    number: u64,
    /// The position of its next instruction.
    pub(crate) pc: usize,
    pub(crate) vars: Vec<Value>,
    /// The iteration of each loop.
    pub(crate) counts: Vec<u64>,
    /// Its local arrays.
    local: Memory,
    /// The claims at the barrier it waits at.
    pub(crate) claims: Vec<&'k [Claim]>,
    /// The barrier it waits at.
    pub(crate) waits: Option<Span>,
    /// Does it wait for its warp?
    in_warp: bool,
    pub(crate) ended: bool,
}

/// The reason why the run ends.
pub(crate) enum Halt {
    Event(Box<Event>),
    Stopped(&'static str),
}

struct View<'m> {
    state: &'m State<'m>,
    launch: &'m Launch,
    compiled: Option<&'m Arithmetic>,
}

impl Environment for View<'_> {
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
            demanded: crate::contract::demanded(kernel),
            found_demanded: false,
            has_warps: has_warp(&kernel.body),
            all_contents_drawn: false,
            history: None,
            wide: false,
            compiled: None,
            unwritten: None,
        }
    }

    /// Runs to the end; returns the initial contents and the recorded stores.
    pub(crate) fn history(mut self, wide: bool) -> Option<(Contents, History)> {
        self.history = Some(History::default());
        self.wide = wide;
        self.prepared().ok()?;
        let before = self.contents();
        self.grid().ok()?;
        self.history.filter(|_| self.events.is_empty()).map(|history| (before, history))
    }

    pub(crate) fn run(mut self, only: Option<Thread>) -> Run {
        self.runs_one_thread = only.is_some();
        // Orders of warps and fences are not modelled, so a store may only seem to be missing.
        let is_ordered = !self.runs_one_thread && !self.has_warps && !self.kernel.fences;
        self.unwritten = is_ordered.then(Unwritten::default);
        let result = match only {
            Some(thread) => self.thread_alone(thread),
            None => self.prepared().and_then(|()| self.whole()),
        };
        let end = match result {
            Ok(()) => End::Complete,
            Err(Halt::Stopped(why)) => End::Stopped(why),
            Err(Halt::Event(event)) => {
                self.events.push(*event);
                End::Event
            }
        };
        // After a race, a missing store may be a consequence.
        if self.events.is_empty() {
            self.events.extend(self.unwritten.take().and_then(Unwritten::found));
        }
        Run { events: self.events, end, steps: self.steps, demanded: self.found_demanded }
    }

    /// Runs all blocks, then tests the contract's claims about the end; after a race the final contents are
    /// indefinite.
    fn whole(&mut self) -> Result<(), Halt> {
        if self.kernel.ensures.is_empty() {
            return self.grid();
        }
        let before = self.contents();
        self.grid()?;
        if !self.events.is_empty() {
            return Ok(());
        }
        let after = self.contents();
        match claims::failed(self.kernel, self.launch, [&before, &after]) {
            Some(event) => Err(Halt::Event(Box::new(event))),
            None => Ok(()),
        }
    }

    /// Runs to the end; returns initial and final contents.
    pub(crate) fn recorded(mut self) -> Result<(Contents, Contents), Run> {
        // Another kernel names other numbers, and both must get the same contents.
        self.numbers.clear();
        let prepared = self.prepared();
        let before = self.contents();
        let end = match prepared.and_then(|()| self.grid()) {
            Ok(()) if self.events.is_empty() => return Ok((before, self.contents())),
            Ok(()) => End::Event,
            Err(Halt::Stopped(why)) => End::Stopped(why),
            Err(Halt::Event(event)) => {
                self.events.push(*event);
                End::Event
            }
        };
        Err(Run { events: self.events, end, steps: self.steps, demanded: self.found_demanded })
    }

    /// Runs to the end.
    pub(crate) fn complete(&mut self) -> Result<(), Halt> {
        self.prepared()?;
        self.grid()
    }

    fn thread_alone(&mut self, at: Thread) -> Result<(), Halt> {
        let mut state = self.state(at, 0);
        while !state.ended {
            self.advance(&mut state)?;
        }
        Ok(())
    }

    fn grid(&mut self) -> Result<(), Halt> {
        let [width, height, depth] = self.launch.grid;
        let mut number = 0;
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    self.block([x, y, z], number)?;
                    number += 1;
                }
            }
        }
        Ok(())
    }

    fn state(&self, at: Thread, number: u64) -> State<'k> {
        let mut vars = vec![Value::Undefined; self.kernel.vars.len()];
        for var in &self.kernel.scalars {
            vars[var.position()] = of_scalar(self.kernel, self.launch, *var);
        }
        let counts = vec![0; self.code.loops];
        let local = Memory::default();
        let (claims, waits) = (Vec::new(), None);
        let (in_warp, ended) = (false, false);
        State { at, number, pc: 0, vars, counts, local, claims, waits, in_warp, ended }
    }

    fn block(&mut self, block: [i128; 3], number: u64) -> Result<(), Halt> {
        self.shared.clear();
        self.between_threads.clear();
        if let Some(unwritten) = &mut self.unwritten {
            unwritten.new_block();
        }
        let [width, height, depth] = self.launch.block;
        let mut threads = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let at = Thread { block, thread: [x, y, z] };
                    threads.push(self.state(at, threads.len() as u64));
                }
            }
        }
        let mut interval = 0;
        while threads.iter().any(|state| !state.ended) {
            // The first thread depends on the seed and changes from interval to interval.
            let seed = self.launch.seed ^ self.compiled.as_ref().map_or(0, Arithmetic::order);
            let first = mix64(seed ^ number << 32 ^ interval) as usize % threads.len();
            let backwards = interval % 2 == 1;
            interval += 1;
            for position in 0..threads.len() {
                let position = if backwards { threads.len() - 1 - position } else { position };
                let chosen = (first + position) % threads.len();
                let state = &mut threads[chosen];
                while !state.ended && state.waits.is_none() && !state.in_warp {
                    self.advance(state)?;
                }
            }
            if threads.iter().any(|state| state.in_warp) {
                meet_in_warps(&mut threads)?;
            } else {
                self.meet(&mut threads)?;
            }
        }
        Ok(())
    }

    /// Executes the next instruction of a thread.
    fn advance(&mut self, state: &mut State<'k>) -> Result<(), Halt> {
        self.steps += 1;
        if self.steps > self.budget {
            return Err(Halt::Stopped("the run takes too long"));
        }
        let pc = state.pc;
        state.pc += 1;
        match self.code.insns[pc] {
            Insn::Assign(var, expr) => {
                let strict = self.relevant[var.position()];
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                // An undefined value may be copied; only its use matters.
                let value = match evaluate(expr, &view, strict) {
                    Err(Trouble::Undefined) => Value::Undefined,
                    other => other.map_err(|trouble| halt(trouble, state.at))?,
                };
                let source = self.source_of_undefined(state, expr, value);
                self.mark(state.number, var, source);
                state.vars[var.position()] = value;
            }
            Insn::Load(var, element) => {
                let cell = self.access(state, element, &How::Read)?;
                let value = self.read(state, &cell)?;
                let source = self.source_of(state, element, &cell, value);
                self.mark(state.number, var, source);
                state.vars[var.position()] = value;
            }
            Insn::Store(element, expr) => {
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                let value = match evaluate(expr, &view, false) {
                    Err(Trouble::Undefined) => Value::Undefined,
                    other => other.map_err(|trouble| halt(trouble, state.at))?,
                };
                let value = atomics::settled(value);
                let cell = self.access(state, element, &How::Write(value))?;
                self.store_source(state, expr, &cell, value);
                if let Some(history) = self.history.as_mut().filter(|_| state.at.block == [0; 3]) {
                    history.store(&self.code, (pc, &state.counts), cell, value);
                }
                self.memory(state, &cell).insert(cell, value);
            }
            Insn::Bits(var, name, arguments) => {
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                let values = arguments.iter().map(|one| evaluate(one, &view, false).ok());
                let values: Option<Vec<Value>> = values.collect();
                // An inexact float has other bits in compiled code.
                let is_known = self.compiled.as_ref().is_none_or(Arithmetic::exact);
                let value = values.and_then(|values| bits::of(name, &values, is_known));
                let ty = self.kernel.vars[var].ty;
                state.vars[var.position()] = match value {
                    Some(Value::Int { value, .. }) => Value::int(ty.wrap(value)),
                    other => other.unwrap_or(Value::Undefined),
                };
            }
            // The run ends where a decision depends on it.
            Insn::Unknown(var) => {
                self.mark(state.number, var, None);
                state.vars[var.position()] = Value::Undefined;
            }
            Insn::Atomic(var, op, element, operands) => {
                let cell = self.access(state, element, &How::Atomic)?;
                let old = self.read(state, &cell)?;
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                let mut values = Vec::new();
                for operand in operands {
                    let value = evaluate(operand, &view, false);
                    values.push(value.map_err(|trouble| halt(trouble, state.at))?);
                }
                let ty = self.kernel.arrays[element.array].element;
                let new = atomics::updated(op, old, &values, ty);
                let new = match (&self.compiled, new, old, &values[..]) {
                    (Some(own), Value::Float(sum), Value::Float(x), [Value::Float(y)])
                        if op == AtomicOp::Add =>
                    {
                        Value::Float(own.atomic_sum(x, *y, sum))
                    }
                    _ => new,
                };
                self.memory(state, &cell).insert(cell, new);
                state.vars[var.position()] = old;
            }
            Insn::Unless(condition, target) => {
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                let holds = truth(condition, &view);
                if holds == Err(Trouble::Undefined) {
                    let source = self.source_of_undefined(state, condition, Value::Undefined);
                    self.unwritten.iter_mut().for_each(|one| one.record_use(source));
                }
                if !holds.map_err(|trouble| halt(trouble, state.at))? {
                    state.pc = target;
                }
            }
            Insn::Jump(target) => state.pc = target,
            Insn::Claims(claims) => state.claims.push(claims),
            Insn::Barrier(span) => {
                if !self.runs_one_thread {
                    state.waits = Some(span);
                }
            }
            Insn::Warp => state.in_warp = !self.runs_one_thread,
            Insn::Return => state.ended = true,
            Insn::Assert(condition) => {
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                if !truth(condition, &view).map_err(|trouble| halt(trouble, state.at))? {
                    let event = Event::Assertion { span: condition.span, thread: state.at };
                    return Err(Halt::Event(Box::new(event)));
                }
            }
            Insn::Assume(condition) => {
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                if !truth(condition, &view).map_err(|trouble| halt(trouble, state.at))? {
                    return Err(Halt::Stopped(crate::outcome::UNMET));
                }
            }
            Insn::Enter(number) => {
                state.counts[number] = 0;
                self.at_head(state, pc, number);
            }
            Insn::Next(number) => {
                state.counts[number] += 1;
                self.at_head(state, pc, number);
            }
        }
        Ok(())
    }

    fn at_head(&mut self, state: &State<'_>, pc: usize, number: usize) {
        if let Some(history) = self.history.as_mut().filter(|_| state.at.block == [0; 3]) {
            history.head(&self.code, (pc, &state.counts), number, &state.vars);
        }
    }

    /// Returns the accessed element, checked against its array and recorded.
    fn access(&mut self, state: &State<'_>, element: &Element, how: &How) -> Result<Cell, Halt> {
        let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
        let mut index = Vec::new();
        for expr in &element.index {
            let value = evaluate(expr, &view, true).and_then(|value| looked_at(value, expr));
            index.push(match value {
                // C defines the value of a wrapped index; it only matters if that is out of bounds.
                Err(trouble @ Trouble::Overflow { ty: Type::Int { signed: false, .. }, .. }) => {
                    let size = self.sizes[element.array.position()].get(index.len());
                    let outside = |at: &i128| {
                        size.copied().flatten().is_some_and(|size| !(0..size).contains(at))
                    };
                    let wrapped = of_machine(expr, &view).filter(outside);
                    wrapped.ok_or_else(|| halt(trouble, state.at))?
                }
                value => value.map_err(|trouble| halt(trouble, state.at))?,
            });
        }
        let (kind, value) = match how {
            How::Read => (AccessKind::Read, None),
            How::Write(value) => (AccessKind::Write, value.number()),
            How::Atomic => (AccessKind::Atomic, None),
        };
        let access = Access { thread: state.at, span: element.span, kind, value };
        let array = element.array;
        let sizes = &self.sizes[array.position()];
        let mut inside = index.iter().zip(sizes);
        if !inside.all(|(at, size)| size.is_none_or(|size| (0..size).contains(at))) {
            let sizes = sizes.clone();
            return Err(Halt::Event(Box::new(Event::OutOfBounds { array, index, sizes, access })));
        }
        let forbidden = crate::contract::forbidden(self.kernel, self.launch, (array, &index), kind);
        if let Some(writes) = forbidden {
            let event = Event::Footprint { array, index, writes, access };
            return Err(Halt::Event(Box::new(event)));
        }
        let mut place = [0; 3];
        for (slot, at) in place.iter_mut().zip(&index) {
            *slot = *at;
        }
        let cell = (array, place);
        let space = self.kernel.arrays[array].space;
        if space == Space::Local || self.runs_one_thread {
            return Ok(cell);
        }
        // The ordering by warp functions is not modelled: the threads of a warp count as one.
        let agent = if self.has_warps { state.number / WARP } else { state.number };
        let mut conflict = self.between_threads.note(&cell, agent, how, &access);
        if space == Space::Global {
            let [x, y, z] = state.at.block;
            let [width, height, _] = self.launch.grid;
            let block = u64::try_from((z * height + y) * width + x).unwrap_or(u64::MAX);
            conflict = conflict.or(self.between_blocks.note(&cell, block, how, &access));
        }
        if let Some(first) = conflict
            && self.events.len() < MAX_RACES
        {
            self.events.push(Event::Race { array, index, first, second: access });
        }
        Ok(cell)
    }

    /// Returns the read of an element without contents that an undefined value comes from.
    fn source_of_undefined(&self, state: &State<'k>, expr: &Expr, value: Value) -> Option<usize> {
        let unwritten = self.unwritten.as_ref().filter(|one| !one.is_empty())?;
        if value != Value::Undefined {
            return None;
        }
        let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
        unwritten.source_of_undefined(self.kernel, state.number, expr, &view)
    }

    fn mark(&mut self, thread: u64, var: VarId, source: Option<usize>) {
        if let Some(unwritten) = &mut self.unwritten
            && (source.is_some() || !unwritten.is_empty())
        {
            unwritten.set_var(thread, var, source);
        }
    }

    /// Returns the thread that an array of this kind belongs to.
    fn owner(&self, state: &State<'k>, array: ArrayId) -> Option<u64> {
        (self.kernel.arrays[array].space == Space::Local).then_some(state.number)
    }

    fn source_of(
        &mut self,
        state: &State<'k>,
        element: &Element,
        cell: &Cell,
        value: Value,
    ) -> Option<usize> {
        let is_stored = match self.kernel.arrays[cell.0].space {
            Space::Global => return None,
            Space::Shared => self.shared.contains_key(cell),
            Space::Local => state.local.contains_key(cell),
        };
        let owner = self.owner(state, cell.0);
        let unwritten = self.unwritten.as_mut().filter(|_| value == Value::Undefined)?;
        let (span, kind) = (element.span, AccessKind::Read);
        let access = Access { thread: state.at, span, kind, value: None };
        unwritten.source_of(owner, cell, is_stored, access)
    }

    /// Notes where a value that is stored comes from; in global memory it matters.
    fn store_source(&mut self, state: &State<'k>, expr: &Expr, cell: &Cell, value: Value) {
        let source = self.source_of_undefined(state, expr, value);
        let owner = self.owner(state, cell.0);
        let is_global = self.kernel.arrays[cell.0].space == Space::Global;
        let Some(unwritten) = self.unwritten.as_mut().filter(|one| !one.is_empty()) else { return };
        match is_global {
            true => unwritten.record_use(source),
            false => unwritten.set_cell(owner, cell, source),
        }
    }

    fn memory<'s>(&'s mut self, state: &'s mut State<'k>, cell: &Cell) -> &'s mut Memory {
        match self.kernel.arrays[cell.0].space {
            Space::Global => &mut self.global,
            Space::Shared => &mut self.shared,
            Space::Local => &mut state.local,
        }
    }

    fn read(&mut self, state: &State<'_>, cell: &Cell) -> Result<Value, Halt> {
        let array = &self.kernel.arrays[cell.0];
        if self.runs_one_thread && array.space != Space::Local && self.written[cell.0.position()] {
            // Its value is unknown; the run ends where a result depends on it.
            return Ok(Value::Undefined);
        }
        let known = match array.space {
            Space::Global => self.global.get(cell),
            Space::Shared => self.shared.get(cell),
            Space::Local => state.local.get(cell),
        };
        match known {
            Some(value) => Ok(*value),
            None if array.space == Space::Global => self.initial(cell),
            None => Ok(Value::Undefined),
        }
    }
}

/// Resumes warps whose threads all wait for each other at one place.
fn meet_in_warps(threads: &mut [State<'_>]) -> Result<(), Halt> {
    let mut moved = false;
    for warp in threads.chunks_mut(WARP as usize) {
        let mut waiting = warp.iter().filter(|state| state.in_warp);
        let Some(place) = waiting.next().map(|state| state.pc) else { continue };
        if warp.iter().all(|state| state.ended || state.in_warp && state.pc == place) {
            moved = true;
            warp.iter_mut().for_each(|state| state.in_warp = false);
        }
    }
    match moved {
        true => Ok(()),
        false => Err(Halt::Stopped("not all threads of a warp reach this point")),
    }
}

/// The machine's index, after wrapping.
fn of_machine(expr: &Expr, view: &View<'_>) -> Option<i128> {
    match &expr.kind {
        ExprKind::Convert(inner) if widens(inner.ty, expr.ty) => of_machine(inner, view),
        _ => evaluate(expr, view, false).ok()?.number(),
    }
}

fn halt(trouble: Trouble, thread: Thread) -> Halt {
    match trouble {
        Trouble::Overflow { span, ty, exact } => {
            Halt::Event(Box::new(Event::Overflow { span, ty, exact, thread }))
        }
        Trouble::DivisionByZero(span) => {
            Halt::Event(Box::new(Event::DivisionByZero { span, thread }))
        }
        Trouble::Undefined => Halt::Stopped("an unassigned value is used"),
        Trouble::Shift(_) => Halt::Stopped("a shift by more than the width"),
    }
}
