//! Evaluates terms at a point by intervals with outward rounding: the exact value lies in the interval, or is
//! certainly undefined, or the result is [`Value::Unsure`].

use super::elementary;
use super::interval::{Binary, Interval};
use crate::algebra::round_to_even;
use crate::deadline::{Countdown, Deadline};
use dashu_int::IBig;
use std::cmp::Ordering;
use term::{Function, Input, Node, NodeId, Number, Relation, Term, Terms, evaluation_order};

/// The value of a term at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A real in this interval.
    Real(Interval),
    /// A condition that holds or not.
    Truth(bool),
    /// A condition that is certainly defined; the enclosures do not decide if it holds.
    Undecided,
    /// An unknown real: the value of an uninterpreted function.
    Any,
    /// +∞ (false) or −∞ (true).
    Infinity(bool),
    /// Certainly undefined.
    Undefined,
    /// The enclosures were too wide to decide, or a function has no evaluation.
    Unsure,
}

/// Computes the values of some terms where each input has the value `point` gives it.
#[must_use]
pub fn evaluate(terms: &Terms, roots: &[Term], point: &dyn Fn(Input) -> Number) -> Vec<Value> {
    evaluate_until(terms, roots, point, Deadline::default())
}

/// Like [`evaluate`]; values not computed before the deadline are `Unsure`.
pub(crate) fn evaluate_until(
    terms: &Terms,
    roots: &[Term],
    point: &dyn Fn(Input) -> Number,
    deadline: Deadline,
) -> Vec<Value> {
    let order = evaluation_order(terms, roots.iter().copied(), |_| true);
    let mut values = Values { nodes: &order.nodes, values: Vec::with_capacity(order.nodes.len()) };
    let mut countdown = Countdown::new(deadline);
    for node in &order.nodes {
        if countdown.is_over() {
            return vec![Value::Unsure; roots.len()];
        }
        let value = operation(terms, terms.at(*node), point, &values, &mut countdown);
        values.values.push(value);
    }
    let root = |root: &Term| operation(terms, terms.node(*root), point, &values, &mut countdown);
    roots.iter().map(root).collect()
}

/// Values of the nodes visited so far, found by binary search: a store may be much larger than the part below a root,
/// so there is no array for all its nodes.
struct Values<'a> {
    /// Ascending.
    nodes: &'a [NodeId],
    values: Vec<Value>,
}

impl Values<'_> {
    fn at(&self, node: NodeId) -> &Value {
        let index = self.nodes.binary_search(&node).ok();
        index.and_then(|index| self.values.get(index)).unwrap_or(&Value::Unsure)
    }
}

