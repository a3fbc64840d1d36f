//! Instantiates clauses at the points of a loop, with the values of variables there.

use super::super::claims::Reader;
use super::super::collect_stores::Runner;
use super::super::kernel_summary::ClauseAtPoint;
use super::super::value::Atom;
use crate::clause::Clause;
use crate::engine::state::{Operation, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::Index;
use kir::{Builtin, ExprKind, Type, visit};
use std::collections::BTreeMap;

impl Runner<'_, '_> {
    /// Returns the conditions of a path that all threads of a block share.
    pub(in super::super) fn shared_by_block(&self, path: &[Formula]) -> Vec<Formula> {
        let symbols = &self.engine.prover.symbols;
        let parts = path.iter().flat_map(Formula::conjuncts);
        parts.filter(|part| symbols.formula_level(part) <= Level::Block).cloned().collect()
    }

    /// Instantiates a clause with the variables of a state; `None` if part of it is unsupported.
    pub(in super::super) fn clause_at(
        &mut self,
        clause: &Clause,
        state: &State,
        targets: &[Poly],
    ) -> Option<ClauseAtPoint> {
        let mut state = state.clone();
        let (mut digits, mut levels) = (Vec::new(), Vec::new());
        for var in &clause.forall {
            let name = self.engine.kernel.vars[*var].name.clone();
            let low = clause.levels.contains(var).then(|| Poly::constant(1));
            let sym = self.engine.prover.symbols.bounded(name, Level::Thread, low, None);
            digits.push(sym);
            if clause.levels.contains(var) {
                levels.push(sym);
            }
            state.vars[var.position()] = SymbolicValue::Int(Poly::symbol(sym));
        }
        if !self.is_shared(clause, &state) {
            return None;
        }
        let mut when = Vec::new();
        for part in &clause.when {
            when.extend(self.engine.condition(part, &state).conjuncts().iter().cloned());
        }
        let SymbolicValue::Int(index) = self.engine.eval(&clause.index, &state, false) else {
            return None;
        };
        let known = self.shared_by_block(&state.path);
        let ty = self.engine.kernel.arrays[clause.array].element;
        let here = (self.point(), self.side);
        let value = Reader::of_loop(self.engine, state, here).term(&clause.value, ty).ok()?;
        let mut plain = true;
        value.visit(&mut |atom| plain &= !matches!(atom, Atom::Load(_)));
        if !plain {
            return None;
        }
        let mut at = ClauseAtPoint { digits, levels, when, index, value };
        self.simplify_extremes(&mut at, targets, &known)?;
        Some(at)
    }

    /// Returns `true` if a clause means the same for all threads of a block, and only uses numbers that equal the
    /// machine's.
    fn is_shared(&self, clause: &Clause, state: &State) -> bool {
        let mut shared = true;
        let mut bound = clause.forall.clone();
        visit(&clause.value, &mut |inner| {
            if let ExprKind::Fold(fold) = &inner.kind {
                bound.push(fold.var);
            }
        });
        for expr in clause.when.iter().chain([&clause.index, &clause.value]) {
            visit(expr, &mut |inner| match &inner.kind {
                ExprKind::Builtin(Builtin::Thread, _) | ExprKind::Other(_) => shared = false,
                ExprKind::Var(one) if !bound.contains(one) => {
                    shared &= self.engine.level(&state.vars[one.position()]) <= Level::Block;
                    // Other variables are not proved to be free of wrapping.
                    shared &= self.engine.relevant[one.position()]
                        || self.engine.kernel.scalars.contains(one);
                }
                _ => {}
            });
        }
        shared
    }

    /// Replaces minima and maxima by simpler values that are proved to be equal.
    fn simplify_extremes(
        &mut self,
        at: &mut ClauseAtPoint,
        targets: &[Poly],
        known: &[Formula],
    ) -> Option<()> {
        let operations = self.engine.operations.clone();
        for (operation, result) in &operations {
            let (Operation::Max(a, b) | Operation::Min(a, b), Some(sym)) =
                (operation, result.as_symbol())
            else {
                continue;
            };
            if self.engine.prover.symbols.get(sym).level > Level::Block || !at.mentions(sym) {
                continue;
            }
            for target in targets.iter().chain([a, b]) {
                let Some(difference) = result.minus(target) else { continue };
                if !target.mentions(sym)
                    && self.engine.prover.proves(known, &Formula::eq(difference))
                {
                    at.substitute(sym, target)?;
                    self.substitute_in_quotients(at, &operations, (sym, target))?;
                    break;
                }
            }
        }
        Some(())
    }

    /// Rewrites quotients by a symbol into quotients by its value.
    fn substitute_in_quotients(
        &mut self,
        at: &mut ClauseAtPoint,
        operations: &BTreeMap<Operation, Poly>,
        (sym, value): (Sym, &Poly),
    ) -> Option<()> {
        for (operation, result) in operations {
            let (Operation::Div(top, bottom), Some(quotient)) = (operation, result.as_symbol())
            else {
                continue;
            };
            if at.mentions(quotient) && (top.mentions(sym) || bottom.mentions(sym)) {
                let (top, bottom) = (top.substituted(sym, value)?, bottom.substituted(sym, value)?);
                let now = self.engine.operation(Operation::Div(top, bottom), Type::Whole);
                at.substitute(quotient, &now)?;
            }
        }
        Some(())
    }
}

impl ClauseAtPoint {
    fn mentions(&self, sym: Sym) -> bool {
        self.index.mentions(sym)
            || self.when.iter().any(|one| one.symbols().contains(&sym))
            || self.value.symbols().contains(&sym)
    }

    /// Replaces a symbol by a polynomial.
    pub(in super::super) fn substitute(&mut self, sym: Sym, value: &Poly) -> Option<()> {
        let mut map = |poly: &Poly| poly.substituted(sym, value);
        self.index = map(&self.index)?;
        for one in &mut self.when {
            *one = one.mapped(&mut map)?;
        }
        self.value = self.value.mapped(&mut map)?;
        Some(())
    }
}
