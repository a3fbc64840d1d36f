//! The state of a launch, and one instruction after the other.
//!
//! Long: one case for each kind of statement.

use super::arithmetic::Arithmetic;
use super::code::{Code, Insn};
use super::contract::of_scalar;
use super::history::History;
use super::launch::{Launch, Thread};
use super::outcome::{Access, AccessKind, Contents, End, Event, Run};
use super::shadow::{Cell, How, Memory, Shadow};
use super::value::{Environment, Trouble, Value, evaluate, looked_at, truth};
use super::{atomics, bits, claims};
use crate::kir::{
    ArrayId, AtomicOp, Builtin, Claim, Element, Expr, ExprKind, Kernel, Space, Type, VarId, When,
    has_warp,
};
use crate::relevance;
use crate::spec::widens;
use base::mix64;
use base::{Index, Span};

/// Races of one run beyond this many are not kept.
const MAX_RACES: usize = 64;
/// Threads of a warp.
const WARP: u64 = 32;

pub(super) struct Machine<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) launch: &'k Launch,
    pub(super) code: Code<'k>,
    /// Which variables feed indices or conditions.
    relevant: Vec<bool>,
    pub(super) sizes: Vec<Vec<Option<i128>>>,
    pub(super) global: Memory,
    pub(super) shared: Memory,
    pub(super) between_threads: Shadow,
    between_blocks: Shadow,
    pub(super) events: Vec<Event>,
    budget: u64,
    pub(super) steps: u64,
    alone: bool,
    pub(super) written: Vec<bool>,
    pub(super) demanded: Vec<bool>,
    /// Whether an element was found of which a demand speaks.
    pub(super) found_demanded: bool,
    has_warps: bool,
    /// Whether all elements of known arrays were drawn.
    pub(super) drawn_all: bool,
    /// What is stored, if that is wanted.
    history: Option<History>,
    /// Whether integers are drawn from all of their type.
    pub(super) wide: bool,
    /// The arithmetic of compiled code, if it is to be followed.
    pub(super) compiled: Option<Arithmetic>,
    /// For each array, whether it feeds an index or a condition.
    pub(super) feeds: Vec<bool>,
    /// Numbers that conditions name.
    pub(super) numbers: Vec<i128>,
}

pub(super) struct State<'k> {
    pub(super) at: Thread,
    number: u64,
    pub(super) pc: usize,
    pub(super) vars: Vec<Value>,
    pub(super) counts: Vec<u64>,
    local: Memory,
    /// What is claimed at the barrier it waits at.
    pub(super) claims: Vec<&'k [Claim]>,
    /// The barrier it waits at.
    pub(super) waits: Option<Span>,
    /// Whether it waits for its warp.
    in_warp: bool,
    pub(super) ended: bool,
}

/// Why the run ends.
pub(super) enum Halt {
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
    pub(super) fn new(kernel: &'k Kernel, launch: &'k Launch, budget: u64) -> Self {
        let size = |expr: &Option<Expr>| {
            expr.as_ref().and_then(|expr| super::contract::size(expr, launch))
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
            alone: false,
            written: relevance::written(kernel),
            demanded: super::contract::demanded(kernel),
            found_demanded: false,
            has_warps: has_warp(&kernel.body),
            drawn_all: false,
            history: None,
            wide: false,
            compiled: None,
        }
    }

    /// Runs to the end; what memory held before, and what was stored.
    pub(super) fn told(mut self, wide: bool) -> Option<(Contents, History)> {
        self.history = Some(History::default());
        self.wide = wide;
        self.prepared().ok()?;
        let before = self.contents();
        self.grid().ok()?;
        self.history.filter(|_| self.events.is_empty()).map(|history| (before, history))
    }

