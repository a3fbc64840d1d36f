//! Facts from contracts about the contents of unwritten arrays: elements by name, and prefix sums.
//!
//! `\fold(+, j, 0, i, flag[j])` is a symbol of its own. Two of them differ by a sum of elements, bounded by a
//! requirement `0 <= flag[i] <= 1`. So in a stream compaction, where threads store the elements with `flag[i] == 1`
//! at their prefix sums, these positions are distinct (`arith::symbols`).

use super::Engine;
use super::state::{ElementLookup, Mode, Operation, PassedBarriers, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::Poly;
use arith::symbols::{Function, Level, Prefix};
use base::{Index, Span};
use kir::spec;
use kir::{
    ArrayId, Binary, Claim, Compare, Element, Expr, ExprKind, Fold, FoldOp, Space, Type, VarId,
};

/// The contents of an array, as a function of the index.
pub(super) fn contents(array: ArrayId) -> Function {
    Function::from_position(array.position())
}

/// The array with these contents.
pub(super) fn array_of(contents: Function) -> ArrayId {
    ArrayId::from_position(contents.position())
}

impl Engine<'_> {
    /// Returns `true` for a one-dimensional array of integers that keeps its initial contents.
    pub(super) fn is_input(&self, array: ArrayId) -> bool {
        let declared = &self.kernel.arrays[array];
        declared.space == Space::Global
            && declared.dimensions.len() == 1
            && matches!(declared.element, Type::Int { .. })
            && !self.written[array.position()]
    }

    /// The value of an element that an annotation names.
    pub(super) fn named_element(&mut self, array: ArrayId, at: &[SymbolicValue]) -> SymbolicValue {
        let ty = self.kernel.arrays[array].element;
        let [SymbolicValue::Int(at)] = at else {
            return SymbolicValue::Int(self.unknown("element", Level::Thread, ty));
        };
        // Requirements on this element are evaluated without naming others.
        self.elements = false;
        let lookup = std::mem::replace(&mut self.lookup, ElementLookup::Nowhere);
        let element = Element { array, index: Vec::new(), span: Span::default() };
        let value = self.load(&element, vec![at.clone()], ty, &PassedBarriers::default());
        (self.elements, self.lookup) = (true, lookup);
        value
    }

    /// Returns the array of a prefix sum, if a fold is one.
    pub(super) fn summed_array(&self, fold: &Fold, state: &State) -> Option<ArrayId> {
        let (array, index) = element(&fold.body)?;
        let from_first = matches!(stripped(&fold.low).kind, ExprKind::Int(0));
        let plain =
            fold.op == FoldOp::Add && from_first && is_var_without_offset(&index, fold.var, state);
        Some(array).filter(|array| plain && self.is_input(*array))
    }

    /// The prefix sum of an array.
    pub(super) fn prefix(&mut self, fold: &Fold, state: &State) -> SymbolicValue {
        let unknown = |engine: &mut Self| {
            SymbolicValue::Int(engine.unknown("claimed", Level::Thread, Type::Whole))
        };
        let Some(array) = self.summed_array(fold, state) else { return unknown(self) };
        let SymbolicValue::Int(high) = self.eval(&fold.high, state, false) else {
            return unknown(self);
        };
        match self.prefix_of(array, &high) {
            Some(sum) => SymbolicValue::Int(sum),
            None => unknown(self),
        }
    }

    /// The prefix sum of `high` elements.
    pub(super) fn prefix_of(&mut self, array: ArrayId, high: &Poly) -> Option<Poly> {
        let sum = self.operation(Operation::Prefix(array.position(), high.clone()), Type::Whole);
        let sym = sum.as_symbol()?;
        if self.prover.symbols.get(sym).prefix.is_none()
            && let Some((bounds, size)) = self.bounds_of_elements(array)
        {
            let mut prefix =
                Prefix { array: contents(array), high: high.clone(), bounds, size, inside: false };
            let guard = Formula::and(prefix.guard());
            prefix.inside = self.prover.proves_quickly(&[], &guard);
            let guard = Formula::and(prefix.guard());
            self.prover.symbols.get_mut(sym).prefix = Some(prefix);
            let [least, most] = [bounds.0, bounds.1].map(|bound| high.scaled(bound));
            let above = least.and_then(|least| sum.minus(&least)).map(Formula::ge);
            let below = most.and_then(|most| most.minus(&sum)).map(Formula::ge);
            let facts = above.into_iter().chain(below).map(|fact| guard.clone().implies(fact));
            self.prover.symbols.get_mut(sym).facts.extend(facts);
        }
        Some(sum)
    }

    /// The minimum and maximum that requirements give the first elements of an array, and the number of these
    /// elements.
    fn bounds_of_elements(&mut self, array: ArrayId) -> Option<((i128, i128), Poly)> {
        let (mut least, mut most) = self.kernel.arrays[array].element.range()?;
        let mut size: Option<Poly> = None;
        let kernel = self.kernel;
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        for requirement in kernel.requires.iter().filter(|one| one.forall.len() == 1) {
            let (name, forall) = (None, requirement.forall.clone());
            let (condition, span) = (requirement.condition.clone(), requirement.condition.span);
            for goal in spec::goals(&Claim { name, forall, condition, span }) {
                let range = spec::range(requirement.forall[0], &goal.assumed);
                let ([(high, false)], 2) = (&range.high[..], goal.assumed.len()) else { continue };
                let Some((lower, bound)) = bounded(&goal.goal, array, requirement.forall[0]) else {
                    continue;
                };
                let entry = self.entry.clone();
                let SymbolicValue::Int(high) = self.eval(high, &entry, false) else { continue };
                let first = |one: &Expr| is_from_first(one, requirement.forall[0]);
                if !goal.assumed.iter().any(first)
                    || *size.get_or_insert_with(|| high.clone()) != high
                {
                    continue;
                }
                match lower {
                    true => least = least.max(bound),
                    false => most = most.min(bound),
                }
            }
        }
        self.mode = mode;
        size.map(|size| ((least, most), size))
    }
}

