//! The state after a loop, joined from its exits: one exit where the condition is false, and one for each `break`.
//!
//! A thread leaves a loop in one iteration only. So the facts of an exit are about the iteration that takes the exit.
//! The head of that iteration has symbols of its own. The facts hold for threads that take the exit, and say nothing
//! about other threads: an exit may never be taken.

use super::Engine;
use super::infer::Facts;
use super::loops::{Change, Head, Shape};
use super::state::{Flow, Mode, State};
use super::trips::steps_until_equal;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use kir::{Loop, Stmt};

/// The `break`s of a loop, from an iteration that may leave it.
pub(super) struct Breaks {
    head: Head,
    states: Vec<State>,
    /// The path conditions of an iteration that reaches its end, without those of the path to the loop.
    passed: Vec<Formula>,
}

/// A way out of a loop.
struct Exit {
    /// The head of the iteration that takes this exit.
    head: Head,
    /// Facts about a thread that takes this exit.
    known: Vec<Formula>,
    state: State,
}

impl Engine<'_> {
    /// Runs an iteration that may leave the loop by `break`; `None` if none can.
    pub(super) fn breaks(
        &mut self,
        inner: &Loop,
        entry: &State,
        shape: &Shape,
        facts: &Facts,
    ) -> Option<Breaks> {
        if ![&inner.body, &inner.step].into_iter().any(|part| has_break(part)) {
            return None;
        }
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let head = self.head(entry, shape);
        self.assume(facts, entry, &head);
        self.assume_earlier_tests(inner, entry, &head);
        let mut flow = Flow::default();
        let end = self.iterate(inner, head.state.clone(), &mut flow, shape.level).flatten();
        self.mode = mode;
        let new_conditions =
            |state: &State| state.path.get(entry.path.len()..).unwrap_or_default().to_vec();
        let passed = end.as_ref().map(new_conditions).unwrap_or_default();
        let breaks = Breaks { head, states: flow.breaks, passed };
        self.assume_no_earlier_break(entry, Some(&breaks), &breaks.head);
        Some(breaks)
    }

    /// The state at a head that may be the last.
    pub(super) fn last_head(&mut self, entry: &State, shape: &Shape) -> Head {
        let vars = shape.vars.iter().map(|(var, change)| match change {
            Change::Leading(_) => (*var, Change::Free(Level::Thread)),
            other => (*var, other.clone()),
        });
        let (vars, level, stored) = (vars.collect(), shape.level, shape.stored.clone());
        self.head(entry, &Shape { vars, level, stored })
    }

    /// The state after the loop: left because the condition is false, or by a `break`.
    pub(super) fn exit(
        &mut self,
        inner: &Loop,
        entry: &State,
        shape: &Shape,
        facts: &Facts,
        breaks: Option<Breaks>,
    ) -> Option<State> {
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let regular = self.regular_exit(inner, entry, shape, facts, breaks.as_ref());
        let mut exits: Vec<Exit> = Vec::new();
        if let Some(Breaks { head, states, .. }) = breaks {
            for state in states {
                // The path of an iteration begins with that of the loop.
                let known = state.path.get(entry.path.len()..).unwrap_or_default();
                let known = vec![Formula::and(known.iter().cloned())];
                exits.push(Exit { head: head.clone(), known, state });
            }
        }
        exits.extend(regular);
        let exit = self.join_exits(entry, shape, exits);
        self.mode = mode;
        exit
    }

    /// Joins the exits: a symbol selects the exit that a thread took, and the facts of that exit hold if it did. The
    /// selection is not a condition of the thread's path, since every thread takes some exit.
    fn join_exits(&mut self, entry: &State, shape: &Shape, exits: Vec<Exit>) -> Option<State> {
        let here = Formula::and(entry.path.iter().cloned());
        let last = i128::try_from(exits.len()).unwrap_or(0) - 1;
        let choice = (last > 0).then(|| {
            let (low, high) = (Some(Poly::constant(0)), Some(Poly::constant(last)));
            self.prover.symbols.bounded("exit", shape.level, low, high)
        });
        let mut all: Option<State> = None;
        for (number, Exit { head, known, state }) in (0..).zip(exits) {
            let is_chosen = choice.map_or(Formula::True, |choice| {
                Poly::symbol(choice).offset(-number).map_or(Formula::False, Formula::eq)
            });
            let is_taken = Formula::and([here.clone(), is_chosen.clone()]);
            let facts: Vec<Formula> =
                known.into_iter().map(|known| is_taken.clone().implies(known)).collect();
            // A query finds facts by its symbols, and the count may not be among them. So other symbols get them, too.
            let free = head.free.iter().map(|(_, sym)| *sym);
            for sym in free.chain([head.count]).chain(choice).collect::<Vec<Sym>>() {
                self.prover.symbols.get_mut(sym).facts.extend(facts.iter().cloned());
            }
            all = Some(match all {
                None => {
                    // Claims made in an iteration do not apply after the loop.
                    let mut passed_barriers = entry.passed_barriers.clone();
                    shape.stored.iter().for_each(|array| passed_barriers.forget(*array));
                    State { path: entry.path.clone(), passed_barriers, ..state }
                }
                Some(mut before) => {
                    let is_earlier = is_chosen.clone().not();
                    for (var, _) in &shape.vars {
                        let slot = base::Index::position(*var);
                        let name = self.kernel.vars[*var].name.clone();
                        let sides = [
                            (&is_earlier, before.vars[slot].clone()),
                            (&is_chosen, state.vars[slot].clone()),
                        ];
                        before.vars[slot] = self.select(&name, sides);
                    }
                    before
                }
            });
        }
        all
    }

    /// The exit where the condition is false, after some number of iterations.
    fn regular_exit(
        &mut self,
        inner: &Loop,
        entry: &State,
        shape: &Shape,
        facts: &Facts,
        breaks: Option<&Breaks>,
    ) -> Option<Exit> {
        let head = self.last_head(entry, shape);
        self.assume(facts, entry, &head);
        self.assume_earlier_tests(inner, entry, &head);
        self.assume_no_earlier_break(entry, breaks, &head);
        let count = head.count;
        let mut state = self.run(&inner.head, 0, head.state.clone(), &mut Flow::default())?;
        let condition = self.condition(&inner.condition, &state);
        let condition = self.as_upper_bounds(condition, count, &entry.path);
        if condition == Formula::True {
            self.pruned = true;
            return None;
        }
        // A thread that gets here has seen the condition false.
        let mut known = vec![condition.clone().not()];
        let trips = self.trips(&condition, count, &entry.path).filter(|trips| trips.is_nonnegative);
        if let Some(trips) = trips {
            self.substitute_count(&mut state, count, &trips.number);
            known.extend(Poly::symbol(count).minus(&trips.number).map(Formula::eq));
        }
        Some(Exit { head, known, state })
    }

    /// Adds that, in all iterations but the first, the condition was true in the previous one. It can be stated if the
    /// condition depends only on the count and on values that the loop does not change.
    pub(super) fn assume_earlier_tests(&mut self, inner: &Loop, entry: &State, head: &Head) {
        if !inner.head.is_empty() {
            return;
        }
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let condition = self.condition(&inner.condition, &head.state);
        self.mode = mode;
        self.assume_earlier(entry, (&condition, head.count), head);
    }

    /// Adds that no earlier iteration left by a `break`: in all iterations but the first, the previous one passed to
    /// its end.
    pub(super) fn assume_no_earlier_break(
        &mut self,
        entry: &State,
        breaks: Option<&Breaks>,
        head: &Head,
    ) {
        let Some(Breaks { head: other, passed, .. }) = breaks else { return };
        for condition in passed {
            self.assume_earlier(entry, (condition, other.count), head);
        }
    }

    /// Adds facts to a head: a condition held in all iterations before the one that begins there. In the condition,
    /// `count` is the number of the iteration. The number 0 satisfies the facts, so they exclude nothing if the head
    /// belongs to an exit that is never taken.
    fn assume_earlier(&mut self, entry: &State, (condition, count): (&Formula, Sym), head: &Head) {
        let iteration = Poly::symbol(head.count);
        // A head's own symbols are newer than its count; their values in other iterations are unknown.
        let changing = condition.symbols().into_iter().any(|sym| sym > count);
        if changing {
            return;
        }
        let mut facts = Vec::new();
        let at =
            |number: &Poly, one: &Formula| one.mapped(&mut |poly| poly.substituted(count, number));
        let before = iteration.offset(-1).and_then(|before| at(&before, condition));
        facts.extend(before.map(|before| Formula::or([Formula::eq(iteration.clone()), before])));
        let reached = condition.conjuncts().iter().filter_map(|one| not_reached(one, count));
        facts.extend(reached.filter_map(|one| at(&iteration, &one)));
        let elsewhere = Formula::and(entry.path.iter().cloned()).not();
        let facts = facts.into_iter().map(|fact| Formula::or([fact, elsewhere.clone()]));
        self.prover.symbols.get_mut(head.count).facts.extend(facts);
    }
}

/// The consequence of a condition `k != top` that held in all earlier iterations: `k` began with 0 and grew by 1, so it
/// is at most `top`, unless `top` is negative.
fn not_reached(condition: &Formula, count: Sym) -> Option<Formula> {
    let top = steps_until_equal(condition, count)?;
    let left = top.minus(&Poly::symbol(count))?;
    Some(Formula::or([Formula::ge(top).not(), Formula::ge(left)]))
}

/// Returns `true` if a statement leaves the loop around it by `break`.
fn has_break(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match statement {
        Stmt::Break => true,
        Stmt::If(_, then, otherwise) => has_break(then) || has_break(otherwise),
        // A `break` inside belongs to the inner loop.
        _ => false,
    })
}
