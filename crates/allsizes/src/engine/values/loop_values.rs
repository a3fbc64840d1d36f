//! Collects the stores of loops from one arbitrary iteration, with closed forms of floating-point variables from their
//! recurrences.
//!
//! If each iteration of a loop adds to a variable a value that does not depend on it, the variable is a sum over the
//! iterations (`acc += f(k)` gives `Σ f`). Loops with `break` or `return` are refused: the set of iterations would
//! depend on more than the condition.

use super::super::Engine;
use super::super::infer::Facts;
use super::super::loops::{Head, Shape, level};
use super::super::state::{Mode, SymbolicValue};
use super::collect_stores::{Refusal, Runner, Track};
use super::finiteness::Finiteness;
use super::kernel_summary::{LoopRecord, RecordedClause};
use super::loop_invariants::{LoopReals, annotated_values};
use super::recurrences::{Recurrence, recurrences_of};
use super::value::{Atom, Value};
use crate::clause::{Clause, Monoid};
use crate::engine::state::Operation;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::Index;
use kir::{Builtin, Loop, Space, Stmt, VarId, assigned};

impl Runner<'_, '_> {
    pub(super) fn run_loop(
        &mut self,
        inner: &Loop,
        entry: Track,
    ) -> Result<Option<Track>, Refusal> {
        if has_early_exit(&inner.head) || has_early_exit(&inner.body) || has_early_exit(&inner.step)
        {
            let message = "a result of a loop that is left in the middle".to_owned();
            return Err((inner.span, message));
        }
        let parts = [&inner.head, &inner.body, &inner.step];
        let level = level(inner);
        let shape = self.engine.shape(inner, &entry.state, level);
        self.engine.mode = Mode::Interval;
        let facts = self.engine.invariants(inner, &entry.state, &shape);
        self.engine.mode = Mode::Probe;
        let mut changed: Vec<VarId> = Vec::new();
        for var in parts.into_iter().flat_map(|part| assigned(part)) {
            if self.is_real(var) && !changed.contains(&var) {
                changed.push(var);
            }
        }
        let records = std::mem::replace(&mut self.records, false);
        // First pass, with the variables as atoms: finds their recurrences.
        let mut recurrences: Vec<(VarId, Recurrence)> = Vec::new();
        if !changed.is_empty() {
            recurrences = self.find_recurrences(inner, &entry, (&shape, &facts), &changed)?;
        }
        self.records = records;
        let annotated = annotated_values(inner, &changed, &recurrences);
        let reals = LoopReals { recurrences, annotated };
        if self.records {
            let head = self.head(inner, &entry, &shape, &facts);
            let mut track = Track { state: head.state.clone(), reals: entry.reals.clone() };
            self.set_after_iterations(&reals, &entry, &Poly::symbol(head.count), &mut track);
            self.oblige_at_head(inner, &entry, &reals, (&track, &head));
            let end = self.iterate(inner, track, &head)?;
            self.oblige_after_iteration(&reals, end.as_ref(), &head);
            self.record_clauses(inner, &entry, &head, end.as_ref());
        }
        self.exit(inner, &entry, (&shape, &facts), &reals)
    }

    /// Finds the recurrences of variables. The possible non-finite values of each variable at its head are those
    /// before the loop or after an iteration, so this runs to a fixed point.
    fn find_recurrences(
        &mut self,
        inner: &Loop,
        entry: &Track,
        (shape, facts): (&Shape, &Facts),
        changed: &[VarId],
    ) -> Result<Vec<(VarId, Recurrence)>, Refusal> {
        let finiteness_of = |track: &Track| -> Vec<Finiteness> {
            changed.iter().map(|var| track.reals[var.position()].finiteness()).collect()
        };
        let mut finiteness = finiteness_of(entry);
        loop {
            let head = self.head(inner, entry, shape, facts);
            let mut track = Track { state: head.state.clone(), reals: entry.reals.clone() };
            let first = self.last_number + 1;
            for (var, known) in changed.iter().zip(&finiteness) {
                self.last_number += 1;
                track.reals[var.position()] = Value::atom(Atom::Carried(self.last_number, *known));
            }
            let carried: Vec<u32> = (first..=self.last_number).collect();
            let end = self.iterate(inner, track, &head)?;
            let after = end.as_ref().map_or_else(|| finiteness.clone(), finiteness_of);
            let either: Vec<Finiteness> =
                finiteness.iter().zip(after).map(|(before, after)| before.or(after)).collect();
            if either == finiteness {
                return Ok(recurrences_of(
                    changed,
                    (&carried, &finiteness),
                    end.as_ref(),
                    head.count,
                ));
            }
            finiteness = either;
        }
    }

