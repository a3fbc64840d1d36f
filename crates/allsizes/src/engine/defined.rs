//! Well-definedness of clauses: each partial operation of a clause has a value wherever the clause is evaluated.
//!
//! Clauses are over the integers, where some operations have no value: division and remainder by 0, shifts by a
//! negative or too large amount, `\pow2` of a negative number, and elements outside their array. Each such operation
//! becomes an obligation, under the conditions to its left (`A && B`, `A ==> B`, `c ? a : b`) and for all values of
//! the bound variables around it. A clause with an open obligation proves nothing: then [`Property::Clauses`] is
//! open, on which every result depends. So the engine may translate an operation without a value in any way; it errs
//! towards `unknown`.
//!
//! Requirements of the contract are checked in this order: first those without partial operations, which hold or not
//! on every launch; then the others in source order, each under those before it.

use super::state::{Claim, Defined, ElementLookup, Mode, State, SymbolicValue};
use super::{Engine, Property};
use arith::formula::Formula;
use arith::poly::Poly;
use arith::symbols::Level;
use base::{Index, Span};
use kir::spec;
use kir::{Binary, Expr, ExprKind, Loop, Type, Unary, VarId};

/// A partial operation: the condition under which it is evaluated, and the condition for it to have a value.
pub(super) struct Partial {
    pub(super) path: Vec<Formula>,
    pub(super) goal: Formula,
    pub(super) span: Span,
    pub(super) kind: Defined,
}