/// Evaluates an operation on the values of its operands.
fn operation(
    terms: &Terms,
    node: Node,
    point: &dyn Fn(Input) -> Number,
    values: &Values<'_>,
    countdown: &mut Countdown,
) -> Value {
    let at = |id: NodeId| values.at(id);
    match node {
        Node::Input(input) => Value::Real(Interval::of_number(&point(input))),
        Node::Constant(constant) => Value::Real(Interval::of_number(terms.number(constant))),
        Node::Pi => Value::Real(elementary::pi()),
        Node::Infinity { negative } => Value::Infinity(negative),
        Node::Undefined => Value::Undefined,
        Node::Sum(sum) => {
            let mut total = Value::Real(Interval::point(Binary::integer(0)));
            for factors in terms.products(sum).flatten() {
                if countdown.is_over() {
                    return Value::Unsure;
                }
                let product = multiply(at(factors.left()), at(factors.right()));
                total =
                    add(&total, &if factors.is_negative() { negate(&product) } else { product });
            }
            total
        }
        Node::Product(a, b) => multiply(at(a), at(b)),
        Node::Negation(a) => negate(at(a)),
        Node::Quotient(a, b) => divide(at(a), at(b)),
        Node::Power(a, exponent) => power(at(a), terms.number(exponent)),
        Node::Exp(a) => exponential(at(a)),
        Node::Log(a) => match at(a) {
            Value::Real(x) if x.high.signum() <= 0 => Value::Undefined,
            other => real(other, elementary::log),
        },
        Node::Maximum(a, b) => maximum(at(a), at(b)),
        Node::Minimum(a, b) => negate(&maximum(&negate(at(a)), &negate(at(b)))),
        Node::Absolute(a) => maximum(at(a), &negate(at(a))),
        Node::Select(c, a, b) => select(at(c), at(a), at(b)),
        Node::Apply(Function::Element(first), a) => match at(a) {
            Value::Real(index) => match element(terms, first, index) {
                Some(input) => Value::Real(Interval::of_number(&point(input))),
                None => Value::Unsure,
            },
            Value::Undefined => Value::Undefined,
            _ => Value::Unsure,
        },
        Node::Apply(Function::Named(_), a) => match at(a) {
            Value::Real(_) | Value::Any => Value::Any,
            other => real(other, |_| None),
        },
        Node::Apply(function, a) => real(at(a), |x| apply(function, x)),
        Node::Truth(value) => Value::Truth(value),
        Node::Compare(relation, a, b) => compare(relation, at(a), at(b)),
        Node::Not(a) => match at(a) {
            Value::Truth(value) => Value::Truth(!value),
            other => other.clone(),
        },
        Node::And(a, b) => connective(at(a), at(b), true),
        Node::Or(a, b) => connective(at(a), at(b), false),
    }
}

/// Returns the element of a tensor at a computed index, if the enclosure is one exact integer.
pub(crate) fn element(terms: &Terms, first: Input, index: &Interval) -> Option<Input> {
    let integer = index.to_f64_lossy() as i64;
    let exact = *index == Interval::of_number(&Number::from(integer));
    exact.then(|| terms.inputs().behind(first, integer)).flatten()
}

/// Applies an operation defined everywhere: undefined operands make the result undefined.
fn both(a: &Value, b: &Value, f: impl FnOnce(&Interval, &Interval) -> Option<Interval>) -> Value {
    match (a, b) {
        (Value::Undefined, _) | (_, Value::Undefined) => Value::Undefined,
        (Value::Real(x), Value::Real(y)) => f(x, y).map_or(Value::Unsure, Value::Real),
        (Value::Any, Value::Real(_) | Value::Any) | (Value::Real(_), Value::Any) => Value::Any,
        _ => Value::Unsure,
    }
}

/// Applies an operation that may be undefined; the value is unsure where `f` gives `None`.
fn real(a: &Value, f: impl FnOnce(&Interval) -> Option<Interval>) -> Value {
    match a {
        Value::Real(x) => f(x).map_or(Value::Unsure, Value::Real),
        Value::Undefined => Value::Undefined,
        Value::Truth(_) | Value::Undecided | Value::Infinity(_) | Value::Any | Value::Unsure => {
            Value::Unsure
        }
    }
}

fn exponential(a: &Value) -> Value {
    match a {
        Value::Infinity(true) => Value::Real(Interval::point(Binary::integer(0))),
        Value::Infinity(false) | Value::Any => a.clone(),
        other => real(other, elementary::exp),
    }
}

fn maximum(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Undefined, _) | (_, Value::Undefined) => Value::Undefined,
        (Value::Infinity(true), other) | (other, Value::Infinity(true)) => other.clone(),
        (Value::Infinity(false), Value::Real(_) | Value::Any | Value::Infinity(_))
        | (Value::Real(_) | Value::Any, Value::Infinity(false)) => Value::Infinity(false),
        _ => both(a, b, |x, y| Some(x.maximum(y))),
    }
}

fn negate(a: &Value) -> Value {
    match a {
        Value::Infinity(negative) => Value::Infinity(!negative),
        Value::Any => Value::Any,
        other => real(other, |x| Some(x.negated())),
    }
}

