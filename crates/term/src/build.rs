//! Constructors of terms other than inputs, constants and sums: products, quotients, powers, functions, selects and
//! conditions.
//!
//! A fold is allowed if it keeps the value *and* the set of inputs where the term is defined. `0 · x` is 0 only for a
//! total `x`; `1/0` is [`Node::Undefined`], not an error.

use crate::{Function, Node, NodeId, Number, Relation, Term, Terms};
use std::cmp::Ordering;

/// Constant powers are folded up to this many bits; beyond it they stay symbolic.
const MAX_POWER_BITS: usize = 4096;
/// Depth to which selects between infinities are searched.
const MAX_CHOICE_DEPTH: u32 = 12;
/// Two constants are multiplied if they have at most this many bits together: each squaring doubles the bits.
const MAX_PRODUCT_BITS: usize = 1 << 14;
/// Depth to which the sign of a constant is searched.
const MAX_SIGN_DEPTH: u32 = 6;

impl Terms {
    /// π.
    pub fn pi(&mut self) -> Term {
        self.push(Node::Pi, false).into()
    }

    /// `−a`
    pub fn negate(&mut self, a: Term) -> Term {
        match self.node(a) {
            Node::Constant(value) => {
                let value = -self.number(value);
                self.constant(value)
            }
            Node::Infinity { negative } => self.infinity(!negative),
            Node::Negation(inner) => inner.into(),
            Node::Undefined => a,
            _ => self.unary(a, Node::Negation, false),
        }
    }

    /// `a · b`
    pub fn multiply(&mut self, a: Term, b: Term) -> Term {
        match (self.node(a), self.node(b)) {
            (Node::Undefined, _) | (_, Node::Undefined) => self.undefined(),
            (Node::Constant(x), Node::Constant(y))
                if self.number(x).bits() + self.number(y).bits() <= MAX_PRODUCT_BITS =>
            {
                let value = self.number(x) * self.number(y);
                self.constant(value)
            }
            (Node::Constant(_), Node::Constant(_)) => self.binary(a, b, Node::Product, false),
            (Node::Infinity { negative }, other) | (other, Node::Infinity { negative }) => {
                match self.sign_of(other) {
                    Some(Ordering::Equal) => self.undefined(),
                    Some(sign) => self.infinity(negative != (sign == Ordering::Less)),
                    None => self.binary(a, b, Node::Product, true),
                }
            }
            (Node::Constant(x), _) => self.scale(x, a, b),
            (_, Node::Constant(y)) => self.scale(y, b, a),
            _ => self.binary(a, b, Node::Product, false),
        }
    }

    /// `a / b`
    pub fn divide(&mut self, a: Term, b: Term) -> Term {
        match (self.node(a), self.node(b)) {
            (Node::Undefined, _) | (_, Node::Undefined) => self.undefined(),
            (Node::Infinity { .. }, Node::Infinity { .. }) => self.undefined(),
            (_, Node::Infinity { .. }) if !self.is_partial(a) => self.zero(),
            (_, Node::Constant(divisor)) => match self.number(divisor).reciprocal() {
                Some(factor) => {
                    let factor = self.constant(factor);
                    self.multiply(a, factor)
                }
                None => self.undefined(),
            },
            (_, divisor) => {
                let partial = !self.is_never_zero(divisor);
                self.binary(a, b, Node::Quotient, partial)
            }
        }
    }

    /// `a^q`; see [`Node::Power`] for where it is defined.
    pub fn power(&mut self, a: Term, exponent: &Number) -> Term {
        if exponent.is_one() {
            return a;
        }
        if let (Node::Constant(base), Some(integer)) = (self.node(a), exponent.to_i64()) {
            let base = self.number(base);
            let cost = base.bits().saturating_mul(integer.unsigned_abs() as usize);
            if base.is_zero() && integer < 0 {
                return self.undefined();
            }
            if cost < MAX_POWER_BITS
                && let Some(value) = base.integer_power(integer as i32)
            {
                return self.constant(value);
            }
        }
        if matches!(self.node(a), Node::Undefined) {
            return a;
        }
        if let (Node::Constant(base), None) = (self.node(a), exponent.to_i64())
            && let Some(root) = self.number(base).exact_square_root()
            && (exponent + exponent).to_i64().is_some()
        {
            let root = self.constant(root);
            return self.power(root, &(exponent + exponent));
        }
        let positive = match self.node(a) {
            Node::Constant(base) => self.number(base).signum() > 0,
            other => self.is_positive_constant(other) || matches!(other, Node::Exp(_)),
        };
        let total = positive || exponent.to_i64().is_some_and(|integer| integer >= 0);
        let exponent = self.constant_id(exponent.clone());
        self.unary(a, |node| Node::Power(node, exponent), !total)
    }

