//! Analyses a loop by one arbitrary iteration.
//!
//! A variable that a loop changes gets a value at the loop's head that represents every iteration. It is `x0 + k·c`
//! if each iteration adds the same `c` (a recurrence; `k` counts iterations), and `o_{k mod π}` if its values repeat
//! with period `π` (`orbits.rs`). Otherwise it is a symbol with inferred inductive facts (`infer.rs`). In a loop with
//! barriers all threads of a block are in the same iteration (all threads of a warp, if the loop has warp-level
//! operations). So `k`, and variables that only depend on values shared by the block, are symbols of the block. Which
//! variables these are is guessed, and the body is run until the guesses hold.

use super::Engine;
use super::barrier_invariants::stored_in;
use super::eval::in_type;
use super::guarded::Guarded;
use super::orbits::Orbit;
use super::state::{Claim, Flow, Mode, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::Index;
use kir::liveness;
use kir::{ArrayId, ExprKind, Loop, Stmt, Type, VarId, assigned, has_barrier, has_warp, visit};

/// Limit on the steps that are tried for a running index, besides those of other variables.
const MAX_STEPS: usize = 4;

/// The change of a variable from iteration to iteration.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// By the same amount in each iteration.
    Steady(Poly),
    /// By the same amount in each iteration but the last; after the loop it may be anything.
    Leading(Poly),
    /// By the same amount in each of the first iterations, then no more.
    Guarded(Guarded),
    /// Through a finite cycle of values.
    Orbit(Orbit),
    /// Irregularly; the level at which its value is shared.
    Free(Level),
    /// Not a supported integer; the level at which its value is shared.
    Untracked(Level),
    /// Assigned anew in each iteration before it is read.
    Fresh,
}

/// A loop with the changes of its variables.
pub(super) struct Shape {
    pub(super) vars: Vec<(VarId, Change)>,
    pub(super) level: Level,
    /// Arrays that it stores to, or that claims at its barriers mention.
    pub(super) stored: Vec<ArrayId>,
}

/// The level at which threads must agree on the number of iterations: those that synchronise inside.
pub(super) fn level(inner: &Loop) -> Level {
    let parts = [&inner.head, &inner.body, &inner.step];
    match () {
        () if parts.into_iter().any(|part| has_barrier(part)) => Level::Block,
        () if parts.into_iter().any(|part| has_warp(part)) => Level::Warp,
        () => Level::Thread,
    }
}

/// The state at the head of a loop.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) state: State,
    pub(super) count: Sym,
    /// Symbols of variables that change freely.
    pub(super) free: Vec<(VarId, Sym)>,
}

