//! The numbers of a float format, and the neighbours of a real number among them.

use crate::Number;
use dashu_ratio::RBig;

/// The finite numbers of a binary float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatNumbers {
    /// Bits of a significand, the leading one included.
    pub digits: i32,
    /// Exponent of the smallest positive number, which is the step between subnormal ones.
    pub lowest: i32,
    /// The largest number, as a significand and an exponent.
    pub largest: (i64, i32),
}

impl FloatNumbers {
    /// Returns the numbers that both formats have, or at least some of them.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        let smaller = if self.most() <= other.most() { self } else { other };
        Self {
            digits: self.digits.min(other.digits),
            lowest: self.lowest.max(other.lowest),
            largest: smaller.largest,
        }
    }

    /// Returns the largest finite number of the format.
    #[must_use]
    pub fn most(self) -> Number {
        Number::dyadic(self.largest.0, self.largest.1)
    }

    /// Returns `true` if a number is one of the format.
    #[must_use]
    pub fn has(self, number: &Number) -> bool {
        self.at_most(number).as_ref() == Some(number)
    }

    /// Returns the largest number of the format that is not above another; `None` if all are.
    #[must_use]
    pub fn at_most(self, number: &Number) -> Option<Number> {
        if self.has_at_once(number) {
            return Some(number.clone());
        }
        self.find_at_most(number)
    }

    fn find_at_most(self, number: &Number) -> Option<Number> {
        if !number.is_negative() {
            return Some(self.towards_zero(number));
        }
        let magnitude = number.abs();
        if magnitude > self.most() {
            return None;
        }
        let inside = self.towards_zero(&magnitude);
        let rounded_away = if inside == magnitude { inside } else { self.above(&inside) };
        (rounded_away <= self.most()).then(|| -&rounded_away)
    }

    /// Returns `true` if a number is a normal number of the format, without a search for its neighbours. May return
    /// `false` for one that is.
    fn has_at_once(self, number: &Number) -> bool {
        const STORED_BITS: i32 = 52;
        let double = number.to_f64_lossy();
        let bits = double.to_bits();
        let unused = (STORED_BITS + 1 - self.digits).clamp(0, STORED_BITS) as u32;
        let fits = bits & ((1 << unused) - 1) == 0 && self.digits > 0;
        let exponent = (bits >> STORED_BITS & 0x7ff) as i32 - 1023;
        let largest = self.largest.0 as f64 * 2_f64.powi(self.largest.1);
        double.is_normal()
            && fits
            && exponent > self.lowest + self.digits - 2
            && double.abs() <= largest
            && Number::from_f64(double).as_ref() == Some(number)
    }

    /// Returns the smallest number of the format that is not below another; `None` if all are.
    #[must_use]
    pub fn at_least(self, number: &Number) -> Option<Number> {
        self.at_most(&-number).map(|opposite| -&opposite)
    }

    /// Returns the largest number of the format below one of its numbers.
    #[must_use]
    pub fn before(self, number: &Number) -> Option<Number> {
        // No two numbers are closer to each other than twice this.
        self.at_most(&(number - &Number::dyadic(1, self.lowest - 1)))
    }

    /// Returns the smallest number of the format above one of its numbers.
    #[must_use]
    pub fn after(self, number: &Number) -> Option<Number> {
        self.at_least(&(number + &Number::dyadic(1, self.lowest - 1)))
    }

    /// Returns the largest number of the format that is not above a number that is not negative.
    fn towards_zero(self, number: &Number) -> Number {
        let most = self.most();
        if *number >= most {
            return most;
        }
        let step = self.step(number);
        let steps = RBig::from((number * &Number::dyadic(1, -step)).to_big().floor());
        &Number::from_big(steps) * &Number::dyadic(1, step)
    }

    /// Returns the number after a non-negative one of the format, ignoring the largest.
    fn above(self, number: &Number) -> Number {
        number + &Number::dyadic(1, self.step(number))
    }

    /// Returns the exponent of the distance between numbers of the format at a number that is not negative.
    fn step(self, number: &Number) -> i32 {
        let mut exponent = match number.to_f64_lossy() {
            double if double > 0.0 => double.log2().floor() as i32,
            _ => return self.lowest,
        };
        // The logarithm may be off by one.
        while Number::dyadic(1, exponent) > *number {
            exponent -= 1;
        }
        while Number::dyadic(1, exponent + 1) <= *number {
            exponent += 1;
        }
        (exponent - self.digits + 1).max(self.lowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINGLE: FloatNumbers =
        FloatNumbers { digits: 24, lowest: -149, largest: ((1 << 24) - 1, 104) };
    const E4M3: FloatNumbers = FloatNumbers { digits: 4, lowest: -9, largest: (7, 6) };

    fn number(value: f64) -> Number {
        Number::from_f64(value).unwrap()
    }

    #[test]
    fn neighbours_of_singles_are_those_of_the_machine() {
        let values =
            [0.0, 1.0, -1.0, 0.1, -0.1, 1e-45, 1e-40, 3.4e38, -3.4e38, 1e-50, 16_777_217.0];
        for value in values {
            let nearest = value as f32;
            let (below, above) = match f64::from(nearest).total_cmp(&value) {
                std::cmp::Ordering::Less => (nearest, nearest.next_up()),
                std::cmp::Ordering::Greater => (nearest.next_down(), nearest),
                std::cmp::Ordering::Equal => (nearest, nearest),
            };
            let exact = number(value);
            assert_eq!(SINGLE.at_most(&exact), Some(number(below.into())), "{value}");
            assert_eq!(SINGLE.at_least(&exact), Some(number(above.into())), "{value}");
            assert_eq!(SINGLE.has(&exact), below == above, "{value}");
            let nearest_number = number(nearest.into());
            assert_eq!(
                SINGLE.after(&nearest_number),
                Some(number(nearest.next_up().into())),
                "{value}"
            );
            assert_eq!(
                SINGLE.before(&nearest_number),
                Some(number(nearest.next_down().into())),
                "{value}"
            );
        }
    }

    /// Numbers that are recognised at once are those that the search finds.
    #[test]
    fn normal_numbers_are_their_own_neighbours() {
        const HALF: FloatNumbers = FloatNumbers { digits: 11, lowest: -24, largest: (2047, 5) };
        const DOUBLE: FloatNumbers =
            FloatNumbers { digits: 53, lowest: -1074, largest: ((1 << 53) - 1, 971) };
        let mut random = testing::Random::new(11);
        let mut known = 0;
        for round in 0..40_000 {
            let floats = [E4M3, HALF, SINGLE, DOUBLE][round % 4];
            let digits = [1, 3, 4, 5, 8, 11, 12, 24, 25, 53][round % 10];
            let mantissa = random.below(1_u64 << digits) as i64;
            let sign = if random.once_in(2) { -1.0 } else { 1.0 };
            let range = if floats == DOUBLE { 1100 } else { 160 };
            let exponent = random.below(range) - range / 2 - digits;
            let value = number(sign * mantissa as f64 * 2_f64.powi(exponent));
            if floats.has_at_once(&value) {
                assert_eq!(floats.find_at_most(&value).as_ref(), Some(&value), "{floats:?}");
                known += 1;
            }
        }
        assert!(known > 4_000, "{known}");
        for floats in [E4M3, HALF, SINGLE, DOUBLE] {
            let most = floats.most();
            assert!(floats.has_at_once(&most));
            assert!(!floats.has_at_once(&(&most + &most)));
            let least = Number::dyadic(1, floats.lowest + floats.digits - 1);
            assert!(floats.has_at_once(&least));
            assert!(!floats.has_at_once(&(&least * &Number::dyadic(1, -1))));
        }
    }

    #[test]
    fn formats_end() {
        assert_eq!(E4M3.at_most(&number(1e9)), Some(number(448.0)));
        assert_eq!(E4M3.at_least(&number(449.0)), None);
        assert_eq!(E4M3.at_most(&number(-449.0)), None);
        assert_eq!(E4M3.after(&number(448.0)), None);
        assert_eq!(E4M3.at_least(&number(17.0)), Some(number(18.0)));
        assert_eq!(E4M3.at_least(&number(-17.0)), Some(number(-16.0)));
        assert_eq!(E4M3.common(SINGLE), E4M3);
    }
}
