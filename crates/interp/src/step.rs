//! Executes one instruction of a thread.

use crate::arithmetic::Arithmetic;
use crate::code::Insn;
use crate::evaluate::{evaluate, truth};
use crate::machine::{Halt, Machine, State, halt};
use crate::outcome::{ASSUMPTION_FAILS, Event};
use crate::rounding::rounded;
use crate::shadow::AccessMode;
use crate::value::{EvaluationError, Value};
use crate::{atomics, bits};
use base::Index;
use kir::{AtomicOp, Element, Expr, VarId};

impl<'k> Machine<'k> {
    /// Executes the next instruction of a thread.
    pub(crate) fn step(&mut self, state: &mut State<'k>) -> Result<(), Halt> {
        self.steps += 1;
        if self.steps > self.budget {
            return Err(Halt::Stopped("the run takes too long"));
        }
        let pc = state.pc;
        state.pc += 1;
        match self.code.insns[pc] {
            Insn::Assign(var, expr) => self.assign(state, var, expr)?,
            Insn::Load(var, element) => {
                let cell = self.access(state, element, &AccessMode::Read)?;
                let value = self.read(state, &cell)?;
                let source = self.source_of(state, element, &cell, value);
                self.set_source(state.number, var, source);
                state.vars[var.position()] = value;
            }
            Insn::Store(element, expr) => self.store(state, pc, element, expr)?,
            Insn::Bits(var, name, arguments) => self.bit_function(state, var, name, arguments),
            // The run ends where a decision depends on such a value.
            Insn::Unknown(var) => {
                self.set_source(state.number, var, None);
                state.vars[var.position()] = Value::Undefined;
            }
            Insn::Atomic(var, op, element, operands) => {
                self.atomic(state, var, op, element, operands)?;
            }
            Insn::Unless(condition, target) => {
                if !self.decide(state, condition)? {
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
            Insn::Warp => state.waits_for_warp = !self.runs_one_thread,
            Insn::Return => state.ended = true,
            Insn::Assert(condition) => {
                if !self.holds(state, condition)? {
                    let event = Event::Assertion { span: condition.span, thread: state.at };
                    return Err(Halt::Event(Box::new(event)));
                }
            }
            Insn::Assume(condition) => {
                if !self.holds(state, condition)? {
                    return Err(Halt::Stopped(ASSUMPTION_FAILS));
                }
            }
            Insn::Enter(number) => {
                state.counts[number] = 0;
                self.record_head(state, pc, number);
            }
            Insn::Next(number) => {
                state.counts[number] += 1;
                self.record_head(state, pc, number);
            }
        }
        Ok(())
    }

    /// Evaluates an expression whose value is copied. An undefined value may be copied: only its use matters.
    fn copied_value(&self, state: &State<'k>, expr: &Expr, strict: bool) -> Result<Value, Halt> {
        match evaluate(expr, &self.view(state), strict) {
            Err(EvaluationError::Undefined) => Ok(Value::Undefined),
            other => other.map_err(|error| halt(error, state.at)),
        }
    }

    fn assign(&mut self, state: &mut State<'k>, var: VarId, expr: &Expr) -> Result<(), Halt> {
        let value = self.copied_value(state, expr, self.relevant[var.position()])?;
        let source = self.source_of_undefined(state, expr, value);
        self.set_source(state.number, var, source);
        state.vars[var.position()] = value;
        Ok(())
    }

    fn store(
        &mut self,
        state: &mut State<'k>,
        pc: usize,
        element: &Element,
        expr: &Expr,
    ) -> Result<(), Halt> {
        let value = atomics::as_stored(self.copied_value(state, expr, false)?);
        let cell = self.access(state, element, &AccessMode::Write(value))?;
        self.record_stored_source(state, expr, &cell, value);
        if let Some(history) = self.history.as_mut().filter(|_| state.at.block == [0; 3]) {
            history.store(&self.code, (pc, &state.counts), cell, value);
        }
        self.memory(state, &cell).insert(cell, value);
        Ok(())
    }

    fn bit_function(&mut self, state: &mut State<'k>, var: VarId, name: &str, arguments: &[Expr]) {
        let view = self.view(state);
        let values = arguments.iter().map(|one| evaluate(one, &view, false).ok());
        let values: Option<Vec<Value>> = values.collect();
        // An inexact float has other bits in compiled code.
        let is_known = self.compiled.as_ref().is_none_or(Arithmetic::exact);
        let value = values.and_then(|values| bits::evaluate(name, &values, is_known));
        let ty = self.kernel.vars[var].ty;
        let precision = self.kernel.precision;
        state.vars[var.position()] = match value {
            Some(Value::Int { value, .. }) => Value::int(ty.wrap(value)),
            // A narrower type may not have this float.
            Some(Value::Float(real)) if !precision.represents(real.value()) => {
                Value::Float(rounded(real, precision))
            }
            other => other.unwrap_or(Value::Undefined),
        };
    }

    fn atomic(
        &mut self,
        state: &mut State<'k>,
        var: VarId,
        op: AtomicOp,
        element: &Element,
        operands: &[Expr],
    ) -> Result<(), Halt> {
        let cell = self.access(state, element, &AccessMode::Atomic)?;
        let old = self.read(state, &cell)?;
        let view = self.view(state);
        let mut values = Vec::new();
        for operand in operands {
            let value = evaluate(operand, &view, false);
            values.push(value.map_err(|error| halt(error, state.at))?);
        }
        let ty = self.kernel.arrays[element.array].element;
        let new = atomics::updated_value(op, old, &values, (ty, self.kernel.precision));
        let new = match (&self.compiled, new, old, &values[..]) {
            (Some(compiled), Value::Float(sum), Value::Float(x), [Value::Float(y)])
                if op == AtomicOp::Add =>
            {
                let moved = compiled.atomic_sum(x.value(), y.value(), sum.value());
                Value::Float(sum.moved_to(moved))
            }
            _ => new,
        };
        self.memory(state, &cell).insert(cell, new);
        state.vars[var.position()] = old;
        Ok(())
    }

    /// Returns the truth of a condition that decides a branch. If it is undefined because of an uninitialised read,
    /// records that this read affects the result.
    fn decide(&mut self, state: &State<'k>, condition: &Expr) -> Result<bool, Halt> {
        let holds = truth(condition, &self.view(state));
        if holds == Err(EvaluationError::Undefined) {
            let source = self.source_of_undefined(state, condition, Value::Undefined);
            self.unwritten.iter_mut().for_each(|one| one.record_use(source));
        }
        holds.map_err(|error| halt(error, state.at))
    }

    fn holds(&self, state: &State<'k>, condition: &Expr) -> Result<bool, Halt> {
        truth(condition, &self.view(state)).map_err(|error| halt(error, state.at))
    }

    /// Records the variables of a thread at the head of a loop.
    fn record_head(&mut self, state: &State<'_>, pc: usize, number: usize) {
        if let Some(history) = self.history.as_mut().filter(|_| state.at.block == [0; 3]) {
            history.head(&self.code, (pc, &state.counts), number, &state.vars);
        }
    }
}
