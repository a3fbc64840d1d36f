//! Enclosures of legal results, and operations on them.
//!
//! If every operand is one number and the manual fixes the operation, so is the result, bit for bit
//! ([`crate::concrete`]). Otherwise the operation is computed on intervals of reals and rounded to the
//! format; rounding is monotone, so the ends stay ends. Every number in between counts as legal, though
//! hardware may produce only some of them.

use super::approximate;
use super::interval::{hull, product, quotient, square_root, sum};
use super::sum::Sum;
use super::{Unfixed, fixes_unary};
use crate::concrete::{self, Conversion};
use ir::{Accuracy, FloatBinary, FloatMode, FloatProperty, FloatUnary, Format, Relation, Scalar};

/// All numbers from `low` to `high`; none is a NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Enclosure {
    /// The least; −0 below +0.
    pub(crate) low: f64,
    /// The greatest.
    pub(crate) high: f64,
    /// The product before rounding, which a sum may use instead.
    unrounded: Option<[f64; 2]>,
    /// The summands of a sum of atomic additions.
    sum: Option<Sum>,
    /// The reason why it may be more than one number.
    pub(crate) cause: Option<Unfixed>,
}

impl Enclosure {
    /// Encloses the number with these bits; `None` for a NaN.
    pub(crate) fn of_bits(format: Format, bits: u64) -> Option<Self> {
        let number = concrete::to_double(format, bits);
        let point = Self { low: number, high: number, unrounded: None, sum: None, cause: None };
        (!number.is_nan()).then_some(point)
    }

    /// Encloses all numbers between two; zeros may have either sign.
    pub(super) fn between([low, high]: [f64; 2], cause: Option<Unfixed>) -> Self {
        let low = if low == 0.0 { -0.0 } else { low };
        let high = if high == 0.0 { 0.0 } else { high };
        Self { low, high, unrounded: None, sum: None, cause }
    }

    /// Attaches the summands of a sum of atomic additions.
    pub(super) fn with_sum(self, sum: Sum) -> Self {
        Self { sum: Some(sum), ..self }
    }

    /// Returns the bits, if there is one number and no further information.
    pub(crate) fn fixed(&self, format: Format) -> Option<u64> {
        self.point(format).filter(|_| self.unrounded.is_none() && self.sum.is_none())
    }

    /// The bits, if there is one number.
    fn point(&self, format: Format) -> Option<u64> {
        (self.low.to_bits() == self.high.to_bits()).then(|| encode(format, self.low))
    }

    /// Returns `true` if 1 or −1 is among the numbers.
    fn may_be_one(&self) -> bool {
        self.low <= 1.0 && self.high >= 1.0 || self.low <= -1.0 && self.high >= -1.0
    }

    fn may_be_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// A table key that distinguishes most enclosures.
    pub(super) fn key(&self) -> [u64; 2] {
        [self.low.to_bits(), self.high.to_bits()]
    }

    /// Treats subnormal numbers as zero.
    fn flushed(self, format: Format, flush: bool) -> Self {
        let normal = match format {
            Format::F16 => 2f64.powi(-14),
            _ => 2f64.powi(-126),
        };
        if !flush || format == Format::F64 {
            return self;
        }
        let subnormal = |number: f64| number != 0.0 && number.abs() < normal;
        match (subnormal(self.low), subnormal(self.high)) {
            (false, false) => self,
            (low, high) => {
                let low = if low && self.low > 0.0 { 0.0 } else { self.low };
                let high = if high && self.high < 0.0 { 0.0 } else { self.high };
                // Hardware keeps the sign of a flushed number. The enclosure gets both zeros.
                Self::between([low.min(0.0), high.max(0.0)], self.cause)
            }
        }
    }

    /// The operand of a sum: the product before rounding, or after.
    fn contracted(self, contract: bool) -> Self {
        match self.unrounded {
            Some([low, high]) if contract => {
                Self::between([self.low.min(low), self.high.max(high)], self.cause)
            }
            _ => self,
        }
    }