fn add(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Infinity(x), Value::Infinity(y)) if x != y => Value::Undefined,
        (Value::Infinity(_), Value::Real(_) | Value::Any | Value::Infinity(_)) => a.clone(),
        (Value::Real(_) | Value::Any, Value::Infinity(_)) => b.clone(),
        _ => both(a, b, Interval::plus),
    }
}

fn multiply(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Infinity(negative), Value::Real(x))
        | (Value::Real(x), Value::Infinity(negative)) => match x.sign() {
            None => Value::Unsure,
            Some(0) => Value::Undefined,
            Some(sign) => Value::Infinity(*negative != (sign < 0)),
        },
        (Value::Infinity(x), Value::Infinity(y)) => Value::Infinity(x != y),
        _ => both(a, b, |x, y| Some(x.times(y))),
    }
}

fn divide(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Undefined, _) => Value::Undefined,
        (_, Value::Real(y)) if y.sign() == Some(0) => Value::Undefined,
        (Value::Real(_), Value::Infinity(_)) => Value::Real(Interval::point(Binary::integer(0))),
        (_, Value::Any) => Value::Unsure,
        (Value::Any, Value::Real(y)) if y.sign().is_none() => Value::Unsure,
        _ => both(a, b, Interval::divided_by),
    }
}

fn power(a: &Value, exponent: &Number) -> Value {
    let Value::Real(x) = a else { return real(a, |_| None) };
    if let Some(integer) = exponent.to_i64() {
        if integer < 0 && x.sign() == Some(0) {
            return Value::Undefined;
        }
        return real(a, |x| x.integer_power(i32::try_from(integer).ok()?));
    }
    if x.high.signum() < 0 || (x.sign() == Some(0) && exponent.is_negative()) {
        return Value::Undefined;
    }
    if x.sign() == Some(0) {
        return a.clone();
    }
    let half = Number::dyadic(1, -1);
    if exponent.abs() == half {
        let root = x.square_root();
        return match (root, exponent.is_negative()) {
            (None, _) => Value::Unsure,
            (Some(root), false) => Value::Real(root),
            (Some(root), true) => {
                let one = Interval::point(Binary::integer(1));
                one.divided_by(&root).map_or(Value::Unsure, Value::Real)
            }
        };
    }
    let factor = Interval::of_number(exponent);
    real(a, |x| elementary::exp(&elementary::log(x)?.times(&factor)))
}

fn apply(function: Function, x: &Interval) -> Option<Interval> {
    match function {
        Function::Tanh => tanh(x),
        Function::Erf => elementary::erf(x),
        Function::Sin => elementary::sine(x, false),
        Function::Cos => elementary::sine(x, true),
        Function::Atan => elementary::arctangent(x),
        Function::Cbrt => cube_root(x),
        Function::Floor | Function::Ceil | Function::Trunc | Function::Round => round(function, x),
        Function::Rounded => Some(x.clone()),
        Function::Named(_) | Function::Element(_) => None,
    }
}

/// `1 − 2 / (e^(2x) + 1)`
fn tanh(x: &Interval) -> Option<Interval> {
    let one = Interval::point(Binary::integer(1));
    let double = x.plus(x)?;
    let denominator = elementary::exp(&double)?.plus(&one)?;
    one.minus(&Interval::point(Binary::integer(2)).divided_by(&denominator)?)
}

fn cube_root(x: &Interval) -> Option<Interval> {
    match x.sign()? {
        0 => Some(x.clone()),
        1 => {
            let third = Interval::of_number(&Number::ratio(1, 3)?);
            elementary::exp(&elementary::log(x)?.times(&third))
        }
        _ => Some(cube_root(&x.negated())?.negated()),
    }
}

/// Rounds, if both ends agree on the result.
fn round(function: Function, x: &Interval) -> Option<Interval> {
    let low = round_end(function, &x.low)?;
    (low == round_end(function, &x.high)?).then(|| Interval::point(Binary::new(low, 0)))
}

