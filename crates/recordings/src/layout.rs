//! Binary floating-point formats, as far as they are needed to draw edge values and to convert numbers.

/// A format with a sign, `exponent` bits and `fraction` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the fraction.
    pub fraction: u32,
}

impl Layout {
    /// `.e4m3`.
    pub const E4M3: Self = Self { exponent: 4, fraction: 3 };
    /// `.e5m2`.
    pub const E5M2: Self = Self { exponent: 5, fraction: 2 };
    /// `.f16`.
    pub const F16: Self = Self { exponent: 5, fraction: 10 };
    /// `.bf16`.
    pub const BF16: Self = Self { exponent: 8, fraction: 7 };
    /// `.f32`.
    pub const F32: Self = Self { exponent: 8, fraction: 23 };
    /// `.f64`.
    pub const F64: Self = Self { exponent: 11, fraction: 52 };

    /// The number of bits of a number.
    #[must_use]
    pub fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// The largest exponent field: that of infinities and NaNs (in `.e4m3`, also of the largest numbers).
    pub(crate) fn top(self) -> u64 {
        (1 << self.exponent) - 1
    }

    /// The exponent field of 1.
    pub(crate) fn bias(self) -> u64 {
        self.top() >> 1
    }

    pub(crate) fn fraction_mask(self) -> u64 {
        (1 << self.fraction) - 1
    }

    pub(crate) fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    pub(crate) fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Composes a number of its fields; excess bits are cut off.
    pub(crate) fn compose(self, negative: bool, exponent: u64, fraction: u64) -> u64 {
        let sign = if negative { self.sign() } else { 0 };
        sign | ((exponent & self.top()) << self.fraction) | (fraction & self.fraction_mask())
    }

    /// Converts to an `f64`, exactly. Except in `.f64`, everything with the top exponent becomes infinite: NaN, and the
    /// numbers of `.e4m3` from 256 on.
    pub(crate) fn decode(self, bits: u64) -> f64 {
        if self == Self::F64 {
            return f64::from_bits(bits);
        }
        let exponent = (bits >> self.fraction) & self.top();
        let fraction = (bits & self.fraction_mask()) as f64;
        let unit = power_of_two(1 - self.bias() as i64 - i64::from(self.fraction));
        let magnitude = match exponent {
            0 => fraction * unit,
            _ if exponent == self.top() => f64::INFINITY,
            _ => {
                (fraction + power_of_two(self.fraction.into()))
                    * unit
                    * power_of_two(exponent as i64 - 1)
            }
        };
        if bits & self.sign() == 0 { magnitude } else { -magnitude }
    }

    /// Converts to a number of the format near `value`: truncated, not rounded; too large becomes infinite.
    pub(crate) fn encode(self, value: f64) -> u64 {
        let bits = value.to_bits();
        if self == Self::F64 {
            return bits;
        }
        let negative = value.is_sign_negative();
        let wide = Self::F64;
        let fraction = (bits & wide.fraction_mask()) >> (wide.fraction - self.fraction);
        let field = ((bits >> wide.fraction) & wide.top()) as i64;
        let exponent = field - wide.bias() as i64 + self.bias() as i64;
        if exponent >= self.top() as i64 {
            return self.compose(negative, self.top(), 0);
        }
        if exponent > 0 {
            return self.compose(negative, exponent as u64, fraction);
        }
        let significand = fraction | (1 << self.fraction);
        let shift = (1 - exponent).min(63) as u32;
        self.compose(negative, 0, significand.checked_shr(shift).unwrap_or(0))
    }
}

/// 2 to the power of `exponent`, in the range of normal numbers.
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_a_round_trip() {
        for layout in [Layout::E4M3, Layout::E5M2, Layout::F16, Layout::BF16] {
            for bits in 0..=layout.mask() {
                let exponent = (bits >> layout.fraction) & layout.top();
                if exponent != layout.top() {
                    assert_eq!(layout.encode(layout.decode(bits)), bits, "{layout:?} {bits:#x}");
                }
            }
        }
        for value in [1.5f32, -0.0, 1e-40, f32::MAX, f32::MIN_POSITIVE] {
            assert_eq!(Layout::F32.decode(value.to_bits().into()), f64::from(value));
            assert_eq!(Layout::F32.encode(value.into()), u64::from(value.to_bits()));
        }
    }
}
