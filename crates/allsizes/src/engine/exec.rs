//! Executes statements for one symbolic thread: states split at branches and are joined after them.
//!
//! In `Full` mode the whole kernel is passed once, loops in one arbitrary iteration; obligations, accesses and
//! barriers are recorded. In `Interval` mode a thread runs from a barrier to the next ones, which gives all accesses
//! that no barrier separates.

use super::Engine;
use super::input_contents::contents;
use super::state::{
    BarrierPoint, Claim, Flow, Mode, Obligation, PassedBarriers, Site, State, SymbolicValue,
};
use arith::formula::Formula;
use arith::poly::Poly;
use arith::symbols::Level;
use base::{Index, Span};
use deadline::tick;
use interp::AccessKind;
use kir::{Element, Expr, ExprKind, Loop, Stmt, Type, has_barrier, has_warp};

impl Engine<'_> {
    /// Runs statements; `None` if no thread gets past them.
    pub(super) fn run(
        &mut self,
        statements: &[Stmt],
        first: usize,
        state: State,
        flow: &mut Flow,
    ) -> Option<State> {
        let mut state = state;
        for (position, statement) in statements.iter().enumerate() {
            if state.path.contains(&Formula::False) {
                self.pruned = true;
                return None;
            }
            self.position.push(first + position);
            let next = self.statement(statement, state, flow);
            self.position.pop();
            state = next?;
        }
        Some(state)
    }

    /// Executes a statement; `None` if no thread gets past it. Long: one arm for each kind of statement.
    fn statement(&mut self, statement: &Stmt, mut state: State, flow: &mut Flow) -> Option<State> {
        tick();
        match statement {
            Stmt::Assign(var, value) => {
                let strict = self.relevant[var.position()];
                state.vars[var.position()] = self.eval(value, &state, strict);
            }
            Stmt::Load(var, element) => {
                let index = self.record_access(element, AccessKind::Read, None, &state);
                let ty = self.kernel.arrays[element.array].element;
                state.vars[var.position()] = self.load(element, index, ty, &state.passed_barriers);
            }
            Stmt::Store(element, value) => {
                let stored = match self.eval(value, &state, false) {
                    SymbolicValue::Int(poly) => Some(poly),
                    _ if self.is_same_in_all_threads(value) => {
                        let sym = self.prover.symbols.fresh("stored", Level::Launch);
                        Some(Poly::symbol(sym))
                    }
                    _ => None,
                };
                self.record_access(element, AccessKind::Write, stored, &state);
                state.passed_barriers.forget(element.array);
            }
            Stmt::Atomic { result, element, operands, .. } => {
                for operand in operands {
                    self.eval(operand, &state, false);
                }
                self.record_access(element, AccessKind::Atomic, None, &state);
                state.passed_barriers.forget(element.array);
                let ty = self.kernel.arrays[element.array].element;
                state.vars[result.position()] = match ty {
                    Type::Float | Type::Bool => self.untracked(Level::Thread),
                    _ => SymbolicValue::Int(self.unknown("atomic", Level::Thread, ty)),
                };
            }
            Stmt::Unknown(var) | Stmt::Bits(var, ..) => {
                state.vars[var.position()] = self.unknown_of(*var);
            }
            Stmt::If(condition, then, otherwise) => {
                let condition = self.condition(condition, &state);
                return self.branch(condition, [then, otherwise], state, flow);
            }
            Stmt::Loop(inner) => return self.run_loop(inner, state),
            Stmt::Claims(claims) => {
                if self.mode != Mode::Interval {
                    claims.iter().for_each(|one| self.oblige_claim_defined(one, &state));
                    self.pass_barrier(claims, &mut state);
                }
            }
            Stmt::Given(given) => {
                if self.mode != Mode::Interval {
                    given.claims.iter().for_each(|one| self.oblige_claim_defined(one, &state));
                    self.pass_call(given, &mut state);
                }
            }
            Stmt::Barrier(span) => {
                if self.mode == Mode::Interval {
                    return None;
                }
                self.record_barrier(*span, &state);
            }
            Stmt::Warp(span) => self.oblige(Claim::Converged, Formula::True, *span, &state),
            Stmt::Return => {
                self.require_uniform_exit(&state, true);
                return None;
            }
            Stmt::Break => {
                self.require_uniform_exit(&state, false);
                flow.breaks.push(state);
                return None;
            }
            Stmt::Continue => {
                flow.continues.push(state);
                return None;
            }
            Stmt::Assert(condition) => {
                self.oblige_defined((&[], condition), &state);
                let goal = self.condition(condition, &state);
                self.oblige(Claim::Assertion, goal, condition.span, &state);
            }
            Stmt::Used(condition, lemma) => self.use_lemma((condition, *lemma), &state),
            Stmt::Assume(condition) => {
                self.oblige_defined((&[], condition), &state);
                let fact = self.condition(condition, &state);
                state.path.push(fact);
            }
        }
        Some(state)
    }

    /// Returns `true` if a value is computed from numbers and unmodified parameters only, so that it is the same in all
    /// threads.
    fn is_same_in_all_threads(&self, value: &Expr) -> bool {
        let mut same = true;
        kir::visit(value, &mut |inner| {
            same &= match inner.kind {
                ExprKind::Var(var) => {
                    self.kernel.scalars.contains(&var) && !self.assigned.contains(&var)
                }
                ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Unary(..) => true,
                ExprKind::Binary(..) | ExprKind::Convert(_) | ExprKind::Call(..) => true,
                _ => false,
            };
        });
        same
    }

    /// Adds the obligation that all threads of a block leave a loop with barriers together, or return together if they
    /// are in any loop. Otherwise the remaining threads would wait for them forever.
    fn require_uniform_exit(&mut self, state: &State, returns: bool) {
        let body = &self.kernel.body;
        let span = self.loops.last().map_or(self.kernel.span, |(span, _)| *span);
        let points = [
            (Level::Block, Claim::Uniform, has_barrier(body)),
            (Level::Warp, Claim::Converged, has_warp(body)),
        ];
        for (level, claim, exists) in points {
            let together = |one: &(Span, Level)| one.1 <= level && exists;
            let matters = match returns {
                true => self.loops.iter().any(together) || !self.loops.is_empty() && exists,
                false => self.loops.last().is_some_and(together),
            };
            if matters {
                self.oblige(claim, Formula::True, span, state);
            }
        }
    }

    fn record_barrier(&mut self, span: Span, state: &State) {
        self.oblige(Claim::Uniform, Formula::True, span, state);
        if self.mode == Mode::Full {
            let position = self.position.clone();
            self.barrier_points.push(BarrierPoint { span, position, state: state.clone() });
        }
    }

    fn branch(
        &mut self,
        condition: Formula,
        parts: [&[Stmt]; 2],
        state: State,
        flow: &mut Flow,
    ) -> Option<State> {
        let mut ends = Vec::new();
        let conditions = [condition.clone(), condition.not()];
        for (number, (condition, part)) in conditions.into_iter().zip(parts).enumerate() {
            if condition == Formula::False {
                self.pruned = true;
                continue;
            }
            let mut inner = state.clone();
            inner.path.push(condition);
            self.position.push(number);
            let end = self.run(part, 0, inner, flow);
            self.position.pop();
            ends.extend(end);
        }
        self.join_states(ends)
    }

    /// Joins several states. Their paths share a prefix, and exclude each other after it.
    pub(super) fn join_states(&mut self, states: Vec<State>) -> Option<State> {
        let mut states = states.into_iter();
        let mut all = states.next()?;
        for next in states {
            let pairs = all.path.iter().zip(&next.path);
            let base = pairs.take_while(|(one, other)| one == other).count();
            let conditions = [&all, &next].map(|state| {
                Formula::and(state.path.get(base..).unwrap_or_default().iter().cloned())
            });
            let mut vars = Vec::with_capacity(all.vars.len());
            for (position, (one, other)) in all.vars.iter().zip(&next.vars).enumerate() {
                let name = &self.kernel.vars[Index::from_position(position)].name.clone();
                let sides = [(&conditions[0], one.clone()), (&conditions[1], other.clone())];
                vars.push(self.select(name, sides));
            }
            let mut path = all.path;
            path.truncate(base);
            let [one, other] = conditions;
            if one != other.clone().not() {
                path.push(Formula::or([one, other]));
            }
            let passed_barriers = all.passed_barriers.common(&next.passed_barriers);
            all = State { vars, path, passed_barriers };
        }
        Some(all)
    }

    /// The value of an element, with the facts that its index and the contract give.
    pub(super) fn load(
        &mut self,
        element: &Element,
        index: Vec<Poly>,
        ty: Type,
        passed_barriers: &PassedBarriers,
    ) -> SymbolicValue {
        let levels = index.iter().map(|one| self.prover.symbols.level(one));
        let constant = !self.written[element.array.position()];
        let level = match constant {
            true => levels.max().unwrap_or(Level::Launch),
            false => Level::Thread,
        };
        let level = if constant && self.kernel.arrays[element.array].space == kir::Space::Global {
            level
        } else {
            Level::Thread
        };
        match ty {
            Type::Float | Type::Bool => self.untracked(level),
            _ => {
                let value =
                    self.unknown(&self.kernel.arrays[element.array].name.clone(), level, ty);
                if let Some(sym) = value.as_symbol().filter(|_| level < Level::Thread || constant) {
                    let facts = self.required_of_element(element.array, &index, &value);
                    let symbol = self.prover.symbols.get_mut(sym);
                    symbol.facts.extend(facts);
                    symbol.element = Some((contents(element.array), index));
                } else if let Some(sym) = value.as_symbol()
                    && let Some(version) = passed_barriers.version(element.array)
                {
                    let facts = self.facts_of_loaded(version, element.array, &index, sym);
                    if let Some(exact) = facts.iter().find_map(|one| self.value_given_by(one, sym))
                    {
                        return SymbolicValue::Int(exact);
                    }
                    self.prover.symbols.get_mut(sym).facts.extend(facts);
                }
                SymbolicValue::Int(value)
            }
        }
    }

    /// Records an access; returns its indices.
    fn record_access(
        &mut self,
        element: &Element,
        kind: AccessKind,
        value: Option<Poly>,
        state: &State,
    ) -> Vec<Poly> {
        let mut index = Vec::new();
        for expr in &element.index {
            let at = match self.eval(expr, state, true) {
                SymbolicValue::Int(poly) => poly,
                _ => self.unknown("index", Level::Thread, expr.ty),
            };
            self.oblige_in_range(&at, expr, state);
            index.push(at);
        }
        if self.mode == Mode::Full {
            self.oblige_in_bounds(element, &index, state);
            self.oblige_footprint(element, &index, kind, state);
        }
        if self.mode != Mode::Probe {
            let (array, span, path) = (element.array, element.span, state.path.clone());
            let (index, passed) = (index.clone(), state.passed_barriers.passed());
            self.sites.push(Site { array, index, kind, value, path, passed, span });
        }
        index
    }

    fn oblige_in_bounds(&mut self, element: &Element, index: &[Poly], state: &State) {
        let sizes = self.sizes[element.array.position()].clone();
        for (at, size) in index.iter().zip(&sizes) {
            let Some(size) = size else { continue };
            let below = size.minus(at).and_then(|rest| rest.offset(-1));
            let below = below.map_or(Formula::False, Formula::ge);
            let goal = Formula::and([Formula::ge(at.clone()), below]);
            self.oblige(Claim::Bounds(element.array), goal, element.span, state);
        }
    }

    /// Records an obligation.
    pub(super) fn oblige(&mut self, claim: Claim, goal: Formula, span: Span, state: &State) {
        let synchronises = matches!(claim, Claim::Uniform | Claim::Converged);
        let trivial = goal == Formula::True && !synchronises;
        if self.mode != Mode::Full || trivial {
            return;
        }
        let path = state.path.clone();
        self.obligations.push(Obligation { claim, path, goal, span });
    }

    /// Continues after a barrier, in `Interval` mode: runs the rest of each enclosing list of statements.
    pub(super) fn resume(
        &mut self,
        statements: &[Stmt],
        position: &[usize],
        state: State,
        flow: &mut Flow,
    ) -> Option<State> {
        let (&at, inner) = position.split_first()?;
        let after = match (&statements[at], inner) {
            (Stmt::If(_, then, otherwise), [branch, inner @ ..]) => {
                let part = if *branch == 0 { then } else { otherwise };
                self.resume(part, inner, state, flow)
            }
            (Stmt::Loop(inside), [part, inner @ ..]) => {
                let exits = self.resume_loop(inside, *part, inner, state);
                self.join_states(exits)
            }
            _ => Some(state),
        };
        self.run(&statements[at + 1..], at + 1, after?, flow)
    }

    /// Resumes after a barrier in a part of a loop; returns the states that leave the loop.
    fn resume_loop(
        &mut self,
        inside: &Loop,
        part: usize,
        position: &[usize],
        state: State,
    ) -> Vec<State> {
        let mut body_flow = Flow::default();
        let stepped = match part {
            0 => {
                let Some(state) = self.resume(&inside.head, position, state, &mut body_flow) else {
                    return body_flow.breaks;
                };
                return self.enter_body(inside, state, body_flow);
            }
            1 => {
                let end = self.resume(&inside.body, position, state, &mut body_flow);
                self.finish_iteration(inside, end, &mut body_flow)
            }
            _ => self.resume(&inside.step, position, state, &mut body_flow),
        };
        let mut exits = body_flow.breaks;
        if let Some(stepped) = stepped {
            exits.extend(self.enter_or_exit(inside, stepped));
        }
        exits
    }

    /// Finishes an iteration: joins its ends (the body's and each `continue`), and runs the step.
    fn finish_iteration(
        &mut self,
        inside: &Loop,
        end: Option<State>,
        flow: &mut Flow,
    ) -> Option<State> {
        let ends: Vec<State> = end.into_iter().chain(std::mem::take(&mut flow.continues)).collect();
        let next = self.join_states(ends)?;
        self.run(&inside.step, 0, next, flow)
    }

    /// Runs a loop with barriers in `Interval` mode: into its body up to the first barrier. Returns the states after
    /// the loop.
    pub(super) fn enter_or_exit(&mut self, inner: &Loop, state: State) -> Vec<State> {
        let mut body_flow = Flow::default();
        match self.run(&inner.head, 0, state, &mut body_flow) {
            Some(state) => self.enter_body(inner, state, body_flow),
            None => body_flow.breaks,
        }
    }

    fn enter_body(&mut self, inner: &Loop, state: State, mut flow: Flow) -> Vec<State> {
        let condition = self.condition(&inner.condition, &state);
        let mut into = state.clone();
        into.path.push(condition.clone());
        let end = self.run(&inner.body, 0, into, &mut flow);
        if let Some(end) = self.finish_iteration(inner, end, &mut flow)
            // The body can be passed without a barrier, so the next iteration belongs to the same barrier interval.
            && !self.prover.proves(&end.path, &Formula::False)
        {
            self.open_intervals.push(inner.span);
        }
        let mut out = state;
        out.path.push(condition.not());
        flow.breaks.push(out);
        flow.breaks
    }
}
