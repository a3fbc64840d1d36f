//! Arithmetic modulo a safe prime `p = 2q + 1`, for fingerprints.
//!
//! Values live modulo p. The non-zero squares form a group of prime order q, so a power of its
//! generator has an exponent modulo q: `e^a · e^b = e^(a+b)` holds for residues as it does for
//! reals, if exponents are computed modulo q. Both primes are `2^k − c` with a small `c`, so that
//! reducing is a multiplication and an addition. A Mersenne prime would not do: for 2^61 − 1 the
//! group order has small factors, and exponents would be told apart only modulo those.

use dashu_base::{Sign, UnsignedAbs};
use dashu_int::UBig;
use std::sync::LazyLock;
use term::Number;

/// Modulo `2^K − C`, a prime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modulus<const K: u32, const C: u64>;

/// The modulus of values, `p = 2^61 − 3153 ≡ 7 (mod 8)`, so that 2 is a square.
pub(super) type Values = Modulus<61, 3153>;
/// The modulus of exponents, `q = (p − 1) / 2`.
pub(super) type Exponents = Modulus<60, 1577>;

impl<const K: u32, const C: u64> Modulus<K, C> {
    pub(super) const PRIME: u64 = (1 << K) - C;

    /// Reduces a number of up to 126 bits.
    pub(super) fn reduce(value: u128) -> u64 {
        const fn low(value: u128, bits: u32) -> u128 {
            value & ((1 << bits) - 1)
        }
        // 2^K ≡ C: twice brings 126 bits below 2^(K+1), or nearly.
        let once = low(value, K) + (value >> K) * u128::from(C);
        let twice = low(once, K) + (once >> K) * u128::from(C);
        let mut result = twice as u64;
        while result >= Self::PRIME {
            result -= Self::PRIME;
        }
        result
    }

    pub(super) fn add(a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= Self::PRIME { sum - Self::PRIME } else { sum }
    }

    pub(super) fn negate(a: u64) -> u64 {
        if a == 0 { 0 } else { Self::PRIME - a }
    }

    pub(super) fn multiply(a: u64, b: u64) -> u64 {
        Self::reduce(u128::from(a) * u128::from(b))
    }

    pub(super) fn power(base: u64, exponent: u64) -> u64 {
        let (mut result, mut square, mut left) = (1, base, exponent);
        while left > 0 {
            if left & 1 == 1 {
                result = Self::multiply(result, square);
            }
            square = Self::multiply(square, square);
            left >>= 1;
        }
        result
    }

    /// `1 / a`; `None` for 0.
    pub(super) fn inverse(a: u64) -> Option<u64> {
        // Fermat: a^(p−1) = 1.
        (a != 0).then(|| Self::power(a, Self::PRIME - 2))
    }

    /// Returns the residue of a rational; `None` if the prime divides its denominator.
    pub(super) fn of_number(number: &Number) -> Option<u64> {
        if let Some((numerator, denominator)) = number.to_small_ratio() {
            let magnitude = Self::reduce(numerator.unsigned_abs().into());
            let numerator = if numerator < 0 { Self::negate(magnitude) } else { magnitude };
            let denominator = Self::reduce(denominator.unsigned_abs().into());
            return Some(match denominator {
                1 => numerator,
                // Nearly all values at points are dyadic: halve a few times.
                power if power.is_power_of_two() => {
                    let half = Self::PRIME.div_ceil(2);
                    Self::multiply(numerator, Self::power(half, power.trailing_zeros().into()))
                }
                other => Self::multiply(numerator, Self::inverse(other)?),
            });
        }
        let big = number.to_big();
        let rest = |value: UBig| u64::try_from(value % UBig::from(Self::PRIME)).ok();
        let numerator = rest(big.numerator().unsigned_abs())?;
        let numerator =
            if big.sign() == Sign::Negative { Self::negate(numerator) } else { numerator };
        Some(Self::multiply(numerator, Self::inverse(rest(big.denominator().clone())?)?))
    }
}

/// Stands for `ln 2` among exponents: any residue but 0 will do.
pub(super) const LN_2: u64 = 0x0B5A_1E3D_4C2F_6071;

/// Returns the residue for e, chosen such that `e^(ln 2) = 2`.
pub(super) fn e() -> u64 {
    // `LN_2` is not 0, and q is a prime. Kept, because two powers for each of thousands of queries are too slow.
    static E: LazyLock<u64> =
        LazyLock::new(|| Values::power(2, Exponents::inverse(LN_2).unwrap_or(1)));
    *E
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primes_are_safe() {
        assert_eq!(Values::PRIME, 2 * Exponents::PRIME + 1);
        for base in [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37] {
            assert_eq!(Values::power(base, Values::PRIME - 1), 1);
            assert_eq!(Exponents::power(base, Exponents::PRIME - 1), 1);
        }
        // 2 generates the squares, and e does with it.
        assert_eq!(Values::power(2, Exponents::PRIME), 1);
        assert_eq!(Values::power(e(), LN_2), 2);
    }

    #[test]
    fn residues_are_a_ring() {
        let third = Number::ratio(-1, 3).unwrap();
        let residue = Values::of_number(&third).unwrap();
        assert_eq!(Values::multiply(residue, 3), Values::PRIME - 1);
        let big = &Number::dyadic(1, 200) + &third;
        let sum = Values::add(Values::power(2, 200), residue);
        assert_eq!(Values::of_number(&big), Some(sum));
        assert_eq!(
            Values::reduce((1 << 126) - 1),
            ((1_u128 << 126) - 1).rem_euclid(u128::from(Values::PRIME)) as u64
        );
    }
}