    /// Records the clauses of a loop before it and in an iteration.
    fn record_clauses(&mut self, inner: &Loop, entry: &Track, head: &Head, end: Option<&Track>) {
        let this_loop = self.places.iter().position(|place| *place == self.position);
        let clauses: Vec<(usize, &Clause)> = self
            .clauses
            .iter()
            .enumerate()
            .filter_map(|(number, (of, clause))| {
                (Some(*of) == this_loop).then_some((number, clause))
            })
            .collect();
        // All threads of the block execute the same iterations, on any path to here.
        let path = entry.state.path.iter();
        let together = level(inner) == Level::Block
            && path
                .into_iter()
                .all(|one| self.engine.prover.symbols.formula_level(one) <= Level::Block);
        if clauses.is_empty() || !inner.head.is_empty() || !together {
            return;
        }
        let mut within = end.map(|end| self.shared_by_block(&end.state.path)).unwrap_or_default();
        let free: Vec<Poly> = head.free.iter().map(|(_, sym)| Poly::symbol(*sym)).collect();
        let (rewrites, rewritten) = self.find_rewrites(&free, &within);
        within.extend(rewritten);
        // Candidates: a minimum or maximum in a clause may equal one of these values.
        let mut targets = vec![Poly::constant(1)];
        targets.extend(free);
        targets.extend(self.sizes(entry));
        let mut record = LoopRecord {
            position: self.position.clone(),
            outer: self.loops.clone(),
            count: head.count,
            before: self.shared_by_block(&entry.state.path),
            within,
            rewrites,
            clauses: Vec::new(),
        };
        for (number, clause) in clauses {
            // Nothing is known about stores of other blocks.
            let one_block =
                (0..3).all(|axis| self.engine.builtin(Builtin::Block, axis).as_symbol().is_none());
            match self.engine.kernel.arrays[clause.array].space {
                Space::Shared => {}
                Space::Global if one_block => {}
                _ => continue,
            }
            let places = [Some(&entry.state), Some(&head.state), end.map(|end| &end.state)];
            // In an iteration its condition is true.
            let mut head = head.state.clone();
            head.path.extend(record.within.iter().cloned());
            let places = [places[0], Some(&head), places[2]];
            let ends = end.is_some();
            let [entry, head, end] = places.map(|state| self.clause_at(clause, state?, &targets));
            let (Some(entry), Some(head)) = (entry, head) else { continue };
            if ends && end.is_none() {
                continue;
            }
            let (array, exit) = (clause.array, None);
            let total = clause.total.as_ref().map(|op| Monoid::of(op, self.engine.kernel));
            record.clauses.push(RecordedClause { array, number, total, entry, head, end, exit });
        }
        self.recorded.push(record);
    }

    /// Sizes of the launch.
    fn sizes(&self, entry: &Track) -> Vec<Poly> {
        let block = (0..3).map(|axis| self.engine.builtin(Builtin::BlockDim, axis));
        let scalars = self.engine.kernel.scalars.iter();
        let scalars = scalars.filter_map(|var| match &entry.state.vars[var.position()] {
            SymbolicValue::Int(poly) => Some(poly.clone()),
            _ => None,
        });
        block.chain(scalars).filter(|one| one.as_constant().is_none()).collect()
    }

