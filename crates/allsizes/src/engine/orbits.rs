//! Orbits: integers that a loop changes periodically, such as the index of the current buffer.
//!
//! If the values `o₀ → o₁ → … → o₀` follow each other in every state of the other variables, a variable that begins
//! with `o₀` is `o_{k mod π}` after `k` iterations: by induction over the iterations. Each step is one run of the body
//! with the constant in place of the variable, so any update that the engine can evaluate counts
//! (`p = p == 0 ? 1 : 0`, `p ^= 1`, `p = (p + 1) % 3`), and so do variables that change together.

use super::Engine;
use super::loops::{Change, Shape};
use super::state::{Flow, Operation, State, SymbolicValue};
use arith::poly::Poly;
use base::Index;
use kir::{Loop, VarId};

/// Limit on the steps from a value until it returns.
const MAX_STEPS: usize = 9;

/// A cycle of values: after `k` iterations the value is `low + unit·((factor·k + shift) mod period)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orbit {
    low: i128,
    unit: i128,
    factor: i128,
    shift: i128,
    period: i128,
}

impl Orbit {
    /// Fits a cycle of values, which begins with the first of them.
    fn fit(values: &[i128]) -> Option<Self> {
        let period = i128::try_from(values.len()).ok().filter(|one| *one >= 2)?;
        let (low, high) = (*values.iter().min()?, *values.iter().max()?);
        let unit = high.checked_sub(low)?.checked_div(period - 1).filter(|unit| *unit > 0)?;
        let digit = |value: i128| (value - low) / unit;
        let (shift, next) = (digit(*values.first()?), digit(*values.get(1)?));
        let factor = (next - shift).rem_euclid(period);
        let orbit = Self { low, unit, factor, shift, period };
        let fits = (0..).zip(values).all(|(count, value)| orbit.at(count) == Some(*value));
        fits.then_some(orbit)
    }

    fn at(&self, count: i128) -> Option<i128> {
        let turn = self.factor.checked_mul(count)?.checked_add(self.shift)?;
        self.unit.checked_mul(turn.rem_euclid(self.period))?.checked_add(self.low)
    }
}

impl Engine<'_> {
    /// The value of an orbit after a number of iterations.
    pub(super) fn value_on_orbit(
        &mut self,
        orbit: &Orbit,
        count: &Poly,
        var: VarId,
    ) -> Option<Poly> {
        let ty = self.kernel.vars[var].ty;
        let turn = count.scaled(orbit.factor)?.offset(orbit.shift)?;
        let quotient = self.operation(Operation::Floor(turn.clone(), orbit.period), ty);
        let digit = turn.minus(&quotient.scaled(orbit.period)?)?;
        digit.scaled(orbit.unit)?.offset(orbit.low)
    }

    /// Finds variables whose values form a cycle; returns `true` if there are any.
    pub(super) fn close_orbits(&mut self, inner: &Loop, entry: &State, shape: &mut Shape) -> bool {
        let mut candidates: Vec<(VarId, i128)> = Vec::new();
        for (var, change) in &shape.vars {
            if let (Change::Free(_), SymbolicValue::Int(first)) =
                (change, &entry.vars[var.position()])
                && self.relevant[var.position()]
            {
                candidates.extend(first.as_constant().map(|first| (*var, first)));
            }
        }
        while !candidates.is_empty() {
            // Code that is not reached with these constants may be reached with other values, so the flag is restored.
            let pruned = self.pruned;
            let rows = self.follow_cycle(inner, entry, shape, &candidates);
            self.pruned = pruned;
            let rows = match rows {
                Ok(rows) => rows,
                Err(irregular) => {
                    candidates.retain(|(var, _)| !irregular.contains(var));
                    continue;
                }
            };
            let column = |column: usize| -> Vec<i128> {
                rows.iter().filter_map(|row| row.get(column).copied()).collect()
            };
            let columns = candidates.iter().enumerate();
            let columns: Vec<(VarId, Vec<i128>)> =
                columns.map(|(number, (var, _))| (*var, column(number))).collect();
            // The machine wraps such a value, and other variables may have been computed from the wrapped one.
            let wraps = columns.iter().find(|(var, values)| {
                !values.iter().all(|value| self.kernel.vars[*var].ty.holds(*value))
            });
            if let Some((wrapped, _)) = wraps {
                candidates.retain(|(var, _)| var != wrapped);
                continue;
            }
            let orbits = columns
                .iter()
                .filter_map(|(var, values)| Orbit::fit(&cycle(values)).map(|orbit| (*var, orbit)));
            let found: Vec<(VarId, Orbit)> = orbits.collect();
            for (var, change) in &mut shape.vars {
                if let Some((_, orbit)) = found.iter().find(|(one, _)| one == var) {
                    *change = Change::Orbit(*orbit);
                }
            }
            return !found.is_empty();
        }
        false
    }

    /// Runs iterations until the first values recur; returns the values at the head of each. If they do not recur,
    /// returns the variables to leave out.
    fn follow_cycle(
        &mut self,
        inner: &Loop,
        entry: &State,
        shape: &Shape,
        candidates: &[(VarId, i128)],
    ) -> Result<Vec<Vec<i128>>, Vec<VarId>> {
        let mut row: Vec<i128> = candidates.iter().map(|(_, first)| *first).collect();
        let mut rows: Vec<Vec<i128>> = Vec::new();
        while rows.len() < MAX_STEPS {
            let mut head = self.head(entry, shape);
            for ((var, _), value) in candidates.iter().zip(&row) {
                head.state.vars[var.position()] = SymbolicValue::Int(Poly::constant(*value));
            }
            rows.push(row);
            let end = self.iterate(inner, head.state, &mut Flow::default(), shape.level);
            let all = || candidates.iter().map(|(var, _)| *var).collect::<Vec<_>>();
            let Some(Some(end)) = end else { return Err(all()) };
            let next: Vec<Option<i128>> = candidates
                .iter()
                .map(|(var, _)| match &end.vars[var.position()] {
                    SymbolicValue::Int(value) => value.as_constant(),
                    _ => None,
                })
                .collect();
            let unknown = candidates.iter().zip(&next).filter(|(_, value)| value.is_none());
            let unknown: Vec<VarId> = unknown.map(|((var, _), _)| *var).collect();
            if !unknown.is_empty() {
                return Err(unknown);
            }
            row = next.into_iter().flatten().collect();
            if rows.first() == Some(&row) {
                return Ok(rows);
            }
        }
        // Variables that have not returned to their first value keep the others from closing a common cycle.
        let open = (0..candidates.len()).filter(|column| {
            let mut later = rows.iter().skip(1).map(|row| row[*column]);
            !later.any(|value| value == rows[0][*column])
        });
        let open: Vec<VarId> = open.map(|column| candidates[column].0).collect();
        Err(if open.is_empty() { candidates.iter().map(|(var, _)| *var).collect() } else { open })
    }
}

/// Returns the shortest prefix of which the values are repetitions.
fn cycle(values: &[i128]) -> Vec<i128> {
    let repeats = |length: &usize| {
        values.len().is_multiple_of(*length)
            && values.iter().skip(*length).zip(values).all(|(later, value)| later == value)
    };
    let length = (1..=values.len()).find(repeats).unwrap_or(values.len());
    values.iter().take(length).copied().collect()
}
