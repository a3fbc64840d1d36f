//! Enclosures with bounds of 256 bits: the intervals of the decision procedure ([`Interval`]).

use crate::Enclosure;
use decide::Interval;
use ir::Rounding;
use std::cmp::Ordering;

/// An interval whose bounds have 256 bits and any exponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precise(Interval);

impl Enclosure for Precise {
    fn point(value: f64) -> Self {
        Self(Interval::of_f64(value))
    }

    fn integer(value: i128) -> Option<Self> {
        Some(Self(Interval::of_integer(value)))
    }

    fn add(&self, other: &Self) -> Option<Self> {
        self.0.plus(&other.0).map(Self)
    }

    fn mul(&self, other: &Self) -> Option<Self> {
        Some(Self(self.0.times(&other.0)))
    }

    fn div(&self, other: &Self) -> Option<Self> {
        self.0.divided_by(&other.0).map(Self)
    }

    fn neg(&self) -> Self {
        Self(self.0.negated())
    }

    fn max(&self, other: &Self) -> Self {
        Self(self.0.maximum(&other.0))
    }

    fn hull(&self, other: &Self) -> Self {
        Self(self.0.hull(&other.0))
    }

    fn sqrt(&self) -> Option<Self> {
        self.0.square_root().map(Self)
    }

    fn exp2(&self) -> Option<Self> {
        self.0.exp2().map(Self)
    }

    fn log2(&self) -> Option<Self> {
        self.0.log2().map(Self)
    }

    fn exp(&self) -> Option<Self> {
        self.0.exp().map(Self)
    }

    fn log(&self) -> Option<Self> {
        self.0.log().map(Self)
    }

    fn erf(&self) -> Option<Self> {
        self.0.error_function().map(Self)
    }

    fn sin(&self) -> Option<Self> {
        self.0.sine().map(Self)
    }

    fn cos(&self) -> Option<Self> {
        self.0.cosine().map(Self)
    }

    fn atan(&self) -> Option<Self> {
        self.0.arctangent().map(Self)
    }

    fn tanh(&self) -> Option<Self> {
        self.0.hyperbolic_tangent().map(Self)
    }

    fn round(&self, rounding: Rounding) -> Option<Self> {
        let half = Interval::of_f64(0.5);
        let floor = |x: &Interval| x.floor().map(Self);
        let ceil = |x: &Interval| x.negated().floor().map(|floor| Self(floor.negated()));
        match rounding {
            Rounding::Down => floor(&self.0),
            Rounding::Up => ceil(&self.0),
            Rounding::Zero => match self.0.sign()? {
                -1 => ceil(&self.0),
                _ => floor(&self.0),
            },
            Rounding::NearestAway => match self.0.sign()? {
                -1 => ceil(&self.0.minus(&half)?),
                _ => floor(&self.0.plus(&half)?),
            },
            Rounding::NearestEven => {
                // ⌊x + ½⌋ and ⌈x − ½⌉ differ only at a tie; then the even one is right.
                let up = floor(&self.0.plus(&half)?)?;
                let down = ceil(&self.0.minus(&half)?)?;
                match (up.to_integer(), down.to_integer()) {
                    (Some(a), Some(b)) if a != b => Self::integer(if a % 2 == 0 { a } else { b }),
                    (Some(_), Some(_)) => Some(up),
                    _ => Some(up.hull(&down)),
                }
            }
        }
    }

    fn to_integer(&self) -> Option<i128> {
        self.0.to_integer()
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        self.0.order(&other.0)
    }

    fn at_most(&self, other: &Self) -> bool {
        self.0.at_most(&other.0)
    }

    fn bounds(&self) -> (f64, f64) {
        self.0.to_f64_bounds()
    }
}
