//! The interval domain: a table of intervals, and the operations on them.

use crate::comparison::compare;
use crate::expf::{EXPONENT_ORIGIN, rounds_down};
use crate::{Enclosure, RunInputs, functions};
use exec::Mask;
use exec::domain::{
    Binary, Connective, Domain, InputSource, Inputs, LIMIT, Truths, Unary, Value, Values,
};
use ir::{ArgumentRange, Format, RealFunction, Relation, Rounding, Width};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// The abstract value of a handle.
#[derive(Clone, Debug)]
pub(crate) enum AbstractValue<E> {
    /// A real number.
    Real(E),
    /// +∞ or −∞.
    Infinite { negative: bool },
    /// Certainly undefined, and why.
    Undefined(&'static str),
    /// Perhaps undefined, perhaps any number.
    Unsure(&'static str),
    /// A boolean that is certainly defined, and not decided.
    Undecided(&'static str),
}

use AbstractValue::{Infinite, Real, Undecided, Undefined, Unsure};

pub(crate) const TOO_LARGE: &str = "a number too large or too small to be enclosed";
const DIVISION: &str = "a division by zero";
const MAYBE_DIVISION: &str = "a division by a number that may be zero";
pub(crate) const LOGARITHM: &str = "a logarithm of a number that is not positive";
pub(crate) const MAYBE_LOGARITHM: &str = "a logarithm of a number that may not be positive";
const ROOT: &str = "a square root of a negative number";
const MAYBE_ROOT: &str = "a square root of a number that may be negative";
const DIFFERENCE: &str = "a difference of infinities";
const PRODUCT: &str = "a product of zero and infinity";
const MAYBE_PRODUCT: &str = "a product of infinity and a number whose sign is not known";
const NAN: &str = "a constant that is not a number";
const ANGLE: &str = "a sine or cosine of infinity";
const UNGIVEN: &str = "an input that is not given";
const CHOICE: &str = "a choice by a comparison that is not decided";

/// Intervals as a domain.
#[derive(Debug)]
pub struct Intervals<E> {
    /// By handle; entry 0 stands for unknown handles.
    table: Vec<AbstractValue<E>>,
    given: RunInputs,
    /// Final contents of buffers of earlier launches.
    carried: FxHashMap<InputSource, Vec<AbstractValue<E>>>,
}

impl<E: Enclosure> Intervals<E> {
    /// Creates a domain with the given inputs.
    #[must_use]
    pub fn new(given: RunInputs) -> Self {
        Self { table: vec![Unsure(UNGIVEN)], given, carried: FxHashMap::default() }
    }

    /// Number of values so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len() - 1
    }

    /// Returns `true` if there are no values yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts another launch.
    pub(crate) fn start_launch(&mut self, given: RunInputs) {
        self.given = given;
        self.carried.clear();
    }

    /// Sets an input of the launch to values of this domain.
    pub(crate) fn set_input(&mut self, source: InputSource, values: &[Value]) {
        let known = values.iter().map(|&value| self.known(value).clone()).collect();
        self.carried.insert(source, known);
    }

    pub(crate) fn known(&self, value: Value) -> &AbstractValue<E> {
        self.table.get(value as usize).unwrap_or(&self.table[0])
    }

    fn push(&mut self, known: AbstractValue<E>) -> Value {
        let value = self.table.len() as u32;
        assert!(value < LIMIT, "more values than handles");
        self.table.push(known);
        value
    }

    fn map_lanes<const N: usize>(
        &mut self,
        operands: [&Values; N],
        lanes: Mask,
        out: &mut Values,
        apply: impl Fn([&AbstractValue<E>; N]) -> AbstractValue<E>,
    ) {
        for lane in lanes.iter() {
            let result = apply(operands.map(|values| self.known(values[lane])));
            out[lane] = self.push(result);
        }
    }
}

pub(crate) fn real<E>(value: Option<E>, otherwise: &'static str) -> AbstractValue<E> {
    value.map_or(Unsure(otherwise), Real)
}

pub(crate) fn number<E: Enclosure>(value: f64) -> AbstractValue<E> {
    match value {
        value if value.is_nan() => Undefined(NAN),
        value if value.is_infinite() => Infinite { negative: value < 0.0 },
        value => Real(E::point(value)),
    }
}

/// Propagates undefined and unsure operands, independent of the operation: undefined before unsure.
pub(crate) fn propagate_undefined<'k, E>(
    operands: impl IntoIterator<Item = &'k AbstractValue<E>>,
) -> Option<AbstractValue<E>>
where
    E: 'k,
{
    let mut unsure = None;
    for operand in operands {
        match operand {
            Undefined(why) => return Some(Undefined(why)),
            Unsure(why) | Undecided(why) => unsure = unsure.or(Some(Unsure(why))),
            Real(_) | Infinite { .. } => {}
        }
    }
    unsure
}

pub(crate) fn add<E: Enclosure>(a: &AbstractValue<E>, b: &AbstractValue<E>) -> AbstractValue<E> {
    match (a, b) {
        (Real(x), Real(y)) => real(x.add(y), TOO_LARGE),
        (Infinite { negative: x }, Infinite { negative: y }) if x != y => Undefined(DIFFERENCE),
        (Infinite { negative }, Real(_) | Infinite { .. }) | (Real(_), Infinite { negative }) => {
            Infinite { negative: *negative }
        }
        _ => propagate_undefined([a, b]).unwrap_or(Unsure(TOO_LARGE)),
    }
}

pub(crate) fn mul<E: Enclosure>(a: &AbstractValue<E>, b: &AbstractValue<E>) -> AbstractValue<E> {
    match (a, b) {
        (Real(x), Real(y)) => real(x.mul(y), TOO_LARGE),
        (Infinite { negative: x }, Infinite { negative: y }) => Infinite { negative: x != y },
        (Infinite { negative }, Real(x)) | (Real(x), Infinite { negative }) => match x.sign() {
            Some(Ordering::Equal) => Undefined(PRODUCT),
            Some(sign) => Infinite { negative: *negative != sign.is_lt() },
            None => Unsure(MAYBE_PRODUCT),
        },
        _ => propagate_undefined([a, b]).unwrap_or(Unsure(TOO_LARGE)),
    }
}

pub(crate) fn div<E: Enclosure>(a: &AbstractValue<E>, b: &AbstractValue<E>) -> AbstractValue<E> {
    match (a, b) {
        (Undefined(_), _) | (_, Undefined(_)) => {
            propagate_undefined([a, b]).unwrap_or(Undefined(DIVISION))
        }
        (_, Real(y)) if y.sign() == Some(Ordering::Equal) => Undefined(DIVISION),
        (Real(_) | Infinite { .. }, Real(y)) if !y.is_nonzero() => Unsure(MAYBE_DIVISION),
        (Real(x), Real(y)) => real(x.div(y), TOO_LARGE),
        (Real(_), Infinite { .. }) => number(0.0),
        (Infinite { negative }, Real(y)) => {
            Infinite { negative: *negative != (y.sign() == Some(Ordering::Less)) }
        }
        (Infinite { .. }, Infinite { .. }) => Undefined(PRODUCT),
        _ => propagate_undefined([a, b]).unwrap_or(Unsure(TOO_LARGE)),
    }
}

pub(crate) fn neg<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    match a {
        Real(x) => Real(x.neg()),
        Infinite { negative } => Infinite { negative: !negative },
        _ => propagate_undefined([a]).unwrap_or(Unsure(TOO_LARGE)),
    }
}

