//! Indices that a loop advances only while a condition holds: `if (k < n) i += c;`.
//!
//! If `i` grows by the same `c` in every iteration before the number `L`, and not at all from then on, then it is
//! `i0 + c·min(k, L)` at the head of iteration `k`, by induction. `L ≥ 0` and the two cases are proved for an arbitrary
//! iteration, whatever `i` is at its head. `L` is read off the condition under which the body selects the new value.
//! A guard of another form, or one that opens again, gives no such number.

use super::Engine;
use super::loops::{Change, Shape};
use super::state::{Flow, Operation, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use base::Index;
use kir::{Loop, Type, VarId};

/// A variable's growth: by a step in each of the first iterations, so many.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guarded {
    step: Poly,
    limit: Poly,
}

impl Engine<'_> {
    /// The value of a variable at the head of an iteration.
    pub(super) fn value_while_guarded(
        &mut self,
        first: &Poly,
        guarded: &Guarded,
        count: Sym,
    ) -> Option<Poly> {
        let growing = Operation::Min(Poly::symbol(count), guarded.limit.clone());
        let times = self.operation(growing, Type::Whole);
        first.plus(&guarded.step.times(&times)?)
    }

    /// Finds a variable that grows while a condition holds; returns `true` if there is one.
    pub(super) fn find_guarded_index(
        &mut self,
        inner: &Loop,
        entry: &State,
        shape: &mut Shape,
    ) -> bool {
        if !inner.head.is_empty() {
            return false;
        }
        let is_free = |change: &Change| matches!(change, Change::Free(_));
        let vars = shape.vars.iter().filter(|(_, change)| is_free(change)).map(|(var, _)| *var);
        let vars: Vec<VarId> = vars.filter(|var| self.relevant[var.position()]).collect();
        if vars.is_empty() {
            return false;
        }
        let before = self.prover.symbols.next();
        let head = self.head(entry, shape);
        let start = head.state.clone();
        let end = self.iterate(inner, start, &mut Flow::default(), shape.level);
        let Some(Some(end)) = end else { return false };
        for var in vars {
            let (Some(now), Some(then)) = (integer(&end, var), integer(&head.state, var)) else {
                continue;
            };
            for (condition, step) in self.guarded_steps(now, then) {
                if step.mentioned().any(|sym| sym >= before) {
                    continue;
                }
                let trips = self.trips(&condition, head.count, &entry.path);
                let Some(trips) = trips.filter(|trips| trips.is_nonnegative) else { continue };
                let guarded = Guarded { step, limit: trips.number };
                if self.grows_while(inner, entry, shape, (var, &guarded)) {
                    for (own, change) in &mut shape.vars {
                        if *own == var {
                            *change = Change::Guarded(guarded.clone());
                        }
                    }
                    return true;
                }
            }
        }
        false
    }

    /// Returns candidates: conditions under which a variable grows by a step.
    fn guarded_steps(&self, now: &Poly, then: &Poly) -> Vec<(Formula, Poly)> {
        let mut found = Vec::new();
        let Some(selected) = now.as_symbol() else { return found };
        for fact in &self.prover.symbols.get(selected).facts {
            let Formula::Or(sides) = fact else { continue };
            for side in sides {
                let Formula::And(parts) = side else { continue };
                let [condition @ Formula::Ge(_), Formula::Eq(difference)] = &parts[..] else {
                    continue;
                };
                let value = now.minus(difference).filter(|value| !value.mentions(selected));
                let step = value.and_then(|value| value.minus(then));
                if let Some(step) = step.filter(|step| !step.is_zero()) {
                    found.push((condition.clone(), step));
                }
            }
        }
        found
    }

    /// Returns `true` if it is proved that a variable grows by the step in the first iterations, and not afterwards.
    fn grows_while(
        &mut self,
        inner: &Loop,
        entry: &State,
        shape: &Shape,
        (var, guarded): (VarId, &Guarded),
    ) -> bool {
        let head = self.head(entry, shape);
        let count = Poly::symbol(head.count);
        let Some(left) = guarded.limit.minus(&count) else { return false };
        let grows = left.offset(-1).map(Formula::ge);
        let stays = left.scaled(-1).map(Formula::ge);
        [(grows, guarded.step.clone()), (stays, Poly::default())].into_iter().all(
            |(condition, step)| {
                let Some(condition) = condition else { return false };
                let mut start = head.state.clone();
                start.path.push(condition);
                // Paths that only this condition excludes are not infeasible.
                let pruned = self.pruned;
                let end = self.iterate(inner, start, &mut Flow::default(), shape.level);
                self.pruned = pruned;
                let Some(Some(end)) = end else { return true };
                let (now, then) = (integer(&end, var), integer(&head.state, var));
                let difference =
                    now.zip(then).and_then(|(now, then)| now.minus(then)?.minus(&step));
                difference.is_some_and(|one| {
                    self.prover.proves_without_solver(&end.path, &Formula::eq(one))
                })
            },
        )
    }

    /// Replaces minima and maxima by one of their operands in all ways; returns what depends on symbols before `before`
    /// alone.
    pub(super) fn without_extremes(&self, poly: &Poly, before: Sym) -> Vec<Poly> {
        let own = poly.symbols().into_iter().find(|sym| *sym >= before);
        let Some(sym) = own else { return vec![poly.clone()] };
        let Some((a, b, _)) = self.extremes.get(&sym) else { return Vec::new() };
        let replaced = [a, b].into_iter().filter_map(|one| poly.substituted(sym, one));
        replaced
            .filter(|one| !one.mentions(sym))
            .flat_map(|one| self.without_extremes(&one, before))
            .collect()
    }

    /// Replaces minima and maxima that a path decides.
    pub(super) fn decided_extremes(&mut self, poly: Poly, state: &State) -> Poly {
        let mut poly = poly;
        for sym in poly.symbols().into_iter().rev() {
            let Some((a, b, is_least)) = self.extremes.get(&sym).cloned() else { continue };
            let (Some(rising), Some(falling)) = (b.minus(&a), a.minus(&b)) else { continue };
            let mut shows =
                |poly: Poly| self.prover.proves_quickly(&state.path, &Formula::ge(poly));
            let value = match () {
                () if shows(rising) => {
                    if is_least {
                        a
                    } else {
                        b
                    }
                }
                () if shows(falling) => {
                    if is_least {
                        b
                    } else {
                        a
                    }
                }
                () => continue,
            };
            poly = poly.substituted(sym, &value).unwrap_or(poly);
        }
        poly
    }
}

fn integer(state: &State, var: VarId) -> Option<&Poly> {
    match &state.vars[var.position()] {
        SymbolicValue::Int(poly) => Some(poly),
        _ => None,
    }
}