/// Returns `true` if an index is this variable, or the variable plus an offset that is 0 (of a pointer that has not
/// moved).
fn is_var_without_offset(index: &Expr, var: VarId, state: &State) -> bool {
    let is_zero = |one: &Expr| match stripped(one).kind {
        ExprKind::Var(offset) => {
            matches!(&state.vars[offset.position()], SymbolicValue::Int(poly) if poly.is_zero())
        }
        ExprKind::Int(value) => value == 0,
        _ => false,
    };
    match &stripped(index).kind {
        ExprKind::Binary(Binary::Add, left, right) => {
            is_zero(left) && spec::is_var(right, var) || is_zero(right) && spec::is_var(left, var)
        }
        _ => spec::is_var(index, var),
    }
}

/// Returns `true` if a condition states `0 <= var`.
fn is_from_first(condition: &Expr, var: VarId) -> bool {
    let ExprKind::Compare(compare, left, right) = &condition.kind else { return false };
    let zero = |one: &Expr| matches!(stripped(one).kind, ExprKind::Int(0));
    match compare {
        Compare::Le => zero(left) && spec::is_var(right, var),
        Compare::Ge => zero(right) && spec::is_var(left, var),
        _ => false,
    }
}

/// Returns the bound if a condition bounds the array's element at `var` by a number, with `true` for a lower bound.
fn bounded(goal: &Expr, array: ArrayId, var: VarId) -> Option<(bool, i128)> {
    let ExprKind::Compare(compare, left, right) = &goal.kind else { return None };
    let is_element = |one: &Expr| {
        element(one).is_some_and(|(other, index)| other == array && spec::is_var(&index, var))
    };
    let number = |one: &Expr| match stripped(one).kind {
        ExprKind::Int(value) => Some(value),
        _ => None,
    };
    let (compare, bound) = match (is_element(left), is_element(right)) {
        (true, false) => (*compare, number(right)?),
        (false, true) => (spec::mirrored(*compare), number(left)?),
        _ => return None,
    };
    match compare {
        Compare::Ge => Some((true, bound)),
        Compare::Gt => Some((true, bound.checked_add(1)?)),
        Compare::Le => Some((false, bound)),
        Compare::Lt => Some((false, bound.checked_sub(1)?)),
        _ => None,
    }
}

/// Removes conversions to unbounded integers.
fn stripped(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Convert(inner) if expr.ty == Type::Whole => stripped(inner),
        _ => expr,
    }
}

/// Returns the element and its index, if an expression is an element.
fn element(expr: &Expr) -> Option<(ArrayId, Expr)> {
    match &stripped(expr).kind {
        ExprKind::Element(array, _, index) => match &index[..] {
            [at] => Some((*array, spec::index(at))),
            _ => None,
        },
        _ => None,
    }
}