    /// Rounds an exact result to the format, with the modifiers of an operation.
    fn rounded(
        ends: [f64; 2],
        format: Format,
        mode: FloatMode,
        cause: Option<Unfixed>,
    ) -> Option<Self> {
        let to = |number: f64| {
            let conversion = Conversion {
                rounding: mode.rounding,
                ..Conversion::nearest(Scalar::Float(Format::F64), Scalar::Float(format))
            };
            concrete::to_double(format, concrete::convert(conversion, number.to_bits()))
        };
        let mut ends = match format {
            Format::F64 => ends,
            _ => ends.map(to),
        };
        if mode.saturate {
            ends = ends.map(|end| end.clamp(0.0, 1.0));
        }
        if mode.relu {
            ends = ends.map(|end| end.max(0.0));
        }
        let ends = hull(&ends)?;
        Some(Self::between(ends, cause).flushed(format, mode.flush))
    }
}

/// Encodes a number of the format.
fn encode(format: Format, number: f64) -> u64 {
    let to = Conversion::nearest(Scalar::Float(Format::F64), Scalar::Float(format));
    concrete::convert(to, number.to_bits())
}

/// Encloses an operation with one operand.
pub(crate) fn unary(
    op: FloatUnary,
    format: Format,
    mode: FloatMode,
    a: &Enclosure,
) -> Option<Enclosure> {
    let fixed = fixes_unary(op, mode);
    match a.point(format) {
        Some(bits) if fixed && a.unrounded.is_none() => {
            return Enclosure::of_bits(format, concrete::float_unary(op, format, mode, bits));
        }
        _ => {}
    }
    let a = Enclosure { sum: None, ..*a }.flushed(format, mode.flush);
    let [low, high] = a.ends();
    let exact = match op {
        FloatUnary::Negate => {
            let unrounded = a.unrounded.map(|[low, high]| [-high, -low]);
            return Some(Enclosure { unrounded, ..Enclosure::between([-high, -low], a.cause) });
        }
        FloatUnary::Abs => return Some(magnitude(&a)),
        FloatUnary::RoundToIntegral => {
            let bits_of = |end: f64| encode(format, end);
            let round = |end: f64| concrete::float_unary(op, format, mode, bits_of(end));
            let ends = [low, high].map(|end| concrete::to_double(format, round(end)));
            return Some(Enclosure::between(hull(&ends)?, a.cause));
        }
        FloatUnary::Sqrt if fixed => {
            if low < 0.0 {
                return None;
            }
            [square_root(low, false), square_root(high, true)]
        }
        FloatUnary::Reciprocal if fixed => reciprocal([low, high])?,
        _ => {
            let ends = approximate::unary(op, format, [low, high])?;
            return Enclosure::rounded(ends, format, mode, Some(Unfixed::Approximation));
        }
    };
    Enclosure::rounded(exact, format, mode, a.cause)
}

fn magnitude(a: &Enclosure) -> Enclosure {
    let magnitude_of = |[low, high]: [f64; 2]| match () {
        () if low >= 0.0 => [low, high],
        () if high <= 0.0 => [-high, -low],
        () => [0.0, high.max(-low)],
    };
    Enclosure {
        unrounded: a.unrounded.map(magnitude_of),
        ..Enclosure::between(magnitude_of(a.ends()), a.cause)
    }
}

/// Computes `1/x` of an interval without zero.
fn reciprocal([low, high]: [f64; 2]) -> Option<[f64; 2]> {
    let zero = low <= 0.0 && high >= 0.0;
    (!zero).then(|| [quotient(1.0, high, false), quotient(1.0, low, true)])
}

/// Encloses an operation with two operands.
pub(crate) fn binary(
    op: FloatBinary,
    format: Format,
    mode: FloatMode,
    [a, b]: [&Enclosure; 2],
) -> Option<Enclosure> {
    let sums = matches!(op, FloatBinary::Add | FloatBinary::Sub);
    let passed = passed_through(op, [a, b]);
    let [a, b] = [a, b].map(|side| side.contracted(sums && mode.contract));
    let exact = mode.accuracy == Accuracy::Exact;
    let cause = a.cause.or(b.cause);
    if let (Some(x), Some(y), true) = (a.point(format), b.point(format), exact) {
        let bits = concrete::float_binary(op, format, mode, x, y);
        let point = Enclosure::of_bits(format, bits)?;
        let product = (op == FloatBinary::Mul && mode.contract && !mode.saturate && !mode.relu)
            .then(|| exact_product(&a, &b));
        let unrounded =
            either(product, passed).filter(|[low, high]| (*low, *high) != (point.low, point.low));
        let cause = if unrounded.is_some() { Some(Unfixed::Contraction) } else { cause };
        return Some(Enclosure { unrounded, cause, ..point });
    }
    let result = on_intervals(op, format, mode, [a, b], exact)?;
    Some(Enclosure { unrounded: either(result.unrounded, passed), ..result })
}