impl Engine<'_> {
    /// The partial operations of a clause; with `elements`, accesses to elements too.
    pub(super) fn partial_operations(
        &mut self,
        (forall, clause): (&[VarId], &Expr),
        state: &State,
        elements: bool,
    ) -> Vec<Partial> {
        let mut state = state.clone();
        for var in forall {
            self.bind_to_fresh(*var, &mut state);
        }
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        // Look up an element that is named twice only once.
        let lookup = std::mem::replace(&mut self.lookup, ElementLookup::Listed(Vec::new()));
        let named = std::mem::replace(&mut self.elements, true);
        let mut found = Vec::new();
        self.collect_partial(clause, &mut state, elements, &mut found);
        (self.mode, self.lookup, self.elements) = (mode, lookup, named);
        found
    }

    /// Adds the obligation that a clause has a value.
    pub(super) fn oblige_defined(&mut self, clause: (&[VarId], &Expr), state: &State) {
        if self.mode != Mode::Full || self.only.is_some() {
            return;
        }
        for Partial { path, goal, span, kind } in self.partial_operations(clause, state, true) {
            let state = State { path, ..state.clone() };
            self.oblige(Claim::Defined(kind), goal, span, &state);
        }
    }

    /// Like `oblige_defined`, for a claim about elements. The proof of the claim shows that the elements exist.
    pub(super) fn oblige_claim_defined(&mut self, claim: &kir::Claim, state: &State) {
        if self.mode != Mode::Full || self.only.is_some() {
            return;
        }
        let clause = (&claim.forall[..], &claim.condition);
        for Partial { path, goal, span, kind } in self.partial_operations(clause, state, false) {
            let state = State { path, ..state.clone() };
            self.oblige(Claim::Defined(kind), goal, span, &state);
        }
    }

    /// Returns `true` if all partial operations of a clause are proved to have a value.
    pub(super) fn is_defined(&mut self, clause: (&[VarId], &Expr), state: &State) -> bool {
        let all = self.partial_operations(clause, state, true);
        all.iter().all(|one| self.prover.proves(&one.path, &one.goal))
    }

    /// Adds the obligation that the invariants of a loop have a value at one of its heads.
    pub(super) fn oblige_loop_defined(&mut self, inner: &Loop, state: &State) {
        for invariant in &inner.invariants {
            self.oblige_defined((&[], invariant), state);
        }
        for claim in &inner.claims {
            self.oblige_claim_defined(claim, state);
        }
    }

    /// Checks the contract except requirements without variables, which `setup.rs` checks before it uses them.
    pub(super) fn contract_defined(&mut self, entry: &State) {
        let kernel = self.kernel;
        for (span, kind) in std::mem::take(&mut self.undefined) {
            self.leave_open(Property::Clauses, span, None, self.undefined_message(kind));
        }
        for one in &kernel.requires {
            self.oblige_defined((&one.forall, &one.condition), entry);
        }
        for size in kernel.arrays.iter().flat_map(|array| &array.dimensions).flatten() {
            self.oblige_defined((&[], size), entry);
        }
        for one in &kernel.footprints {
            self.oblige_defined((&[], &one.low), entry);
            self.oblige_defined((&[], &one.high), entry);
        }
        for claim in &kernel.ensures {
            self.oblige_claim_defined(claim, entry);
        }
    }

    /// Describes what could not be proved about a clause.
    pub(super) fn undefined_message(&self, kind: Defined) -> String {
        let what = match kind {
            Defined::Divisor => "this divisor is not 0".to_owned(),
            Defined::Shift => "this shift amount is from 0 to the width of the type".to_owned(),
            Defined::Power => "this exponent is not negative".to_owned(),
            Defined::Element(array) => {
                format!("this element is inside `{}`", self.kernel.arrays[array].name)
            }
        };
        format!("that {what}: an undefined clause claims nothing")
    }

    fn bind_to_fresh(&mut self, var: VarId, state: &mut State) {
        let name = self.kernel.vars[var].name.clone();
        let sym = self.prover.symbols.fresh(name, Level::Thread);
        state.vars[var.position()] = SymbolicValue::Int(Poly::symbol(sym));
    }

    /// Collects the partial operations of an expression, each under the conditions to its left.
    fn collect_partial(
        &mut self,
        expr: &Expr,
        state: &mut State,
        elements: bool,
        found: &mut Vec<Partial>,
    ) {
        match &expr.kind {
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                self.collect_partial(left, state, elements, found);
                let first = self.condition(left, state);
                let is_and = matches!(expr.kind, ExprKind::And(..));
                let known = if is_and { first } else { first.not() };
                self.collect_partial_under(known, right, state, elements, found);
            }
            ExprKind::Select(condition, then, otherwise) => {
                self.collect_partial(condition, state, elements, found);
                let condition = self.condition(condition, state);
                self.collect_partial_under(condition.clone(), then, state, elements, found);
                self.collect_partial_under(condition.not(), otherwise, state, elements, found);
            }
            ExprKind::Quantified(_, vars, body) => {
                let before = state.clone();
                vars.iter().for_each(|var| self.bind_to_fresh(*var, state));
                self.collect_partial(body, state, elements, found);
                *state = before;
            }
            ExprKind::Fold(fold) => {
                self.collect_partial(&fold.low, state, elements, found);
                self.collect_partial(&fold.high, state, elements, found);
                let ends = [&fold.low, &fold.high].map(|end| self.eval(end, state, false));
                let before = state.clone();
                self.bind_to_fresh(fold.var, state);
                if let (
                    [SymbolicValue::Int(low), SymbolicValue::Int(high)],
                    SymbolicValue::Int(own),
                ) = (ends, state.vars[fold.var.position()].clone())
                {
                    let above = own.minus(&low).map(Formula::ge);
                    let below = high.minus(&own).and_then(|one| one.offset(-1)).map(Formula::ge);
                    state.path.extend([above, below].into_iter().flatten());
                }
                self.collect_partial(&fold.body, state, elements, found);
                *state = before;
            }
            ExprKind::Unary(_, inner) | ExprKind::Convert(inner) | ExprKind::Other(inner) => {
                self.collect_partial(inner, state, elements, found);
            }
            ExprKind::Binary(_, left, right) | ExprKind::Compare(_, left, right) => {
                self.collect_partial(left, state, elements, found);
                self.collect_partial(right, state, elements, found);
            }
            ExprKind::Call(_, all) | ExprKind::Combine(_, all) | ExprKind::Element(_, _, all) => {
                all.iter().for_each(|one| self.collect_partial(one, state, elements, found));
            }
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Var(_) | ExprKind::Builtin(..) => {}
        }
        self.collect_condition(expr, state, elements, found);
    }

    fn collect_partial_under(
        &mut self,
        known: Formula,
        expr: &Expr,
        state: &mut State,
        elements: bool,
        found: &mut Vec<Partial>,
    ) {
        state.path.push(known);
        self.collect_partial(expr, state, elements, found);
        state.path.pop();
    }

    /// Collects the conditions for an operation to have a value, given that its operands do.
    fn collect_condition(
        &mut self,
        expr: &Expr,
        state: &State,
        elements: bool,
        found: &mut Vec<Partial>,
    ) {
        let mut demand = |goal: Formula, kind: Defined| {
            if goal != Formula::True {
                let (path, span) = (state.path.clone(), expr.span);
                found.push(Partial { path, goal, span, kind });
            }
        };
        match &expr.kind {
            ExprKind::Binary(Binary::Div | Binary::Rem, _, right) if expr.ty != Type::Float => {
                let divisor = self.integer_value(right, state);
                demand(
                    divisor.map_or(Formula::False, |one| Formula::eq(one).not()),
                    Defined::Divisor,
                );
            }
            ExprKind::Binary(Binary::Shl | Binary::Shr, _, right) => {
                let width = super::shifts::width(expr.ty);
                demand(
                    inside(self.integer_value(right, state), Some(Poly::constant(width))),
                    Defined::Shift,
                );
            }
            ExprKind::Unary(Unary::Pow2, inner) => {
                let exponent = self.integer_value(inner, state);
                demand(exponent.map_or(Formula::False, Formula::ge), Defined::Power);
            }
            // In claims about two threads, the existence of elements is proved with the claim.
            ExprKind::Element(array, _, index)
                if elements && !index.iter().any(spec::has_other) =>
            {
                let sizes = self.sizes.get(array.position()).cloned().unwrap_or_default();
                for (at, size) in index.iter().zip(sizes) {
                    if size.is_some() {
                        let at = self.integer_value(at, state);
                        demand(inside(at, size), Defined::Element(*array));
                    }
                }
            }
            _ => {}
        }
    }

    fn integer_value(&mut self, expr: &Expr, state: &State) -> Option<Poly> {
        match self.eval(expr, state, false) {
            SymbolicValue::Int(poly) => Some(poly),
            SymbolicValue::Bool(_) | SymbolicValue::Untracked(..) => None,
        }
    }
}

/// The condition that a number is at least 0 and below another.
fn inside(number: Option<Poly>, below: Option<Poly>) -> Formula {
    let (Some(number), Some(below)) = (number, below) else { return Formula::False };
    let rest = below.minus(&number).and_then(|one| one.offset(-1));
    Formula::and([Formula::ge(number), rest.map_or(Formula::False, Formula::ge)])
}