impl Engine<'_> {
    pub(super) fn run_loop(&mut self, inner: &Loop, entry: State) -> Option<State> {
        let level = level(inner);
        if level == Level::Block && self.mode == Mode::Interval {
            let exits = self.enter_or_exit(inner, entry);
            return self.join_states(exits);
        }
        self.loops.push((inner.span, level));
        let exit = self.run_arbitrary_iteration(inner, entry, level);
        self.loops.pop();
        exit
    }

    fn run_arbitrary_iteration(
        &mut self,
        inner: &Loop,
        entry: State,
        level: Level,
    ) -> Option<State> {
        let shape = self.shape(inner, &entry, level);
        self.oblige_loop_defined(inner, &entry);
        let facts = self.invariants(inner, &entry, &shape);
        let breaks = self.breaks(inner, &entry, &shape, &facts);
        let head = self.head(&entry, &shape);
        self.assume(&facts, &entry, &head);
        self.assume_earlier_tests(inner, &entry, &head);
        self.assume_no_earlier_break(&entry, breaks.as_ref(), &head);
        let end = self.iterate(inner, head.state.clone(), &mut Flow::default(), level)?;
        self.oblige_carried(inner, &shape, end.as_ref());
        // Induction: the invariants have a value at the first head (above) and, if they have one at a head, at the
        // next.
        if let Some(end) = &end {
            self.oblige_loop_defined(inner, end);
        }
        self.exit(inner, &entry, &shape, &facts, breaks)
    }

    /// Adds the obligation that values carried to the next iteration have not wrapped, where that matters.
    fn oblige_carried(&mut self, inner: &Loop, shape: &Shape, end: Option<&State>) {
        let Some(end) = end else { return };
        for (var, change) in &shape.vars {
            let slot = var.position();
            if let (Change::Free(_) | Change::Leading(_), SymbolicValue::Int(value), true) =
                (change, &end.vars[slot], self.relevant[slot])
            {
                let goal = in_type(value, self.kernel.vars[*var].ty);
                self.oblige(Claim::Carried(*var), goal, inner.span, end);
            }
        }
    }

    /// Runs one iteration; returns the state at its end. The outer `None`: no thread passes the loop's head
    /// statements. The inner `None`: no thread reaches the end of the iteration.
    pub(super) fn iterate(
        &mut self,
        inner: &Loop,
        state: State,
        flow: &mut Flow,
        level: Level,
    ) -> Option<Option<State>> {
        let mut state = self.run_part(0, &inner.head, state, &mut Flow::default())?;
        let condition = self.condition(&inner.condition, &state);
        if level < Level::Thread {
            // All threads of the block (or of the warp) continue, or none does.
            let mut continuing = state.clone();
            continuing.path.push(condition.clone());
            let claim = if level == Level::Block { Claim::Uniform } else { Claim::Converged };
            self.oblige(claim, Formula::True, inner.condition.span, &continuing);
        }
        state.path.push(condition);
        let end = self.run_part(1, &inner.body, state, flow);
        let ends: Vec<State> = end.into_iter().chain(std::mem::take(&mut flow.continues)).collect();
        let Some(next) = self.join_states(ends) else { return Some(None) };
        Some(self.run_part(2, &inner.step, next, flow))
    }

    /// Runs a part of a loop: its head, body or step, by number.
    fn run_part(
        &mut self,
        number: usize,
        part: &[Stmt],
        state: State,
        flow: &mut Flow,
    ) -> Option<State> {
        self.position.push(number);
        let end = self.run(part, 0, state, flow);
        self.position.pop();
        end
    }

    /// The state at the head of an arbitrary iteration.
    pub(super) fn head(&mut self, entry: &State, shape: &Shape) -> Head {
        let low = Some(Poly::constant(0));
        let count = self.prover.symbols.bounded("k", shape.level, low, None);
        let mut state = entry.clone();
        shape.stored.iter().for_each(|array| state.passed_barriers.forget(*array));
        let mut free = Vec::new();
        for (var, change) in &shape.vars {
            let slot = var.position();
            let ty = self.kernel.vars[*var].ty;
            state.vars[slot] = match (change, &entry.vars[slot]) {
                (Change::Steady(step) | Change::Leading(step), SymbolicValue::Int(first)) => {
                    let after_steps =
                        Poly::symbol(count).times(step).and_then(|far| far.plus(first));
                    match after_steps {
                        Some(poly) => SymbolicValue::Int(poly),
                        None => SymbolicValue::Int(self.unknown("large", Level::Thread, ty)),
                    }
                }
                (Change::Guarded(guarded), SymbolicValue::Int(first)) => {
                    match self.value_while_guarded(first, guarded, count) {
                        Some(poly) => SymbolicValue::Int(poly),
                        None => SymbolicValue::Int(self.unknown("large", Level::Thread, ty)),
                    }
                }
                (Change::Orbit(orbit), SymbolicValue::Int(_)) => {
                    match self.value_on_orbit(orbit, &Poly::symbol(count), *var) {
                        Some(poly) => SymbolicValue::Int(poly),
                        None => SymbolicValue::Int(self.unknown("large", Level::Thread, ty)),
                    }
                }
                (Change::Free(level), _) => {
                    let name = self.kernel.vars[*var].name.clone();
                    let value = self.unknown(&name, *level, ty);
                    free.extend(value.as_symbol().map(|sym| (*var, sym)));
                    SymbolicValue::Int(value)
                }
                (
                    Change::Steady(_) | Change::Leading(_) | Change::Guarded(_) | Change::Orbit(_),
                    _,
                ) => self.untracked(Level::Thread),
                (Change::Untracked(level), _) => self.untracked(*level),
                (Change::Fresh, _) => self.untracked(Level::Thread),
            };
        }
        Head { state, count, free }
    }

    /// Gives the symbols of a head the inferred facts. The facts were proved for threads that reach the loop. They
    /// claim nothing about other threads, whose values are joined with these after the loop.
    pub(super) fn assume(&mut self, facts: &super::infer::Facts, entry: &State, head: &Head) {
        let stated = self.state_invariants(facts, head);
        let elsewhere = Formula::and(entry.path.iter().cloned()).not();
        for (var, sym) in &head.free {
            let facts = facts.about(*var, head, &stated).into_iter();
            let guarded: Vec<Formula> =
                facts.map(|fact| Formula::or([elsewhere.clone(), fact])).collect();
            self.prover.symbols.get_mut(*sym).facts.extend(guarded);
        }
    }

    /// Finds the change of each variable by running the body.
    pub(super) fn shape(&mut self, inner: &Loop, entry: &State, level: Level) -> Shape {
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let mut changed: Vec<VarId> = Vec::new();
        for part in [&inner.head, &inner.body, &inner.step] {
            changed.extend(
                assigned(part).into_iter().filter(|var| !changed.contains(var)).collect::<Vec<_>>(),
            );
        }
        let fresh = liveness::fresh(inner, &changed, &self.reads);
        let first_guess = |engine: &Self, var: VarId| {
            if fresh.contains(&var) {
                return Change::Fresh;
            }
            let value = &entry.vars[var.position()];
            let integer = matches!(engine.kernel.vars[var].ty, Type::Int { .. } | Type::Whole);
            // Optimistic: shared at the same level as before the loop.
            let shared = engine.level(value).max(level);
            if integer { Change::Free(shared) } else { Change::Untracked(shared) }
        };
        let vars = changed.iter().map(|var| (*var, first_guess(self, *var))).collect();
        let stored = stored_in(inner);
        let mut shape = Shape { vars, level, stored };
        // The first pass creates symbols for values that the body computes from values before the loop.
        self.refine(inner, entry, &mut shape);
        // A level only rises, and a variable becomes steady only once; so this ends.
        while self.refine(inner, entry, &mut shape)
            || self.close_orbits(inner, entry, &mut shape)
            || self.find_guarded_index(inner, entry, &mut shape)
            || self.find_running_index(inner, entry, &mut shape)
        {}
        self.mode = mode;
        shape
    }

    /// Runs the body once with the current guesses. Returns `true` if they changed.
    fn refine(&mut self, inner: &Loop, entry: &State, shape: &mut Shape) -> bool {
        let before = self.prover.symbols.next();
        let head = self.head(entry, shape);
        let mut flow = Flow::default();
        let start = head.state.clone();
        let Some(Some(end)) = self.iterate(inner, start, &mut flow, shape.level) else {
            return false;
        };
        let mut learnt = false;
        for (var, change) in &mut shape.vars {
            let slot = var.position();
            let level = self.level(&end.vars[slot]);
            match change {
                Change::Free(own) => {
                    if let (
                        SymbolicValue::Int(now),
                        SymbolicValue::Int(then),
                        SymbolicValue::Int(_),
                    ) = (&end.vars[slot], &head.state.vars[slot], &entry.vars[slot])
                        && let Some(step) = now.minus(then)
                        && step.symbols().iter().all(|sym| *sym < before)
                    {
                        *change = Change::Steady(step);
                        learnt = true;
                    } else if level > *own {
                        *own = level;
                        learnt = true;
                    }
                }
                Change::Untracked(own) => {
                    learnt |= level > *own;
                    *own = level.max(*own);
                }
                Change::Steady(_)
                | Change::Leading(_)
                | Change::Guarded(_)
                | Change::Orbit(_)
                | Change::Fresh => {}
            }
        }
        learnt
    }

    /// Looks for a running index: a variable that advances by the step of another in every iteration but, perhaps,
    /// the last. An example is an index through tiles of which the last may be smaller. By induction it is known at
    /// the head of every iteration. The loop's test must not read it: the test is evaluated once more, where the
    /// index may be anything.
    fn find_running_index(&mut self, inner: &Loop, entry: &State, shape: &mut Shape) -> bool {
        let mut steps: Vec<Poly> = Vec::new();
        for (_, change) in &shape.vars {
            if let Change::Steady(step) = change
                && !step.is_zero()
                && !steps.contains(step)
            {
                steps.push(step.clone());
            }
        }
        steps.extend(self.steps_through_extremes(inner, entry, shape));
        for at in 0..shape.vars.len() {
            let (var, &Change::Free(level)) = (shape.vars[at].0, &shape.vars[at].1) else {
                continue;
            };
            if !self.relevant[var.position()] || !inner.head.is_empty() || is_tested(inner, var) {
                continue;
            }
            for step in &steps {
                shape.vars[at].1 = Change::Leading(step.clone());
                if self.advances_by(inner, entry, shape, (var, step)) {
                    return true;
                }
            }
            shape.vars[at].1 = Change::Free(level);
        }
        false
    }

    /// Returns candidate steps: those that an iteration takes if its minima and maxima are one of their operands, such
    /// as `c·s` if it takes `c·min(s, n − s·k)`.
    fn steps_through_extremes(&mut self, inner: &Loop, entry: &State, shape: &Shape) -> Vec<Poly> {
        let is_wanted = |(var, change): &&(VarId, Change)| {
            matches!(change, Change::Free(_)) && self.relevant[var.position()]
        };
        let vars: Vec<VarId> = shape.vars.iter().filter(is_wanted).map(|(var, _)| *var).collect();
        if vars.is_empty() || !inner.head.is_empty() || self.extremes.is_empty() {
            return Vec::new();
        }
        let before = self.prover.symbols.next();
        let head = self.head(entry, shape);
        let start = head.state.clone();
        let end = self.iterate(inner, start, &mut Flow::default(), shape.level);
        let Some(Some(end)) = end else { return Vec::new() };
        let mut found: Vec<Poly> = Vec::new();
        for var in vars {
            let slot = var.position();
            if let (SymbolicValue::Int(now), SymbolicValue::Int(then)) =
                (&end.vars[slot], &head.state.vars[slot])
                && let Some(step) = now.minus(then)
                && step.mentioned().any(|sym| sym >= before)
            {
                let steps = self.without_extremes(&step, before).into_iter();
                found.extend(steps.filter(|one| !one.is_zero()));
            }
        }
        found.dedup();
        found.truncate(MAX_STEPS);
        found
    }

    fn advances_by(
        &mut self,
        inner: &Loop,
        entry: &State,
        shape: &Shape,
        (var, step): (VarId, &Poly),
    ) -> bool {
        let head = self.head(entry, shape);
        let start = head.state.clone();
        let end = self.iterate(inner, start, &mut Flow::default(), shape.level);
        let Some(Some(mut end)) = end else { return false };
        let next = self.condition(&inner.condition, &end);
        end.path.push(next);
        let slot = var.position();
        let (SymbolicValue::Int(now), SymbolicValue::Int(then)) =
            (&end.vars[slot], &head.state.vars[slot])
        else {
            return false;
        };
        let difference = now.minus(then).and_then(|moved| moved.minus(step));
        difference
            .is_some_and(|one| self.prover.proves_without_solver(&end.path, &Formula::eq(one)))
    }
}

/// Returns `true` if the test, or a claim, at the head of a loop reads a variable.
fn is_tested(inner: &Loop, var: VarId) -> bool {
    let claims = inner.claims.iter().map(|one| &one.condition);
    let mut reads = false;
    for expr in inner.invariants.iter().chain([&inner.condition]).chain(claims) {
        visit(expr, &mut |part| reads |= matches!(part.kind, ExprKind::Var(own) if own == var));
    }
    reads
}