    /// Finds variables that the iteration divides without a remainder, and returns them as multiples of their
    /// quotients.
    fn find_rewrites(
        &mut self,
        free: &[Poly],
        within: &[Formula],
    ) -> (Vec<(Sym, Poly)>, Vec<Formula>) {
        let (mut rewrites, mut found) = (Vec::new(), Vec::new());
        for (operation, quotient) in self.engine.operations.clone() {
            let (value, by) = match operation {
                Operation::Div(value, by) => (value, by),
                Operation::Floor(value, by) => (value, Poly::constant(by)),
                _ => continue,
            };
            let Some(sym) = value.as_symbol().filter(|_| free.contains(&value)) else { continue };
            let Some(whole) = quotient.times(&by).filter(|_| by.as_constant().is_some()) else {
                continue;
            };
            let Some(exact) = value.minus(&whole).map(Formula::eq) else { continue };
            if self.engine.prover.proves(within, &exact) {
                rewrites.push((sym, whole));
                found.push(exact);
                let positive = quotient.offset(-1).map(Formula::ge);
                for fact in positive.into_iter().chain([Formula::Pow2(quotient.clone())]) {
                    if self.engine.prover.proves(within, &fact) {
                        found.push(fact);
                    }
                }
            }
        }
        (rewrites, found)
    }

    fn head(&mut self, inner: &Loop, entry: &Track, shape: &Shape, facts: &Facts) -> Head {
        let head = self.engine.head(&entry.state, shape);
        self.assume_at(inner, entry, facts, &head);
        head
    }

    fn assume_at(&mut self, inner: &Loop, entry: &Track, facts: &Facts, head: &Head) {
        self.engine.assume(facts, &entry.state, head);
        self.engine.assume_earlier_tests(inner, &entry.state, head);
    }

    /// Sets variables to their values after `count` iterations.
    fn set_after_iterations(
        &mut self,
        reals: &LoopReals,
        entry: &Track,
        count: &Poly,
        track: &mut Track,
    ) {
        let numbers =
            reals.recurrences.iter().all(|(var, _)| entry.reals[var.position()].is_finite());
        let first = count.offset(-1).map(Formula::ge).filter(|_| !numbers);
        let some = first.is_some_and(|one| self.engine.prover.proves(&entry.state.path, &one));
        for (var, recurrence) in &reals.recurrences {
            if let Some(term) = reals.annotation(*var) {
                let value = self.annotated_value(term, track);
                track.reals[var.position()] = value;
                continue;
            }
            let scales = match recurrence {
                Recurrence::Scaled { by, .. } => {
                    let first = &entry.reals[by.position()];
                    reals
                        .recurrences
                        .iter()
                        .any(|(other, recurrence)| other == by && recurrence.can_scale(first))
                }
                _ => true,
            };
            let value = recurrence.value(*var, entry, (count, some), track).filter(|_| scales);
            let name = &self.engine.kernel.vars[*var].name;
            let why = format!("the value of `{name}` after a loop that does not simply add to it");
            track.reals[var.position()] = value.unwrap_or_else(|| self.unknown(&why));
        }
    }

    fn iterate(
        &mut self,
        inner: &Loop,
        track: Track,
        head: &Head,
    ) -> Result<Option<Track>, Refusal> {
        let outer = std::mem::take(&mut self.continues);
        self.loops.push((self.position.len() - 1, head.count));
        self.monotone.push(false);
        let end = self.iteration(inner, track, head.count);
        self.monotone.pop();
        self.loops.pop();
        self.continues = outer;
        end
    }

    fn iteration(
        &mut self,
        inner: &Loop,
        track: Track,
        count: Sym,
    ) -> Result<Option<Track>, Refusal> {
        let Some(mut track) = self.run_part(0, &inner.head, track)? else { return Ok(None) };
        let condition = self.engine.condition(&inner.condition, &track.state);
        let condition = self.engine.as_upper_bounds(condition, count, &track.state.path);
        if let Some(monotone) = self.monotone.last_mut() {
            *monotone = is_monotone(&condition, count, self.engine);
        }
        track.state.path.push(condition);
        let end = self.run_part(1, &inner.body, track)?;
        let ends = end.into_iter().chain(std::mem::take(&mut self.continues)).collect();
        match self.join_tracks(ends) {
            Some(next) => self.run_part(2, &inner.step, next),
            None => Ok(None),
        }
    }

    fn run_part(
        &mut self,
        number: usize,
        statements: &[Stmt],
        track: Track,
    ) -> Result<Option<Track>, Refusal> {
        self.position.push(number);
        let end = self.run(statements, track);
        self.position.pop();
        end
    }