/// Like [`binary`], if an operand is more than one number.
fn on_intervals(
    op: FloatBinary,
    format: Format,
    mode: FloatMode,
    [a, b]: [Enclosure; 2],
    exact: bool,
) -> Option<Enclosure> {
    let cause = a.cause.or(b.cause);
    let [a, b] = [a, b].map(|side| side.flushed(format, mode.flush));
    let ends = match op {
        FloatBinary::Add => [sum(a.low, b.low, false), sum(a.high, b.high, true)],
        FloatBinary::Sub => [sum(a.low, -b.high, false), sum(a.high, -b.low, true)],
        FloatBinary::Mul => {
            let ends = exact_product(&a, &b);
            let ends = hull(&ends)?;
            let result = Enclosure::rounded(ends, format, mode, cause)?;
            let unrounded = mode.contract.then_some(ends);
            return Some(Enclosure { unrounded, ..result });
        }
        FloatBinary::Div if exact => ratio(&a, &b)?,
        FloatBinary::Div => {
            let ends = approximate::divide(format, mode.accuracy, ratio(&a, &b)?, b.ends())?;
            return Enclosure::rounded(ends, format, mode, Some(Unfixed::Approximation));
        }
        FloatBinary::Min { xor_sign_abs: false, .. } => [a.low.min(b.low), a.high.min(b.high)],
        FloatBinary::Max { xor_sign_abs: false, .. } => [a.low.max(b.low), a.high.max(b.high)],
        FloatBinary::CopySign => {
            let [_, most] = magnitude(&b).ends();
            let least = magnitude(&b).low.max(0.0);
            match () {
                () if a.low > 0.0 => [least, most],
                () if a.high < 0.0 => [-most, -least],
                () => [-most, most],
            }
        }
        FloatBinary::Min { .. } | FloatBinary::Max { .. } => return None,
    };
    Enclosure::rounded(hull(&ends)?, format, mode, cause)
}

/// The union of two intervals.
fn either(one: Option<[f64; 2]>, other: Option<[f64; 2]>) -> Option<[f64; 2]> {
    match (one, other) {
        (Some([a, b]), Some([c, d])) => Some([a.min(c), b.max(d)]),
        (one, other) => one.or(other),
    }
}

/// Returns a product, before rounding, that an operation may leave unchanged. The assembler drops such an
/// operation (times one, plus zero, the minimum of a number and itself) and may then fuse the product with
/// the next sum.
fn passed_through(op: FloatBinary, [a, b]: [&Enclosure; 2]) -> Option<[f64; 2]> {
    if a.unrounded.is_none() && b.unrounded.is_none() {
        return None;
    }
    let wide = |side: &Enclosure| side.contracted(true).ends();
    let either_sign = |[low, high]: [f64; 2]| [low.min(-high), high.max(-low)];
    let of = |side: &Enclosure, passes: bool| {
        (passes && side.unrounded.is_some()).then(|| either_sign(wide(side)))
    };
    match op {
        FloatBinary::Mul => either(of(a, b.may_be_one()), of(b, a.may_be_one())),
        FloatBinary::Div => of(a, b.may_be_one()),
        FloatBinary::Add | FloatBinary::Sub => {
            either(of(a, b.may_be_zero()), of(b, a.may_be_zero()))
        }
        FloatBinary::CopySign => of(b, true),
        FloatBinary::Min { .. } | FloatBinary::Max { .. } => either(of(a, true), of(b, true)),
    }
}

/// The exact product.
fn exact_product(a: &Enclosure, b: &Enclosure) -> [f64; 2] {
    let corners = |up: bool| {
        let pairs = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
        pairs.map(|(x, y)| product(x, y, up))
    };
    match (hull(&corners(false)), hull(&corners(true))) {
        (Some([low, _]), Some([_, high])) => [low, high],
        _ => [f64::NAN; 2],
    }
}

/// Computes the exact quotient, for a divisor that cannot be zero.
fn ratio(a: &Enclosure, b: &Enclosure) -> Option<[f64; 2]> {
    if b.low <= 0.0 && b.high >= 0.0 {
        return None;
    }
    let corners = |up: bool| {
        let pairs = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
        hull(&pairs.map(|(x, y)| quotient(x, y, up)))
    };
    Some([corners(false)?[0], corners(true)?[1]])
}

