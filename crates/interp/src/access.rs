//! Accesses of threads: checks the index and the contract, finds races, and tracks values of uninitialised elements.

use crate::contract::forbidden_access;
use crate::evaluate::evaluate;
use crate::machine::{Halt, Machine, State, ThreadView, WARP, halt};
use crate::outcome::{Access, AccessKind, Event};
use crate::shadow::{AccessMode, Cell, Memory};
use crate::value::{EvaluationError, Value, used_integer};
use base::Index;
use kir::spec::widens;
use kir::{ArrayId, Element, Expr, ExprKind, Space, Type, VarId};

/// Limit on the races kept from one run.
const MAX_RACES: usize = 64;

impl<'k> Machine<'k> {
    /// Returns the accessed element, checked against its array and recorded.
    pub(crate) fn access(
        &mut self,
        state: &State<'_>,
        element: &Element,
        mode: &AccessMode,
    ) -> Result<Cell, Halt> {
        let index = self.index(state, element)?;
        let (kind, value) = match mode {
            AccessMode::Read => (AccessKind::Read, None),
            AccessMode::Write(value) => (AccessKind::Write, value.number()),
            AccessMode::Atomic => (AccessKind::Atomic, None),
        };
        let access = Access { thread: state.at, span: element.span, kind, value };
        let array = element.array;
        let sizes = &self.sizes[array.position()];
        let mut inside = index.iter().zip(sizes);
        if !inside.all(|(at, size)| size.is_none_or(|size| (0..size).contains(at))) {
            let sizes = sizes.clone();
            return Err(Halt::Event(Box::new(Event::OutOfBounds { array, index, sizes, access })));
        }
        let forbidden = forbidden_access(self.kernel, self.launch, (array, &index), kind);
        if let Some(writes) = forbidden {
            let event = Event::Footprint { array, index, writes, access };
            return Err(Halt::Event(Box::new(event)));
        }
        let mut place = [0; 3];
        for (slot, at) in place.iter_mut().zip(&index) {
            *slot = *at;
        }
        let cell = (array, place);
        if self.kernel.arrays[array].space != Space::Local && !self.runs_one_thread {
            self.record_access(state, &cell, mode, access, index);
        }
        Ok(cell)
    }

    /// Evaluates the indices of an element.
    fn index(&self, state: &State<'_>, element: &Element) -> Result<Vec<i128>, Halt> {
        let view = self.view(state);
        let mut index = Vec::new();
        for expr in &element.index {
            let value = evaluate(expr, &view, true).and_then(|value| used_integer(value, expr));
            index.push(match value {
                // C defines the value of a wrapped index; it only matters if that is out of bounds.
                Err(
                    error @ EvaluationError::Overflow {
                        ty: Type::Int { signed: false, .. }, ..
                    },
                ) => {
                    let size = self.sizes[element.array.position()].get(index.len());
                    let outside = |at: &i128| {
                        size.copied().flatten().is_some_and(|size| !(0..size).contains(at))
                    };
                    let wrapped = wrapped_index(expr, &view).filter(outside);
                    wrapped.ok_or_else(|| halt(error, state.at))?
                }
                value => value.map_err(|error| halt(error, state.at))?,
            });
        }
        Ok(index)
    }

    /// Records an access of an array that threads share. If it conflicts with an earlier one, there is a race.
    fn record_access(
        &mut self,
        state: &State<'_>,
        cell: &Cell,
        mode: &AccessMode,
        access: Access,
        index: Vec<i128>,
    ) {
        // The ordering by warp functions is not modelled: the threads of a warp count as one.
        let agent = if self.has_warps { state.number / WARP } else { state.number };
        let mut conflict = self.between_threads.record(cell, agent, mode, &access);
        if self.kernel.arrays[cell.0].space == Space::Global {
            let [x, y, z] = state.at.block;
            let [width, height, _] = self.launch.grid;
            let block = u64::try_from((z * height + y) * width + x).unwrap_or(u64::MAX);
            conflict = conflict.or(self.between_blocks.record(cell, block, mode, &access));
        }
        if let Some(first) = conflict
            && self.events.len() < MAX_RACES
            && !self.rounding.decides()
        {
            self.events.push(Event::Race { array: cell.0, index, first, second: access });
        }
    }

    /// Returns the memory that holds an element.
    pub(crate) fn memory<'s>(
        &'s mut self,
        state: &'s mut State<'k>,
        cell: &Cell,
    ) -> &'s mut Memory {
        match self.kernel.arrays[cell.0].space {
            Space::Global => &mut self.global,
            Space::Shared => &mut self.shared,
            Space::Local => &mut state.local,
        }
    }

    /// Returns the value of an element in memory; an element of a global array is drawn at its first access.
    pub(crate) fn read(&mut self, state: &State<'_>, cell: &Cell) -> Result<Value, Halt> {
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
            None if array.space == Space::Global => self.initial_value(cell),
            None => Ok(Value::Undefined),
        }
    }

    /// Returns the uninitialised read that an undefined value comes from.
    pub(crate) fn source_of_undefined(
        &self,
        state: &State<'k>,
        expr: &Expr,
        value: Value,
    ) -> Option<usize> {
        let unwritten = self.unwritten.as_ref().filter(|one| !one.is_empty())?;
        if value != Value::Undefined {
            return None;
        }
        let view = self.view(state);
        unwritten.source_of_undefined(self.kernel, state.number, expr, &view)
    }

    /// Records the uninitialised read that a variable's value comes from, if there is one.
    pub(crate) fn set_source(&mut self, thread: u64, var: VarId, source: Option<usize>) {
        if let Some(unwritten) = &mut self.unwritten
            && (source.is_some() || !unwritten.is_empty())
        {
            unwritten.set_var(thread, var, source);
        }
    }

    /// Returns the number of the thread that a local array belongs to; `None` for other arrays.
    fn owner(&self, state: &State<'k>, array: ArrayId) -> Option<u64> {
        (self.kernel.arrays[array].space == Space::Local).then_some(state.number)
    }

    /// Returns the uninitialised read that a loaded value comes from: this load, if nothing was stored to the
    /// element.
    pub(crate) fn source_of(
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

    /// Records the uninitialised read that a stored value comes from. A value in global memory affects the result.
    pub(crate) fn record_stored_source(
        &mut self,
        state: &State<'k>,
        expr: &Expr,
        cell: &Cell,
        value: Value,
    ) {
        let source = self.source_of_undefined(state, expr, value);
        let owner = self.owner(state, cell.0);
        let is_global = self.kernel.arrays[cell.0].space == Space::Global;
        let Some(unwritten) = self.unwritten.as_mut().filter(|one| !one.is_empty()) else { return };
        match is_global {
            true => unwritten.record_use(source),
            false => unwritten.set_cell(owner, cell, source),
        }
    }
}

/// Returns the index after wrapping, as the machine computes it.
fn wrapped_index(expr: &Expr, view: &ThreadView<'_>) -> Option<i128> {
    match &expr.kind {
        ExprKind::Convert(inner) if widens(inner.ty, expr.ty) => wrapped_index(inner, view),
        _ => evaluate(expr, view, false).ok()?.number(),
    }
}