    /// `√a`
    pub fn square_root(&mut self, a: Term) -> Term {
        self.power(a, &Number::dyadic(1, -1))
    }

    /// `1 / √a`
    pub fn reciprocal_square_root(&mut self, a: Term) -> Term {
        self.power(a, &Number::dyadic(-1, -1))
    }

    /// `e^a`
    pub fn exp(&mut self, a: Term) -> Term {
        match self.node(a) {
            Node::Constant(value) if self.number(value).is_zero() => self.one(),
            Node::Infinity { negative: true } => self.zero(),
            Node::Infinity { negative: false } | Node::Undefined => a,
            _ => self.unary(a, Node::Exp, false),
        }
    }

    /// `2^a`, as `e^(a · ln 2)`.
    pub fn exp2(&mut self, a: Term) -> Term {
        let ln_2 = self.log_of_integer(2);
        let scaled = self.multiply(a, ln_2);
        self.exp(scaled)
    }

    /// Natural logarithm.
    pub fn log(&mut self, a: Term) -> Term {
        match self.node(a) {
            Node::Constant(value) if self.number(value).is_one() => self.zero(),
            Node::Constant(value) if self.number(value).signum() <= 0 => self.undefined(),
            Node::Infinity { negative: false } | Node::Undefined => a,
            Node::Infinity { negative: true } => self.undefined(),
            // The logarithm of a positive constant is a total constant.
            Node::Constant(_) => self.unary(a, Node::Log, false),
            _ => self.unary(a, Node::Log, true),
        }
    }

    /// Logarithm to base 2, as `log a / ln 2`.
    pub fn log2(&mut self, a: Term) -> Term {
        let ln_2 = self.log_of_integer(2);
        let minus_one = self.constant_id(Number::MINUS_ONE);
        // 1/ln 2 is defined, so unlike a quotient by a term this is total.
        let inverse = self.unary(ln_2, |node| Node::Power(node, minus_one), false);
        let log = self.log(a);
        self.multiply(log, inverse)
    }

    /// Builds the larger of two terms.
    pub fn maximum(&mut self, a: Term, b: Term) -> Term {
        self.extremum(a, b, Ordering::Greater)
    }

    /// Builds the smaller of two terms.
    pub fn minimum(&mut self, a: Term, b: Term) -> Term {
        self.extremum(a, b, Ordering::Less)
    }

    /// `|a|`
    pub fn absolute(&mut self, a: Term) -> Term {
        match self.node(a) {
            Node::Constant(value) => {
                let value = self.number(value).abs();
                self.constant(value)
            }
            Node::Infinity { .. } => self.infinity(false),
            Node::Undefined => a,
            _ => self.unary(a, Node::Absolute, false),
        }
    }

    /// `a` where `condition` holds, else `b`.
    pub fn select(&mut self, condition: Term, a: Term, b: Term) -> Term {
        match self.node(condition) {
            Node::Truth(true) => a,
            Node::Truth(false) => b,
            Node::Undefined => condition,
            _ if a == b && !self.is_partial(condition) => a,
            _ => {
                let (condition, mut a, mut b) = (self.seal(condition), self.seal(a), self.seal(b));
                // A select on the same condition is decided already.
                if let Node::Select(same, inner, _) = self.at(a)
                    && same == condition
                {
                    a = inner;
                }
                if let Node::Select(same, _, inner) = self.at(b)
                    && same == condition
                {
                    b = inner;
                }
                // A select with an infinite side is partial: it is no real number where that side is chosen.
                let partial =
                    self.partial_at(condition) || self.may_pass_on(a) || self.may_pass_on(b);
                self.push(Node::Select(condition, a, b), partial).into()
            }
        }
    }

    /// Builds a function of one argument. Named functions count as partial: their domain is unknown.
    pub fn apply(&mut self, function: Function, a: Term) -> Term {
        match self.node(a) {
            Node::Undefined => return a,
            Node::Constant(_) if function == Function::Rounded => return a,
            _ => {}
        }
        let partial = matches!(function, Function::Named(_));
        self.unary(a, |node| Node::Apply(function, node), partial)
    }

    /// Builds a comparison.
    pub fn compare(&mut self, relation: Relation, a: Term, b: Term) -> Term {
        if matches!(self.node(a), Node::Undefined) || matches!(self.node(b), Node::Undefined) {
            return self.undefined();
        }
        if let Some(condition) = self.compare_with_infinity(relation, a, b) {
            return condition;
        }
        match self.ordering(a, b) {
            Some(ordering) => {
                let holds = match relation {
                    Relation::Less => ordering == Ordering::Less,
                    Relation::LessEqual => ordering != Ordering::Greater,
                    Relation::Equal => ordering == Ordering::Equal,
                };
                self.truth(holds)
            }
            None => self.binary(a, b, |a, b| Node::Compare(relation, a, b), false),
        }
    }