    pub(super) fn run(mut self, alone: Option<Thread>) -> Run {
        self.alone = alone.is_some();
        let result = match alone {
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
        Run { events: self.events, end, steps: self.steps, demanded: self.found_demanded }
    }

    /// All blocks, and then what the contract claims of the end; with a race there is no definite end.
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

    /// Runs to the end; what memory holds before and after.
    pub(super) fn recorded(mut self) -> Result<(Contents, Contents), Run> {
        // Another kernel names others, and both must find the same.
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
    pub(super) fn complete(&mut self) -> Result<(), Halt> {
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
            // Which thread goes first depends on the seed and changes from interval to interval.
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

    fn advance(&mut self, state: &mut State<'k>) -> Result<(), Halt> {
        self.steps += 1;
        if self.steps > self.budget {
            return Err(Halt::Stopped("the run takes too long"));
        }
        let pc = state.pc;
        state.pc += 1;
        match self.code.insns[pc] {
            Insn::Assign(var, value) => {
                let strict = self.relevant[var.position()];
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                // What is undefined may be copied; only looking at it matters.
                let value = match evaluate(value, &view, strict) {
                    Err(Trouble::Undefined) => Value::Undefined,
                    other => other.map_err(|trouble| halt(trouble, state.at))?,
                };
                state.vars[var.position()] = value;
            }
            Insn::Load(var, element) => {
                let cell = self.access(state, element, &How::Read)?;
                state.vars[var.position()] = self.read(state, &cell)?;
            }
            Insn::Store(element, value) => {
                let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
                let value = match evaluate(value, &view, false) {
                    Err(Trouble::Undefined) => Value::Undefined,
                    other => other.map_err(|trouble| halt(trouble, state.at))?,
                };
                let value = atomics::settled(value);
                let cell = self.access(state, element, &How::Write(value))?;
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
            // What decides by it is not run.
            Insn::Unknown(var) => state.vars[var.position()] = Value::Undefined,
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
                if !truth(condition, &view).map_err(|trouble| halt(trouble, state.at))? {
                    state.pc = target;
                }
            }
            Insn::Jump(target) => state.pc = target,
            Insn::Claims(claims) => state.claims.push(claims),
            Insn::Barrier(span) => {
                if !self.alone {
                    state.waits = Some(span);
                }
            }
            Insn::Warp => state.in_warp = !self.alone,
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
                    return Err(Halt::Stopped(super::outcome::UNMET));
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

    /// The element that is accessed, checked against its array and noted.
    fn access(&mut self, state: &State<'_>, element: &Element, how: &How) -> Result<Cell, Halt> {
        let view = View { state, launch: self.launch, compiled: self.compiled.as_ref() };
        let mut index = Vec::new();
        for expr in &element.index {
            let value = evaluate(expr, &view, true).and_then(|value| looked_at(value, expr));
            index.push(match value {
                // C defines what a wrapped index is: what matters is whether it is outside.
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
        let forbidden = super::contract::forbidden(self.kernel, self.launch, (array, &index), kind);
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
        if space == Space::Local || self.alone {
            return Ok(cell);
        }
        // What a warp's functions order is not followed: its threads count as one.
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

    fn memory<'s>(&'s mut self, state: &'s mut State<'k>, cell: &Cell) -> &'s mut Memory {
        match self.kernel.arrays[cell.0].space {
            Space::Global => &mut self.global,
            Space::Shared => &mut self.shared,
            Space::Local => &mut state.local,
        }
    }

    fn read(&mut self, state: &State<'_>, cell: &Cell) -> Result<Value, Halt> {
        let array = &self.kernel.arrays[cell.0];
        if self.alone && array.space != Space::Local && self.written[cell.0.position()] {
            // Nothing is known of it; the run ends where something depends on it.
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

/// Lets warps go on whose threads all wait for each other at one place.
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
        false => Err(Halt::Stopped("threads of a warp do not meet")),
    }
}

/// The index that the machine has, whatever it would be without wrapping.
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
        Trouble::Undefined => Halt::Stopped("a value that nothing was assigned to matters"),
        Trouble::Shift(_) => Halt::Stopped("a shift by more than the width"),
    }
}