pub(crate) fn max<E: Enclosure>(a: &AbstractValue<E>, b: &AbstractValue<E>) -> AbstractValue<E> {
    match (a, b) {
        (Real(x), Real(y)) => Real(x.max(y)),
        (Infinite { negative: true }, other @ (Real(_) | Infinite { .. }))
        | (other @ Real(_), Infinite { negative: true }) => other.clone(),
        (Infinite { negative: false }, Real(_) | Infinite { .. })
        | (Real(_), Infinite { negative: false }) => Infinite { negative: false },
        _ => propagate_undefined([a, b]).unwrap_or(Unsure(TOO_LARGE)),
    }
}

pub(crate) fn min<E: Enclosure>(a: &AbstractValue<E>, b: &AbstractValue<E>) -> AbstractValue<E> {
    neg(&max(&neg(a), &neg(b)))
}

fn sqrt<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    match a {
        Real(x) if x.sign() == Some(Ordering::Less) => Undefined(ROOT),
        Real(x) => real(x.sqrt(), MAYBE_ROOT),
        Infinite { negative: true } => Undefined(ROOT),
        other => other.clone(),
    }
}

fn exp2<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    match a {
        Real(x) => real(x.exp2(), TOO_LARGE),
        Infinite { negative: true } => number(0.0),
        other => other.clone(),
    }
}

fn log2<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    match a {
        Real(x) if matches!(x.sign(), Some(Ordering::Less | Ordering::Equal)) => {
            Undefined(LOGARITHM)
        }
        Real(x) if x.sign().is_none() => Unsure(MAYBE_LOGARITHM),
        Real(x) => real(x.log2(), TOO_LARGE),
        Infinite { negative: true } => Undefined(LOGARITHM),
        other => other.clone(),
    }
}

