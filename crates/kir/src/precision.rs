//! Limits of floating-point types. The IR has one type of floats, the real numbers; runs need to know how far a
//! machine's floats may be from them.

/// The limits of a floating-point type, or of the narrowest of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Bits of the significand, the leading one included.
    pub significand: u32,
    /// The least positive normal number.
    pub least: f64,
    /// The largest number.
    pub most: f64,
}

impl Precision {
    /// `double`.
    pub const DOUBLE: Self =
        Self { significand: f64::MANTISSA_DIGITS, least: f64::MIN_POSITIVE, most: f64::MAX };
    /// `float`.
    pub const FLOAT: Self = Self {
        significand: f32::MANTISSA_DIGITS,
        least: f32::MIN_POSITIVE as f64,
        most: f32::MAX as f64,
    };
    /// `__half`.
    pub const HALF: Self = Self { significand: 11, least: 1.0 / (1 << 14) as f64, most: 65504.0 };
    /// `__nv_bfloat16`.
    pub const BFLOAT16: Self = Self {
        significand: 8,
        least: f32::MIN_POSITIVE as f64,
        // 2^128 - 2^120.
        most: 255.0 * (1_u128 << 120) as f64,
    };

    /// The limits of numbers that both types have.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            significand: self.significand.min(other.significand),
            least: self.least.max(other.least),
            most: self.most.min(other.most),
        }
    }

    /// Returns `true` if the type has a number.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        let size = value.abs();
        value == 0.0
            || size.is_infinite()
            || (self.least..=self.most).contains(&size)
                && significant_bits(value) <= self.significand
    }

    /// Returns `true` if the type has a number, perhaps as a subnormal one. Arithmetic may flush those to zero; copies
    /// keep them.
    #[must_use]
    pub fn represents(self, value: f64) -> bool {
        let unit = self.least / (1_u64 << (self.significand - 1)) as f64;
        self.holds(value) || value.abs() < self.least && (value / unit).fract() == 0.0
    }
}

/// Significant bits of a number; 0 for zero.
#[must_use]
pub fn significant_bits(value: f64) -> u32 {
    let zeros = value.to_bits() & ((1 << 52) - 1);
    if value == 0.0 { 0 } else { 53 - zeros.trailing_zeros().min(52) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_types() {
        assert!(Precision::BFLOAT16.holds(f64::from(f32::from_bits(0x7f7f_0000))));
        assert!(
            !Precision::BFLOAT16.holds(f64::from(f32::MAX))
                && Precision::FLOAT.holds(f64::from(f32::MAX))
        );
        assert!(Precision::HALF.holds(-65504.0) && !Precision::HALF.holds(65536.0));
        assert!(Precision::HALF.holds(2047.0) && !Precision::HALF.holds(2049.0));
        let both = Precision::HALF.and(Precision::BFLOAT16);
        assert!(both.holds(255.0) && !both.holds(257.0) && !both.holds(1e-6));
        assert!(both.holds(0.0) && both.holds(f64::NEG_INFINITY) && !both.holds(f64::NAN));
        assert!(Precision::DOUBLE.holds(0.1));
        let smallest = f64::from(f32::from_bits(1));
        assert!(Precision::FLOAT.represents(3.0 * smallest) && !Precision::FLOAT.holds(smallest));
        assert!(!Precision::FLOAT.represents(smallest / 2.0));
        assert!(!Precision::HALF.represents(smallest) && !Precision::HALF.represents(1e6));
    }
}
