//! Summands of a value, packed into 64 bits.

use super::ValueNumber;

/// A summand: the product of two values, the larger number first; the sign is in the highest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Product(u64);

impl Product {
    const NEGATIVE: u64 = 1 << 63;

    #[inline]
    pub(super) fn new(negative: bool, [a, b]: [ValueNumber; 2]) -> Self {
        let sign = if negative { Self::NEGATIVE } else { 0 };
        Self(sign | u64::from(a.max(b)) << 32 | u64::from(a.min(b)))
    }

    #[inline]
    pub(super) fn is_negative(self) -> bool {
        self.0 & Self::NEGATIVE != 0
    }

    #[inline]
    pub(super) fn operands(self) -> [ValueNumber; 2] {
        [(self.0 >> 32) as u32 & (u32::MAX >> 1), self.0 as u32]
    }

    #[inline]
    pub(super) fn negated(self, negative: bool) -> Self {
        Self(self.0 ^ if negative { Self::NEGATIVE } else { 0 })
    }
}