pub(crate) fn unary<E: Enclosure>(op: Unary, a: &AbstractValue<E>) -> AbstractValue<E> {
    let on_real = |apply: fn(&E) -> Option<E>, at_infinity: fn(bool) -> AbstractValue<E>| match a {
        Real(x) => real(apply(x), TOO_LARGE),
        Infinite { negative } => at_infinity(*negative),
        other => other.clone(),
    };
    match op {
        Unary::Negate => neg(a),
        Unary::Abs => match a {
            Real(x) => Real(x.abs()),
            Infinite { .. } => Infinite { negative: false },
            other => other.clone(),
        },
        Unary::Sqrt => sqrt(a),
        Unary::Reciprocal => div(&number(1.0), a),
        Unary::ReciprocalSqrt => div(&number(1.0), &sqrt(a)),
        Unary::Exp2 => exp2(a),
        Unary::Log2 => log2(a),
        Unary::Sin => on_real(E::sin, |_| Undefined(ANGLE)),
        Unary::Cos => on_real(E::cos, |_| Undefined(ANGLE)),
        Unary::Tanh => on_real(E::tanh, |negative| number(if negative { -1.0 } else { 1.0 })),
        Unary::Round(rounding) => match a {
            Real(x) => real(x.round(rounding), TOO_LARGE),
            other => other.clone(),
        },
        Unary::Saturate => min(&max(a, &number(0.0)), &number(1.0)),
        Unary::Rectify => max(a, &number(0.0)),
        Unary::Finite(format) => functions::finite(a, format),
    }
}

fn binary<E: Enclosure>(
    op: Binary,
    a: &AbstractValue<E>,
    b: &AbstractValue<E>,
) -> AbstractValue<E> {
    match op {
        Binary::Add => add(a, b),
        Binary::Sub => add(a, &neg(b)),
        Binary::Mul => mul(a, b),
        Binary::Div => div(a, b),
        Binary::Min => min(a, b),
        Binary::Max => max(a, b),
        Binary::CopySign => functions::copy_sign(a, b),
    }
}

fn fma<E: Enclosure>([a, b, c]: [&AbstractValue<E>; 3], rounding: Rounding) -> AbstractValue<E> {
    match rounds_down([a, b, c], rounding) {
        true => add(&unary(Unary::Round(Rounding::Down), &mul(a, b)), c),
        false => add(&mul(a, b), c),
    }
}

/// Returns the value that encloses both.
fn hull<E: Enclosure>(a: &AbstractValue<E>, b: &AbstractValue<E>) -> AbstractValue<E> {
    match (a, b) {
        (Real(x), Real(y)) => Real(x.hull(y)),
        (Infinite { negative: x }, Infinite { negative: y }) if x == y => a.clone(),
        (Undefined(_), Undefined(_)) => a.clone(),
        _ => Unsure(CHOICE),
    }
}

impl<E: Enclosure> Domain for Intervals<E> {
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value> {
        let first = self.table.len() as u32;
        if let Some((low, high)) = self.given.between.get(&inputs.source).copied() {
            let bounded = low.is_finite() && high.is_finite() && inputs.count == 1;
            let interval = || Real(E::point(low).hull(&E::point(high)));
            return Some(self.push(if bounded { interval() } else { Unsure(UNGIVEN) }));
        }
        let count = usize::try_from(inputs.count).ok()?;
        if let Some(carried) = self.carried.remove(&inputs.source) {
            self.table
                .extend(carried.into_iter().chain(std::iter::repeat(Unsure(UNGIVEN))).take(count));
            assert!(self.table.len() < LIMIT as usize, "more values than handles");
            return Some(first);
        }
        let given = self.given.known.get(&inputs.source)?;
        let numbers =
            given.iter().map(|&value| number(value)).chain(std::iter::repeat(Unsure(UNGIVEN)));
        self.table.extend(numbers.take(count));
        assert!(self.table.len() < LIMIT as usize, "more values than handles");
        Some(first)
    }

    fn constant(&mut self, format: Format, bits: u64) -> Value {
        use exec::concrete::{Conversion, convert};
        use ir::Scalar::Float;
        let double = |bits: u64| {
            f64::from_bits(convert(Conversion::nearest(Float(format), Float(Format::F64)), bits))
        };
        if self.given.is_rounded(format, bits) {
            // The floats around it, in the order of their magnitude.
            let (one, other) = (double(bits - 1), double(bits + 1));
            return self.push(Real(E::point(one).hull(&E::point(other))));
        }
        self.push(number(double(bits)))
    }

    fn integer(&mut self, number: i128) -> Value {
        self.push(real(E::integer(number), TOO_LARGE))
    }

    fn field(&mut self, value: Value, width: Width, first: u32, bits: u32) -> Option<Value> {
        // Congruent integers have the same lowest bits.
        let number = match first + bits <= width.bits() {
            true => value,
            false => self.in_range(value, width, false)?,
        };
        let number = self.round(number, Rounding::NearestEven)?;
        let mask = 1i128.checked_shl(bits)? - 1;
        Some(self.integer(number.checked_shr(first)? & mask))
    }

