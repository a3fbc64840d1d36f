//! Evaluates expressions of one thread to polynomials over symbols. Obligations ensure that these unbounded integers
//! equal the machine's wherever a value feeds an index or a condition.
//!
//! Long: one case for each kind of expression.

use super::Engine;
use super::shifts::{all_ones, low_unit, shift_name, shifted_fits, sign_bit, width};
use super::state::{Claim, OpaqueComparison, Operation, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::Poly;
use arith::symbols::Level;
use base::Span;
use kir::{Binary, Compare, Expr, ExprKind, Monoid, Type, Unary, is_fetch};

impl Engine<'_> {
    /// The truth of a condition.
    pub(super) fn condition(&mut self, expr: &Expr, state: &State) -> Formula {
        match self.eval(expr, state, true) {
            SymbolicValue::Bool(formula) => formula,
            SymbolicValue::Int(poly) => Formula::eq(poly).not(),
            SymbolicValue::Untracked(level, _) => self.unknown_truth(level),
        }
    }

    /// A new symbol for an unknown truth value.
    pub(super) fn unknown_truth(&mut self, level: Level) -> Formula {
        let (low, high) = (Some(Poly::constant(0)), Some(Poly::constant(1)));
        Formula::holds(self.prover.symbols.bounded("?", level, low, high))
    }

    /// A new symbol for an unknown integer of a type.
    pub(super) fn unknown(&mut self, name: &str, level: Level, ty: Type) -> Poly {
        let range = ty.range();
        let low = range.map(|(low, _)| Poly::constant(low));
        let high = range.map(|(_, high)| Poly::constant(high));
        Poly::symbol(self.prover.symbols.bounded(name, level, low, high))
    }

    /// A new untracked value: it equals no other.
    pub(super) fn untracked(&mut self, level: Level) -> SymbolicValue {
        self.last_untracked += 1;
        SymbolicValue::Untracked(level, self.last_untracked)
    }

    pub(super) fn level(&self, value: &SymbolicValue) -> Level {
        match value {
            SymbolicValue::Int(poly) => self.prover.symbols.level(poly),
            SymbolicValue::Bool(formula) => self.prover.symbols.formula_level(formula),
            SymbolicValue::Untracked(level, _) => *level,
        }
    }

    /// The value of `expr`; `strict` if it feeds an index or a condition. Long: one arm for each kind of expression.
    pub(super) fn eval(&mut self, expr: &Expr, state: &State, strict: bool) -> SymbolicValue {
        match &expr.kind {
            ExprKind::Int(value) if expr.ty == Type::Bool => {
                SymbolicValue::Bool(if *value != 0 { Formula::True } else { Formula::False })
            }
            ExprKind::Int(value) => SymbolicValue::Int(Poly::constant(*value)),
            ExprKind::Float(_) => self.untracked(Level::Launch),
            ExprKind::Var(var) => self.variable(*var, state),
            ExprKind::Builtin(builtin, axis) => SymbolicValue::Int(self.builtin(*builtin, *axis)),
            ExprKind::Unary(operator, inner) => self.unary(*operator, inner, expr, state, strict),
            ExprKind::Binary(operator, left, right) => {
                let left = (self.eval(left, state, strict), left.span);
                let right = (self.eval(right, state, strict), right.span);
                self.binary(*operator, [left, right], expr, state, strict)
            }
            ExprKind::Compare(operator, left, right) => {
                SymbolicValue::Bool(self.compare(*operator, left, right, state))
            }
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                let is_and = matches!(expr.kind, ExprKind::And(..));
                let first = self.condition(left, state);
                let mut inner = state.clone();
                inner.path.push(if is_and { first.clone() } else { first.clone().not() });
                let second = self.condition(right, &inner);
                SymbolicValue::Bool(if is_and {
                    Formula::and([first, second])
                } else {
                    Formula::or([first, second])
                })
            }
            ExprKind::Select(condition, then, otherwise) => {
                let condition = self.condition(condition, state);
                let mut inner = state.clone();
                inner.path.push(condition.clone());
                let then = self.eval(then, &inner, strict);
                inner.path.pop();
                inner.path.push(condition.clone().not());
                let otherwise = self.eval(otherwise, &inner, strict);
                self.select("?:", [(&condition, then), (&condition.clone().not(), otherwise)])
            }
            ExprKind::Convert(inner) => self.convert(inner, expr.ty, state, strict),
            ExprKind::Call(name, arguments) if is_fetch(name) => {
                self.fetch(name, arguments, expr.ty, state, strict)
            }
            ExprKind::Call(_, arguments) => {
                let mut level = Level::Launch;
                for argument in arguments {
                    let value = self.eval(argument, state, strict);
                    level = level.max(self.level(&value));
                }
                self.untracked(level)
            }
            ExprKind::Combine(monoid, arguments) => self.combine(monoid, arguments, state, strict),
            ExprKind::Element(array, when, index) => {
                let at: Vec<SymbolicValue> =
                    index.iter().map(|one| self.eval(one, state, true)).collect();
                let mut known = self.named.iter();
                let known = known.find(|(named, place, _)| {
                    named == array && at[..] == [SymbolicValue::Int(place.clone())]
                });
                match known {
                    Some((_, _, value)) => SymbolicValue::Int(value.clone()),
                    None if self.elements && self.is_input(*array) => {
                        self.named_element(*array, &at)
                    }
                    None if self.has_element_symbol(*array, *when) => {
                        self.element_symbol((*array, *when), &at, expr.ty, &state.path)
                    }
                    _ if expr.ty == Type::Float => self.untracked(Level::Thread),
                    _ => SymbolicValue::Int(self.unknown("element", Level::Thread, expr.ty)),
                }
            }
            // Quantifiers are not evaluated here.
            ExprKind::Quantified(..) => SymbolicValue::Bool(self.unknown_truth(Level::Thread)),
            ExprKind::Fold(fold) if self.summed_array(fold, state).is_some() => {
                self.prefix(fold, state)
            }
            ExprKind::Other(inner) if self.second.is_some() => {
                self.other_value(inner, state, strict)
            }
            ExprKind::Fold(_) | ExprKind::Other(_) => match expr.ty {
                Type::Float => self.untracked(Level::Thread),
                Type::Bool => SymbolicValue::Bool(self.unknown_truth(Level::Thread)),
                ty => SymbolicValue::Int(self.unknown("claimed", Level::Thread, ty)),
            },
        }
    }

    /// Evaluates a call of a declared monoid: by its body if the result feeds an index or a condition.
    fn combine(
        &mut self,
        monoid: &Monoid,
        arguments: &[Expr],
        state: &State,
        strict: bool,
    ) -> SymbolicValue {
        let values: Vec<SymbolicValue> =
            arguments.iter().map(|one| self.eval(one, state, strict)).collect();
        if let (false, [SymbolicValue::Int(a), SymbolicValue::Int(b)]) = (strict, &values[..]) {
            let ty = monoid.result.ty;
            let (a, b) = (self.data_value(a, ty, state), self.data_value(b, ty, state));
            return SymbolicValue::Int(
                self.operation(Operation::Combine(monoid.name.clone(), a, b), ty),
            );
        }
        let mut inner = state.clone();
        for (parameter, value) in monoid.parameters.iter().zip(values) {
            inner.vars[base::Index::position(*parameter)] = value;
        }
        self.eval(&monoid.result, &inner, strict)
    }

    /// An unknown value, the same each time the variable is read.
    pub(super) fn unknown_of(&mut self, var: kir::VarId) -> SymbolicValue {
        let ty = self.kernel.vars[var].ty;
        match ty {
            Type::Float => self.untracked(Level::Thread),
            Type::Bool => SymbolicValue::Bool(self.unknown_truth(Level::Thread)),
            Type::Int { .. } | Type::Whole => {
                let name = self.kernel.vars[var].name.clone();
                SymbolicValue::Int(self.unknown(&name, Level::Thread, ty))
            }
        }
    }

    fn variable(&mut self, var: kir::VarId, state: &State) -> SymbolicValue {
        let value = state.vars[base::Index::position(var)].clone();
        let ty = self.kernel.vars[var].ty;
        match (value, ty) {
            // Unassigned, or assigned an unsupported value.
            (SymbolicValue::Untracked(level, _), Type::Int { .. } | Type::Whole) => {
                SymbolicValue::Int(self.unknown(&self.kernel.vars[var].name.clone(), level, ty))
            }
            (SymbolicValue::Untracked(level, _), Type::Bool) => {
                SymbolicValue::Bool(self.unknown_truth(level))
            }
            (SymbolicValue::Int(poly), _) => SymbolicValue::Int(self.decided_extremes(poly, state)),
            (value, _) => value,
        }
    }

    fn convert(&mut self, inner: &Expr, ty: Type, state: &State, strict: bool) -> SymbolicValue {
        let value = self.eval(inner, state, strict);
        match (value, ty) {
            // An unbounded integer of an annotation, compared with a machine integer. It keeps its value if it fits
            // the type; otherwise it is unknown.
            (SymbolicValue::Int(poly), Type::Int { .. })
                if inner.ty == Type::Whole && poly.as_constant().is_none() =>
            {
                let fits = in_type(&poly, ty);
                let fits = self.prover.proves_quickly(&state.path, &fits)
                    || self.prover.proves(&state.path, &fits);
                let level = self.prover.symbols.level(&poly);
                SymbolicValue::Int(if fits { poly } else { self.unknown("wrapped", level, ty) })
            }
            (SymbolicValue::Int(poly), Type::Int { bits: to, .. }) => {
                if matches!(inner.ty, Type::Int { bits, .. } if bits < to) {
                    if !strict {
                        return SymbolicValue::Int(self.data_value(&poly, inner.ty, state));
                    }
                    self.oblige_in_range(&poly, inner, state);
                }
                SymbolicValue::Int(poly)
            }
            (SymbolicValue::Int(poly), Type::Whole) => {
                self.oblige_in_range(&poly, inner, state);
                SymbolicValue::Int(poly)
            }
            (SymbolicValue::Bool(formula), Type::Int { .. } | Type::Whole) => {
                SymbolicValue::Int(self.operation(Operation::Truth(formula), ty))
            }
            (SymbolicValue::Untracked(level, _), Type::Int { .. } | Type::Whole) => {
                SymbolicValue::Int(self.unknown("rounded", level, ty))
            }
            (value, _) => self.untracked(self.level(&value)),
        }
    }

    /// Adds the obligation that the value equals the machine's: it is in the range of its type.
    pub(super) fn oblige_in_range(&mut self, poly: &Poly, expr: &Expr, state: &State) {
        self.oblige_in_type(poly, expr.ty, expr.span, state);
    }

    fn oblige_in_type(&mut self, poly: &Poly, ty: Type, span: Span, state: &State) {
        self.oblige(Claim::Overflow(ty), in_type(poly, ty), span, state);
    }

    fn unary(
        &mut self,
        operator: Unary,
        inner: &Expr,
        expr: &Expr,
        state: &State,
        strict: bool,
    ) -> SymbolicValue {
        if operator == Unary::Not {
            return SymbolicValue::Bool(self.condition(inner, state).not());
        }
        match (operator, self.eval(inner, state, strict)) {
            (Unary::IsPow2, SymbolicValue::Int(poly)) => SymbolicValue::Bool(Formula::Pow2(poly)),
            (Unary::Neg, SymbolicValue::Int(poly)) => {
                let result = poly.scaled(-1);
                self.arithmetic(result, expr, state, strict)
            }
            (Unary::Complement, SymbolicValue::Int(poly)) => {
                let result =
                    poly.scaled(-1).and_then(|negative| negative.offset(all_ones(expr.ty)));
                self.arithmetic(result, expr, state, false)
            }
            (_, value) => self.untracked(self.level(&value)),
        }
    }

    /// The result of a sum or product. One that is too large to represent here is an unknown integer of the type, and
    /// nothing shows that a signed one fits.
    fn arithmetic(
        &mut self,
        result: Option<Poly>,
        expr: &Expr,
        state: &State,
        strict: bool,
    ) -> SymbolicValue {
        let may_overflow = strict && matches!(expr.ty, Type::Int { signed: true, .. });
        let Some(poly) = result else {
            if may_overflow {
                self.oblige(Claim::Overflow(expr.ty), Formula::False, expr.span, state);
            }
            return SymbolicValue::Int(self.unknown("large", Level::Thread, expr.ty));
        };
        if may_overflow {
            self.oblige_in_range(&poly, expr, state);
        }
        SymbolicValue::Int(poly)
    }

    /// Evaluates a binary operator on evaluated operands. `strict` adds the obligation that the result is the
    /// machine's.
    fn binary(
        &mut self,
        operator: Binary,
        [(left, left_span), (right, right_span)]: [(SymbolicValue, Span); 2],
        expr: &Expr,
        state: &State,
        strict: bool,
    ) -> SymbolicValue {
        let (SymbolicValue::Int(a), SymbolicValue::Int(b)) = (&left, &right) else {
            return self.untracked(self.level(&left).max(self.level(&right)));
        };
        let ty = expr.ty;
        match operator {
            Binary::Add => return self.arithmetic(a.plus(b), expr, state, strict),
            Binary::Sub => return self.arithmetic(a.minus(b), expr, state, strict),
            Binary::Mul => return self.arithmetic(a.times(b), expr, state, strict),
            Binary::Shl => {
                if let Some(amount) = b.as_constant().filter(|one| (0..width(ty)).contains(one)) {
                    if let Some(value) = a.as_constant().and_then(|one| sign_bit(one, amount, ty)) {
                        return SymbolicValue::Int(Poly::constant(value));
                    }
                    return self.arithmetic(a.scaled(1 << amount), expr, state, strict);
                }
            }
            // The low bits do not depend on wrapping.
            Binary::BitAnd => {
                let (a, b) = if a.as_constant().is_some() { (b, a) } else { (a, b) };
                if let Some(mask) =
                    b.as_constant().filter(|mask| *mask > 0 && mask & (mask + 1) == 0)
                {
                    let quotient = self.operation(Operation::Floor(a.clone(), mask + 1), ty);
                    let multiple = quotient.scaled(mask + 1);
                    let low = multiple.and_then(|multiple| a.minus(&multiple));
                    return self.arithmetic(low, expr, state, false);
                }
                if let Some(unit) = b.as_constant().and_then(|mask| low_unit(mask, ty)) {
                    // `x & ~31`.
                    let quotient = self.operation(Operation::Floor(a.clone(), unit), ty);
                    return self.arithmetic(quotient.scaled(unit), expr, state, false);
                }
            }
            _ => {}
        }
        if let Some(value) = self.with_single_bit(operator, a, b, ty) {
            return self.arithmetic(Some(value), expr, state, false);
        }
        let (mut a, mut b) = (a.clone(), b.clone());
        if !strict {
            a = self.data_value(&a, ty, state);
            // The divisor that must not be 0 is the machine's.
            if !matches!(operator, Binary::Div | Binary::Rem) {
                b = self.data_value(&b, ty, state);
            }
        }
        self.oblige_in_type(&a, ty, left_span, state);
        self.oblige_in_type(&b, ty, right_span, state);
        match operator {
            Binary::Div | Binary::Rem => self.divide(operator, a, b, expr, state),
            Binary::Shr
                if b.as_constant().is_some_and(|amount| (0..width(ty)).contains(&amount)) =>
            {
                let amount = b.as_constant().unwrap_or(0);
                SymbolicValue::Int(self.operation(Operation::Floor(a, 1 << amount), ty))
            }
            Binary::Min => SymbolicValue::Int(self.operation(Operation::Min(a, b), ty)),
            Binary::Max => SymbolicValue::Int(self.operation(Operation::Max(a, b), ty)),
            Binary::Shl | Binary::Shr => {
                let below = b.scaled(-1).and_then(|negative| negative.offset(width(ty) - 1));
                let goal = [Formula::ge(b.clone()), below.map_or(Formula::False, Formula::ge)];
                self.oblige(Claim::Overflow(ty), Formula::and(goal), expr.span, state);
                if strict && operator == Binary::Shl {
                    self.oblige(Claim::Overflow(ty), shifted_fits(&a, &b, ty), expr.span, state);
                }
                SymbolicValue::Int(
                    self.operation(Operation::Opaque(shift_name(operator, ty), a, b), ty),
                )
            }
            Binary::BitAnd => {
                SymbolicValue::Int(self.operation(Operation::Opaque("and", a, b), ty))
            }
            Binary::BitOr => SymbolicValue::Int(self.operation(Operation::Opaque("or", a, b), ty)),
            _ => SymbolicValue::Int(self.operation(Operation::Opaque("xor", a, b), ty)),
        }
    }

    /// The machine's value of a number that feeds only data, and may wrap: an unknown number of the type, unless it
    /// is proved to be in range.
    fn data_value(&mut self, poly: &Poly, ty: Type, state: &State) -> Poly {
        let fits = in_type(poly, ty);
        if self.prover.proves_quickly(&state.path, &fits)
            || self.prover.proves_lightly(&state.path, &fits)
        {
            return poly.clone();
        }
        let level = self.prover.symbols.level(poly);
        self.unknown("wrapped", level, ty)
    }

    /// A bitwise operation with a single bit, which does not depend on wrapping.
    fn with_single_bit(&mut self, operator: Binary, a: &Poly, b: &Poly, ty: Type) -> Option<Poly> {
        let bit_of = |poly: &Poly| poly.as_constant().filter(is_bit);
        let (a, bit) = match (bit_of(a), bit_of(b)) {
            (_, Some(bit)) => (a, bit),
            (Some(bit), None) => (b, bit),
            (None, None) => return None,
        };
        if !matches!(operator, Binary::BitAnd | Binary::BitOr | Binary::BitXor) {
            return None;
        }
        let above = self.operation(Operation::Floor(a.clone(), bit), ty);
        let beyond = self.operation(Operation::Floor(a.clone(), bit.checked_mul(2)?), ty);
        // 1 if the bit is set.
        let set = above.minus(&beyond.scaled(2)?)?;
        match operator {
            Binary::BitAnd => set.scaled(bit),
            Binary::BitOr => a.offset(bit)?.minus(&set.scaled(bit)?),
            _ => a.offset(bit)?.minus(&set.scaled(bit.checked_mul(2)?)?),
        }
    }

    fn divide(
        &mut self,
        operator: Binary,
        a: Poly,
        b: Poly,
        expr: &Expr,
        state: &State,
    ) -> SymbolicValue {
        self.oblige(Claim::Division, Formula::eq(b.clone()).not(), expr.span, state);
        if let (Type::Int { signed: true, .. }, Some((least, _))) = (expr.ty, expr.ty.range()) {
            // The minimum divided by −1 is out of range.
            let above = a.offset(-least - 1).map_or(Formula::False, Formula::ge);
            let goal = Formula::or([Formula::ge(b.clone()), above]);
            self.oblige(Claim::Overflow(expr.ty), goal, expr.span, state);
        }
        let quotient = self.operation(Operation::Div(a.clone(), b.clone()), expr.ty);
        if operator == Binary::Div {
            return SymbolicValue::Int(quotient);
        }
        let remainder = quotient.times(&b).and_then(|multiple| a.minus(&multiple));
        self.arithmetic(remainder, expr, state, false)
    }

    fn compare(&mut self, operator: Compare, left: &Expr, right: &Expr, state: &State) -> Formula {
        let one = self.eval(left, state, true);
        let other = self.eval(right, state, true);
        let (SymbolicValue::Int(a), SymbolicValue::Int(b)) = (&one, &other) else {
            if let (SymbolicValue::Bool(a), SymbolicValue::Bool(b)) = (one.clone(), other.clone())
                && matches!(operator, Compare::Eq | Compare::Ne)
            {
                let same = Formula::and([a.clone().implies(b.clone()), b.implies(a)]);
                return if operator == Compare::Eq { same } else { same.not() };
            }
            let level = self.level(&one).max(self.level(&other));
            let truth = self.unknown_truth(level);
            if left.ty == Type::Float
                && right.ty == Type::Float
                && let Some(opaque_comparisons) = &mut self.opaque_comparisons
                && let Some(sym) = truth.symbols().first().copied()
            {
                let (left, right) = (left.clone(), right.clone());
                opaque_comparisons.push(OpaqueComparison { sym, compare: operator, left, right });
            }
            return truth;
        };
        let (ones, others) =
            (self.machine_cases(a, left, state), self.machine_cases(b, right, state));
        let mut cases = Vec::new();
        for (first, a) in &ones {
            for (second, b) in &others {
                let Some(holds) = compared(operator, a, b) else {
                    let level = self.level(&one).max(self.level(&other));
                    return self.unknown_truth(level);
                };
                cases.push(Formula::and([first.clone(), second.clone(), holds]));
            }
        }
        Formula::or(cases)
    }
}

/// A comparison of two numbers; `None` if they are too large.
fn compared(operator: Compare, a: &Poly, b: &Poly) -> Option<Formula> {
    let difference = match operator {
        Compare::Lt | Compare::Le => b.minus(a)?,
        _ => a.minus(b)?,
    };
    Some(match operator {
        Compare::Lt | Compare::Gt => Formula::ge(difference.offset(-1)?),
        Compare::Le | Compare::Ge => Formula::ge(difference),
        Compare::Eq => Formula::eq(difference),
        Compare::Ne => Formula::eq(difference).not(),
    })
}

/// The condition that a number is in the range of a type.
pub(super) fn in_type(poly: &Poly, ty: Type) -> Formula {
    let Some((low, high)) = ty.range() else { return Formula::True };
    let above = poly.offset(-low).map_or(Formula::False, Formula::ge);
    let below = poly.scaled(-1).and_then(|negative| negative.offset(high));
    Formula::and([above, below.map_or(Formula::False, Formula::ge)])
}

/// Returns `true` if a number is a power of two.
pub(super) fn is_bit(value: &i128) -> bool {
    *value > 0 && value & (value - 1) == 0
}