    /// Builds the state after the loop, with as many iterations as its condition allows.
    fn exit(
        &mut self,
        inner: &Loop,
        entry: &Track,
        (shape, facts): (&Shape, &Facts),
        reals: &LoopReals,
    ) -> Result<Option<Track>, Refusal> {
        let records = std::mem::replace(&mut self.records, false);
        let head = self.engine.last_head(&entry.state, shape);
        self.assume_at(inner, entry, facts, &head);
        let track = Track { state: head.state.clone(), reals: entry.reals.clone() };
        // Position 3 is after the loop's parts (0 to 2), so that loads here see the stores of all iterations.
        let ended = self.run_part(3, &inner.head, track);
        self.records = records;
        let Some(mut track) = ended? else { return Ok(None) };
        let condition = self.engine.condition(&inner.condition, &track.state);
        let condition = self.engine.as_upper_bounds(condition, head.count, &entry.state.path);
        if condition == Formula::True {
            return Ok(None);
        }
        let here = Formula::and(entry.state.path.iter().cloned());
        let known = here.implies(condition.clone().not());
        let count = head.count;
        for sym in head.free.iter().map(|(_, sym)| *sym).chain([count]) {
            self.engine.prover.symbols.get_mut(sym).facts.push(known.clone());
        }
        let mut times = Poly::symbol(count);
        if let Some(trips) = self.engine.trips(&condition, count, &entry.state.path) {
            if trips.is_nonnegative {
                self.engine.substitute_count(&mut track.state, count, &trips.number);
            }
            if let (Some(sym), Some(quotient)) = (trips.number.as_symbol(), trips.quotient) {
                self.lengths.insert(sym, quotient);
            }
            times = trips.number;
        }
        self.set_after_iterations(reals, entry, &times, &mut track);
        self.record_exit(entry, &head, &mut track, &known);
        Ok(Some(track))
    }

    /// Records the clauses of a loop after it.
    fn record_exit(&mut self, entry: &Track, head: &Head, track: &mut Track, left: &Formula) {
        let Some(at) = self.recorded.iter().rposition(|one| one.position == self.position) else {
            return;
        };
        if !self.records {
            return;
        }
        let mut known = self.shared_by_block(&entry.state.path);
        known.push(left.clone());
        let mut targets = vec![Poly::constant(0), Poly::constant(1)];
        targets.extend(self.sizes(entry));
        // Final values of variables, where known.
        for (_, sym) in &head.free {
            let free = Poly::symbol(*sym);
            let value = targets.iter().find(|target| {
                let difference = free.minus(target).map(Formula::eq);
                difference.is_some_and(|one| self.engine.prover.proves(&known, &one))
            });
            let Some(value) = value else { continue };
            for one in &mut track.state.vars {
                if let SymbolicValue::Int(poly) = one
                    && let Some(mapped) = poly.substituted(*sym, value)
                {
                    *poly = mapped;
                }
            }
        }
        let mut state = track.state.clone();
        state.path.push(left.clone());
        for number in 0..self.recorded[at].clauses.len() {
            let clause = &self.clauses[self.recorded[at].clauses[number].number].1;
            let exit = self.clause_at(clause, &state, &targets);
            self.recorded[at].clauses[number].exit = exit;
        }
    }
}

/// Returns `true` if a loop's condition is monotone: once false, it stays false in later iterations.
fn is_monotone(condition: &Formula, count: Sym, engine: &mut Engine<'_>) -> bool {
    // A symbol newer than the count may differ in each iteration.
    if condition.symbols().into_iter().any(|sym| sym > count) {
        return false;
    }
    condition.conjuncts().iter().all(|part| match part {
        Formula::Ge(poly) => match &poly.by_powers(count)[..] {
            [_] => true,
            [_, coefficient] => {
                let falls = coefficient.scaled(-1).map(Formula::ge);
                falls.is_some_and(|falls| engine.prover.proves(&[], &falls))
            }
            _ => false,
        },
        Formula::True => true,
        _ => false,
    })
}

fn has_early_exit(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match statement {
        Stmt::Break | Stmt::Return => true,
        Stmt::If(_, then, otherwise) => has_early_exit(then) || has_early_exit(otherwise),
        // A `break` inside belongs to the inner loop, which is refused on its own.
        Stmt::Loop(inner) => {
            has_early_exit(&inner.head)
                || has_early_exit(&inner.body)
                || has_early_exit(&inner.step)
        }
        _ => false,
    })
}