    fn number_of_bits(&mut self, bits: &[Value]) -> Option<Value> {
        let mut bits = bits.iter().rev().map(|bit| self.round(*bit, Rounding::NearestEven));
        let number = bits.try_fold(0, |number, bit| Some(number << 1 | bit?))?;
        Some(self.integer(number))
    }

    fn in_range(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        let modulus = 1i128 << width.bits();
        let lowest = if signed { -modulus / 2 } else { 0 };
        let bounds = [lowest, lowest + modulus - 1].map(|bound| real(E::integer(bound), TOO_LARGE));
        // Most numbers are in range or just outside.
        [0, -modulus, modulus].into_iter().find_map(|shift| {
            let shifted = add(self.known(value), &real(E::integer(shift), TOO_LARGE));
            let above = compare(Relation::Ge, &shifted, &bounds[0]) == Ok(true);
            let inside = above && compare(Relation::Le, &shifted, &bounds[1]) == Ok(true);
            inside.then(|| if shift == 0 { value } else { self.push(shifted) })
        })
    }

    fn fma(&mut self, operands: [&Values; 3], rounding: Rounding, lanes: Mask, out: &mut Values) {
        self.map_lanes(operands, lanes, out, |operands| fma(operands, rounding));
    }

    fn fma_of_one(&mut self, operands: [Value; 3], rounding: Rounding) -> Value {
        let result = fma(operands.map(|operand| self.known(operand)), rounding);
        self.push(result)
    }

    /// The idiom of `expf`: the lowest bits of a sum that was rounded to an integer are an exponent.
    fn power_of_exponent(&mut self, value: Value) -> Option<Value> {
        let integer = match self.known(value) {
            Real(interval) => interval.to_integer()?,
            Undefined(why) => {
                let undefined = Undefined(why);
                return Some(self.push(undefined));
            }
            _ => return None,
        };
        let exponent = i32::try_from(integer - EXPONENT_ORIGIN).ok()?;
        let power = (-126..=127).contains(&exponent).then(|| 2_f64.powi(exponent))?;
        Some(self.push(Real(E::point(power))))
    }

    fn binary(&mut self, op: Binary, operands: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.map_lanes(operands, lanes, out, |[a, b]| binary(op, a, b));
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        self.map_lanes([a], lanes, out, |[a]| unary(op, a));
    }

    fn function(
        &mut self,
        function: (RealFunction, Option<ArgumentRange>),
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        self.map_lanes(operands, lanes, out, |[a, b]| functions::apply_in_range(function, a, b));
    }

    fn compare(&mut self, relation: Relation, [a, b]: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            match compare(relation, self.known(a[lane]), self.known(b[lane])) {
                Ok(truth) => out.decide(lane, truth),
                Err(why) => {
                    let operands = [a, b].map(|operand| self.known(operand[lane]));
                    let undefined = propagate_undefined(operands);
                    let value = self.push(undefined.unwrap_or(Undecided(why)));
                    out.defer(lane, value);
                }
            }
        }
    }

    fn connect(&mut self, _: Connective, [a, b]: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            // Defined only if both are.
            let is_defined = matches!(self.known(a[lane]), Undecided(_));
            out.defer(lane, if is_defined { b[lane] } else { a[lane] });
        }
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        lanes.iter().for_each(|lane| out[lane] = a[lane]);
    }

    fn select(&mut self, condition: &Values, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.map_lanes([condition, a, b], lanes, out, |[condition, a, b]| match condition {
            Undecided(_) => hull(a, b),
            // The choice is undefined where its condition is, even if the operands are equal.
            _ if matches!((a, b), (Undefined(_), Undefined(_))) => a.clone(),
            Undefined(why) | Unsure(why) => Unsure(why),
            Real(_) | Infinite { .. } => Unsure(CHOICE),
        });
    }

    /// Returns the hull of the values.
    fn any_of(&mut self, values: &[Value]) -> Option<Value> {
        let (&first, others) = values.split_first()?;
        Some(others.iter().fold(first, |all, &other| {
            if all == other {
                return all;
            }
            let either = hull(self.known(all), self.known(other));
            self.push(either)
        }))
    }

    fn round(&mut self, value: Value, rounding: Rounding) -> Option<i128> {
        match self.known(value) {
            Real(x) => x.round(rounding)?.to_integer(),
            Infinite { negative } => Some(if *negative { i128::MIN } else { i128::MAX }),
            _ => None,
        }
    }

    fn explain(&self, value: Value) -> String {
        match self.known(value) {
            Undefined(why) => format!("an undefined value: {why}"),
            Unsure(why) | Undecided(why) => (*why).to_owned(),
            Real(_) | Infinite { .. } => "a number".to_owned(),
        }
    }
}