/// Encloses a product and a sum, rounded once.
pub(crate) fn fma(
    format: Format,
    mode: FloatMode,
    [a, b, c]: [&Enclosure; 3],
) -> Option<Enclosure> {
    let factors = passed_through(FloatBinary::Mul, [a, b]).filter(|_| c.may_be_zero());
    let wide = c.contracted(true).ends();
    let summand = c.unrounded.filter(|_| a.may_be_zero() || b.may_be_zero()).map(|_| wide);
    let unrounded = either(factors, summand);
    if let (Some(x), Some(y), Some(z)) = (a.point(format), b.point(format), c.point(format)) {
        let point = Enclosure::of_bits(format, concrete::fma(format, mode, x, y, z))?;
        let cause = unrounded.and(Some(Unfixed::Contraction));
        return Some(Enclosure { unrounded, cause, ..point });
    }
    let cause = a.cause.or(b.cause).or(c.cause);
    let [a, b, c] = [a, b, c].map(|side| side.flushed(format, mode.flush));
    let [low, high] = hull(&exact_product(&a, &b))?;
    let ends = [sum(low, c.low, false), sum(high, c.high, true)];
    let result = Enclosure::rounded(hull(&ends)?, format, mode, cause)?;
    Some(Enclosure { unrounded, ..result })
}

/// Converts to another format.
pub(crate) fn convert(conversion: Conversion, a: &Enclosure) -> Option<Enclosure> {
    let (Scalar::Float(from), Scalar::Float(to)) = (conversion.from, conversion.to) else {
        return None;
    };
    let convert_end =
        |end: f64| Enclosure::of_bits(to, concrete::convert(conversion, encode(from, end)));
    let (low, high) = (convert_end(a.low)?, convert_end(a.high)?);
    // A conversion to the same format may change nothing, and be dropped.
    let unrounded = a.unrounded.filter(|_| from == to).map(|_| a.contracted(true).ends());
    if a.point(from).is_some() {
        return Some(Enclosure { cause: a.cause, unrounded, ..low });
    }
    let ends = Enclosure::between(hull(&[low.low, high.high])?, a.cause);
    let flush = conversion.flush;
    Some(Enclosure { unrounded, ..ends.flushed(to, flush) })
}

/// Converts to an integer, if all numbers give the same one.
pub(crate) fn to_integer(conversion: Conversion, a: &Enclosure) -> Option<u64> {
    let Scalar::Float(from) = conversion.from else { return None };
    let [low, high] = a.ends().map(|end| concrete::convert(conversion, encode(from, end)));
    (low == high).then_some(low)
}

/// Compares all numbers of one with all of the other; `None` if the relation holds for some only.
pub(crate) fn compare(
    relation: Relation,
    (format, flush): (Format, bool),
    [a, b]: [&Enclosure; 2],
) -> Option<bool> {
    let [a, b] = [a, b].map(|side| side.flushed(format, flush));
    let (below, above) = (a.high < b.low, a.low > b.high);
    let (at_most, at_least) = (a.high <= b.low, a.low >= b.high);
    let settled = |holds: bool, fails: bool| match (holds, fails) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    match relation {
        Relation::Lt => settled(below, at_least),
        Relation::Le => settled(at_most, above),
        Relation::Gt => settled(above, at_most),
        Relation::Ge => settled(at_least, below),
        Relation::Eq => settled(at_most && at_least, below || above),
        Relation::Ne => settled(below || above, at_most && at_least),
    }
}

/// Tests a property; `None` if only some numbers have it.
pub(crate) fn test(property: FloatProperty, format: Format, a: &Enclosure) -> Option<bool> {
    let holds_at = |end: f64| concrete::float_test(property, format, encode(format, end));
    match property {
        FloatProperty::Number => Some(true),
        FloatProperty::NotANumber => Some(false),
        // Numbers between finite numbers are finite.
        FloatProperty::Finite if holds_at(a.low) && holds_at(a.high) => Some(true),
        FloatProperty::Infinite if !holds_at(a.low) && !holds_at(a.high) => Some(false),
        _ if a.point(format).is_some() => Some(holds_at(a.low)),
        _ => None,
    }
}

/// Adds the summand of one more atomic addition to a sum.
pub(crate) fn atomic_add(format: Format, old: &Enclosure, a: &Enclosure) -> Option<Enclosure> {
    let before = old.sum.unwrap_or_else(|| Sum::start(old.ends()));
    before.add(a.ends()).enclosure(format)
}