    /// Folds the comparison of an infinity with a select between numbers and infinities.
    fn compare_with_infinity(&mut self, relation: Relation, a: Term, b: Term) -> Option<Term> {
        let (choice, negative, is_left) = match (self.node(a), self.node(b)) {
            (Node::Infinity { .. }, Node::Infinity { .. }) => return None,
            (Node::Infinity { negative }, _) => (b, negative, false),
            (_, Node::Infinity { negative }) => (a, negative, true),
            _ => return None,
        };
        if !self.is_partial(choice) {
            return None;
        }
        let is_infinite = self.is_infinity(choice, negative, MAX_CHOICE_DEPTH)?;
        Some(match (relation, is_left != negative) {
            (Relation::Equal, _) => is_infinite,
            // Below +∞, or above −∞.
            (Relation::Less, true) => self.not(is_infinite),
            // The same for every side, but the choice itself may be undefined.
            (Relation::Less, false) | (Relation::LessEqual, true)
                if self.is_partial(is_infinite) =>
            {
                return None;
            }
            (Relation::Less, false) => self.truth(false),
            (Relation::LessEqual, true) => self.truth(true),
            (Relation::LessEqual, false) => is_infinite,
        })
    }

    /// Builds the condition under which a select is an infinity; `None` if another part may be undefined.
    fn is_infinity(&mut self, a: Term, negative: bool, depth: u32) -> Option<Term> {
        let depth = depth.checked_sub(1)?;
        match self.node(a) {
            Node::Infinity { negative: own } => Some(self.truth(own == negative)),
            _ if !self.is_partial(a) => Some(self.truth(false)),
            Node::Select(condition, a, b) => {
                let a = self.is_infinity(a.into(), negative, depth)?;
                let b = self.is_infinity(b.into(), negative, depth)?;
                let otherwise = self.not(condition.into());
                let (a, b) = (self.and(condition.into(), a), self.and(otherwise, b));
                Some(self.or(a, b))
            }
            Node::Negation(a) => self.is_infinity(a.into(), !negative, depth),
            node @ (Node::Maximum(a, b) | Node::Minimum(a, b)) => {
                let a = self.is_infinity(a.into(), negative, depth)?;
                let b = self.is_infinity(b.into(), negative, depth)?;
                // The larger is −∞ if both are, and +∞ if one is.
                let both = matches!(node, Node::Maximum(..)) == negative;
                Some(if both { self.and(a, b) } else { self.or(a, b) })
            }
            _ => None,
        }
    }

    /// Negates a condition.
    pub fn not(&mut self, a: Term) -> Term {
        match self.node(a) {
            Node::Truth(value) => self.truth(!value),
            Node::Not(inner) => inner.into(),
            Node::Undefined => a,
            _ => self.unary(a, Node::Not, false),
        }
    }