fn round_end(function: Function, end: &Binary) -> Option<IBig> {
    if end.magnitude() > 1 << 12 {
        return None;
    }
    let floor = elementary::floor(end);
    let exact = Binary::new(floor.clone(), 0) == *end;
    Some(match function {
        Function::Ceil if !exact => floor + IBig::ONE,
        Function::Trunc if !exact && end.signum() < 0 => floor + IBig::ONE,
        // The magnitude is below one half, perhaps far below: the number itself need not be rounded.
        Function::Round if end.magnitude() < 0 => IBig::ZERO,
        Function::Round if !exact => round_to_even(&end.to_number()).to_big().floor(),
        _ => floor,
    })
}

fn select(condition: &Value, a: &Value, b: &Value) -> Value {
    match condition {
        Value::Truth(true) => a.clone(),
        Value::Truth(false) => b.clone(),
        Value::Undefined => Value::Undefined,
        // The value of either branch lies in the hull. If one branch is undefined, the select may or may not be.
        Value::Undecided => match (a, b) {
            (Value::Undefined, Value::Undefined) => Value::Undefined,
            (Value::Undefined, _) | (_, Value::Undefined) => Value::Unsure,
            _ => both(a, b, |x, y| Some(x.hull(y))),
        },
        // The condition may be undefined, and then so is the select, even if its branches are equal.
        Value::Unsure if matches!((a, b), (Value::Undefined, Value::Undefined)) => Value::Undefined,
        Value::Unsure | Value::Real(_) | Value::Any | Value::Infinity(_) => Value::Unsure,
    }
}

fn compare(relation: Relation, a: &Value, b: &Value) -> Value {
    let ordering = match (a, b) {
        (Value::Undefined, _) | (_, Value::Undefined) => return Value::Undefined,
        (Value::Infinity(x), Value::Infinity(y)) => Some(y.cmp(x)),
        (Value::Infinity(negative), Value::Real(_)) => {
            Some(if *negative { Ordering::Less } else { Ordering::Greater })
        }
        (Value::Real(_), Value::Infinity(negative)) => {
            Some(if *negative { Ordering::Greater } else { Ordering::Less })
        }
        (Value::Real(x), Value::Real(y)) => order(relation, x, y),
        (Value::Any, Value::Real(_) | Value::Any | Value::Infinity(_))
        | (Value::Real(_) | Value::Infinity(_), Value::Any) => None,
        _ => return Value::Unsure,
    };
    match ordering {
        None => Value::Undecided,
        Some(ordering) => Value::Truth(match relation {
            Relation::Less => ordering == Ordering::Less,
            Relation::LessEqual => ordering != Ordering::Greater,
            Relation::Equal => ordering == Ordering::Equal,
        }),
    }
}

/// Returns an ordering that answers the relation, if the enclosures determine it.
fn order(relation: Relation, x: &Interval, y: &Interval) -> Option<Ordering> {
    if x.high < y.low {
        return Some(Ordering::Less);
    }
    if x.low > y.high {
        return Some(Ordering::Greater);
    }
    // The intervals may touch. If `x ≥ y` everywhere, `x < y` fails; if `x ≤ y` everywhere, `x ≤ y` holds. The answer
    // `Equal` is right for both.
    let settled = match relation {
        Relation::Less => x.low >= y.high,
        Relation::LessEqual => x.high <= y.low,
        Relation::Equal => false,
    };
    (settled || (x.is_point() && y.is_point())).then_some(Ordering::Equal)
}

fn connective(a: &Value, b: &Value, both: bool) -> Value {
    match (a, b) {
        (Value::Undefined, _) | (_, Value::Undefined) => Value::Undefined,
        (Value::Truth(x), Value::Truth(y)) => Value::Truth(if both { *x && *y } else { *x || *y }),
        // False decides a conjunction, true a disjunction: the other condition is defined.
        (Value::Truth(x), Value::Undecided) | (Value::Undecided, Value::Truth(x)) if *x != both => {
            Value::Truth(*x)
        }
        (Value::Truth(_) | Value::Undecided, Value::Undecided)
        | (Value::Undecided, Value::Truth(_)) => Value::Undecided,
        _ => Value::Unsure,
    }
}
