//! The search for a point where two terms differ.
//!
//! Points are pseudo-random but fixed, with small significands (three bits), so that every value
//! is exactly representable in every float format down to 8 bits; some have many ties and zeros,
//! where choices and maxima are decided. Fingerprints pick the promising points; only interval
//! evaluation of both terms at 256 bits, with the reference certainly defined, makes a difference.

use crate::evaluate::{Interval, Value, evaluate, evaluate_floats, fingerprints};
use term::{Input, Node, Number, Term, Terms, evaluation_order};

/// Values of the inputs that matter, all others being irrelevant.
pub type Point = Vec<(Input, Number)>;

/// What was found at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discrepancy {
    /// The values are in disjoint intervals: reference, optimised.
    Values(Interval, Interval),
    /// The reference is defined there, the optimised term is not.
    OnlyReferenceDefined(Interval),
}

/// A pair of terms to tell apart, and conditions on the points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'t> {
    pub(crate) reference: (&'t Terms, Term),
    pub(crate) optimised: (&'t Terms, Term),
    /// Conditions in the reference's store that a point must satisfy.
    pub(crate) assumptions: &'t [Term],
    /// How many bits a value's significand may have.
    pub(crate) significand_bits: u32,
}

/// What the points of a range of numbers showed.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The first point where both are defined and the values differ.
    pub(crate) values: Option<(Point, Discrepancy)>,
    /// The first point where only the reference is defined.
    pub(crate) undefined: Option<(Point, Discrepancy)>,
    /// Whether the reference was certainly defined at some point.
    pub(crate) reference_defined: bool,
}

impl Found {
    /// What two searches showed.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            values: self.values.or(other.values),
            undefined: self.undefined.or(other.undefined),
            reference_defined: self.reference_defined || other.reference_defined,
        }
    }
}

impl Search<'_> {
    /// Whether some point satisfies the assumptions and has the reference defined; stops there.
    pub(crate) fn reference_has_domain(&self, points: u64) -> bool {
        (0..points).any(|number| {
            let point = |input: Input| value(number, input, self.significand_bits);
            matches!(self.reference_at(&point), Value::Real(_) | Value::Any)
        })
    }

    /// Tries the points numbered `points`, until the values differ; intervals at each of the first
    /// `always`, and wherever fingerprints promise something.
    pub(crate) fn run(&self, points: std::ops::Range<u64>, always: u64) -> Found {
        let mut found = Found::default();
        for number in points {
            let point = |input: Input| value(number, input, self.significand_bits);
            if number >= always && !self.promising(&point) {
                continue;
            }
            let reference = self.reference_at(&point);
            found.reference_defined |= matches!(reference, Value::Real(_) | Value::Any);
            let Value::Real(reference) = reference else { continue };
            let (terms, root) = self.optimised;
            match evaluate(terms, &[root], &point).pop() {
                Some(Value::Real(optimised)) if optimised.is_disjoint(&reference) => {
                    let discrepancy = Discrepancy::Values(reference, optimised);
                    found.values = Some((self.point(number), discrepancy));
                    break;
                }
                Some(Value::Undefined) if found.undefined.is_none() => {
                    let discrepancy = Discrepancy::OnlyReferenceDefined(reference);
                    found.undefined = Some((self.point(number), discrepancy));
                }
                _ => {}
            }
        }
        found
    }

    /// The reference's value, where the assumptions hold.
    fn reference_at(&self, point: &dyn Fn(Input) -> Number) -> Value {
        let (terms, root) = self.reference;
        let mut roots = vec![root];
        roots.extend_from_slice(self.assumptions);
        let mut values = evaluate(terms, &roots, point).into_iter();
        let reference = values.next().unwrap_or(Value::Unsure);
        if values.all(|value| value == Value::Truth(true)) { reference } else { Value::Unsure }
    }

    /// Whether fingerprints say that the values differ, or floats where there are none.
    fn promising(&self, point: &dyn Fn(Input) -> Number) -> bool {
        let [a, b] = [self.reference, self.optimised]
            .map(|(terms, root)| fingerprints(terms, &[root], point).pop().flatten());
        if a.is_some() {
            return a != b;
        }
        let a = evaluate_floats(self.reference.0, &[self.reference.1], point);
        let b = evaluate_floats(self.optimised.0, &[self.optimised.1], point);
        match (a.first(), b.first()) {
            (Some(a), Some(b)) => {
                a.is_finite() && (b.is_nan() || (a - b).abs() > 1e-10 * (a.abs() + b.abs()))
            }
            _ => false,
        }
    }

    fn point(&self, number: u64) -> Point {
        let mut inputs = inputs_of(self.reference.0, self.reference.1);
        inputs.extend(inputs_of(self.optimised.0, self.optimised.1));
        for assumption in self.assumptions {
            inputs.extend(inputs_of(self.reference.0, *assumption));
        }
        inputs.sort_unstable();
        inputs.dedup();
        let at = |input| (input, value(number, input, self.significand_bits));
        inputs.into_iter().map(at).collect()
    }
}

/// The inputs below a term.
fn inputs_of(terms: &Terms, root: Term) -> Vec<Input> {
    let order = evaluation_order(terms, [root], |_| true);
    let inputs = order.nodes.iter().filter_map(|node| match terms.at(*node) {
        Node::Input(input) => Some(input),
        _ => None,
    });
    inputs.collect()
}

/// The value of an input at the point of this number.
pub(crate) fn value(number: u64, input: Input, significand_bits: u32) -> Number {
    let own = mix(number << 32 ^ input.position() as u64);
    let shared = mix(number);
    let bits = significand_bits.clamp(1, 24);
    let small = |random: u64| Number::from((random % 4) as i64 - 1);
    let ordinary = |random: u64, positive: bool| {
        let mantissa = (random % (1 << bits)) as i64;
        let sign = if !positive && random >> 40 & 1 == 1 { -1 } else { 1 };
        Number::dyadic(sign * mantissa, (random >> 50 & 3) as i32 - bits as i32)
    };
    match number % 8 {
        0 => ordinary(own, false),
        1 => ordinary(own | 1, true),
        2 => small(own),
        3 if !own.is_multiple_of(4) => Number::ZERO,
        3 => ordinary(own, false),
        4 => ordinary(shared, false),
        5 => -&ordinary(own | 1, true),
        6 => Number::from((own % 2) as i64 + (shared % 2) as i64),
        _ => &ordinary(own, false) * &Number::from(8),
    }
}

/// A fixed scramble of 64 bits.
pub(crate) fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