    /// Builds the conjunction of two conditions.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.connective(a, b, true)
    }

    /// Builds the disjunction of two conditions.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        self.connective(a, b, false)
    }

    /// Returns `true` for constants and exponentials that cannot be zero: dividing by them is total.
    fn is_never_zero(&self, node: Node) -> bool {
        match node {
            Node::Pi | Node::Exp(_) => true,
            // The logarithm of 1 was folded, that of a negative number is undefined.
            Node::Log(argument) => matches!(self.at(argument), Node::Constant(_)),
            other => self.sign_of(other).is_some_and(|sign| sign != Ordering::Equal),
        }
    }

    /// Returns `true` for a total constant that is known to be positive.
    fn is_positive_constant(&self, node: Node) -> bool {
        self.sign_of_constant(node, MAX_SIGN_DEPTH) == Some(Ordering::Greater)
    }

    fn log_of_integer(&mut self, value: i64) -> Term {
        let value = self.integer(value);
        self.log(value)
    }

    /// Builds a conjunction (`both`) or disjunction.
    fn connective(&mut self, a: Term, b: Term, both: bool) -> Term {
        match (self.node(a), self.node(b)) {
            (Node::Undefined, _) | (_, Node::Undefined) => self.undefined(),
            (Node::Truth(value), _) if value == both => b,
            (_, Node::Truth(value)) if value == both => a,
            (Node::Truth(_), _) if !self.is_partial(b) => self.truth(!both),
            (_, Node::Truth(_)) if !self.is_partial(a) => self.truth(!both),
            _ => self.binary(a, b, if both { Node::And } else { Node::Or }, false),
        }
    }

    /// Builds the larger operand (`wanted` is `Greater`) or the smaller one.
    fn extremum(&mut self, a: Term, b: Term, wanted: Ordering) -> Term {
        if matches!(self.node(a), Node::Undefined) || matches!(self.node(b), Node::Undefined) {
            return self.undefined();
        }
        if let Some(other) = self.without_neutral(a, b, wanted) {
            return other;
        }
        match self.ordering(a, b) {
            Some(ordering) if ordering == wanted || ordering == Ordering::Equal => a,
            Some(_) => b,
            None if a == b => a,
            None if wanted == Ordering::Greater => self.binary(a, b, Node::Maximum, false),
            None => self.binary(a, b, Node::Minimum, false),
        }
    }

    /// Returns the order of two terms, if constants and infinities alone determine it; total terms are finite.
    fn ordering(&self, a: Term, b: Term) -> Option<Ordering> {
        match (self.node(a), self.node(b)) {
            (Node::Constant(x), Node::Constant(y)) => Some(self.number(x).cmp(self.number(y))),
            (Node::Infinity { negative: x }, Node::Infinity { negative: y }) => Some(y.cmp(&x)),
            (Node::Infinity { negative }, _) if !self.is_partial(b) => {
                Some(if negative { Ordering::Less } else { Ordering::Greater })
            }
            (_, Node::Infinity { negative }) if !self.is_partial(a) => {
                Some(if negative { Ordering::Greater } else { Ordering::Less })
            }
            _ => None,
        }
    }

    /// `max(−∞, x)` and `min(+∞, x)` are `x`, partial or not: the conditions of `x` are kept.
    fn without_neutral(&self, a: Term, b: Term, wanted: Ordering) -> Option<Term> {
        let neutral = |node| match node {
            Node::Infinity { negative } => negative == (wanted == Ordering::Greater),
            _ => false,
        };
        if neutral(self.node(a)) {
            Some(b)
        } else if neutral(self.node(b)) {
            Some(a)
        } else {
            None
        }
    }

    /// Returns the sign of a constant or an infinity; `None` if it is not known.
    fn sign_of(&self, node: Node) -> Option<Ordering> {
        match node {
            Node::Constant(value) => Some(self.number(value).signum().cmp(&0)),
            Node::Infinity { negative } => {
                Some(if negative { Ordering::Less } else { Ordering::Greater })
            }
            other => self.sign_of_constant(other, MAX_SIGN_DEPTH),
        }
    }

    /// Returns the sign of a total constant made of rationals, π, logarithms, powers and products: scales such as
    /// `1/(8·ln 2)`. Gives up on deeper constants.
    fn sign_of_constant(&self, node: Node, depth: u32) -> Option<Ordering> {
        let depth = depth.checked_sub(1)?;
        let below = |id: NodeId| self.sign_of_constant(self.at(id), depth);
        match node {
            Node::Constant(value) => Some(self.number(value).signum().cmp(&0)),
            Node::Pi => Some(Ordering::Greater),
            Node::Log(argument) => match self.at(argument) {
                Node::Constant(value) if self.number(value).signum() > 0 => {
                    Some(self.number(value).cmp(&Number::ONE))
                }
                _ => None,
            },
            Node::Exp(exponent) => below(exponent).map(|_| Ordering::Greater),
            Node::Power(base, _) => below(base).filter(|sign| *sign == Ordering::Greater),
            Node::Negation(a) => below(a).map(Ordering::reverse),
            Node::Product(a, b) | Node::Quotient(a, b) => match (below(a)?, below(b)?) {
                (_, Ordering::Equal) | (Ordering::Equal, _) => None,
                (x, y) => Some(if x == y { Ordering::Greater } else { Ordering::Less }),
            },
            _ => None,
        }
    }

    /// Multiplies a term by a constant.
    fn scale(&mut self, factor: crate::ConstantId, constant: Term, other: Term) -> Term {
        let value = self.number(factor);
        if value.is_one() {
            other
        } else if *value == Number::MINUS_ONE {
            self.negate(other)
        } else if value.is_zero() && !self.is_partial(other) {
            self.zero()
        } else {
            self.binary(constant, other, Node::Product, false)
        }
    }

    fn unary(&mut self, a: Term, make: impl FnOnce(NodeId) -> Node, partial: bool) -> Term {
        let a = self.seal(a);
        let partial = partial || self.may_pass_on(a);
        self.push(make(a), partial).into()
    }

    /// Returns `true` if the operation on this operand may be undefined or infinite. An infinity alone is not partial,
    /// but `∞/e^x` is: total terms are finite, so that `0·t` is 0.
    fn may_pass_on(&self, operand: NodeId) -> bool {
        self.partial_at(operand) || matches!(self.at(operand), Node::Infinity { .. })
    }

    fn binary(
        &mut self,
        a: Term,
        b: Term,
        make: impl FnOnce(NodeId, NodeId) -> Node,
        partial: bool,
    ) -> Term {
        let (a, b) = (self.seal(a), self.seal(b));
        let partial = partial || self.may_pass_on(a) || self.may_pass_on(b);
        self.push(make(a, b), partial).into()
    }
}
