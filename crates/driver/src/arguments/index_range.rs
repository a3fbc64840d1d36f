//! Checks of tensor arguments: the range of integers (`x=s32[8]:0..100`), and strides that let elements overlap.

use super::parse::number;
use super::{ElementType, IndexRange, Number, ParseReason, TensorSpec};
use std::fmt::{self, Display, Formatter};

impl IndexRange {
    /// The condition on all elements of a tensor.
    #[must_use]
    pub fn condition(self, name: &str) -> String {
        format!("{} <= {name} < {}", self.low, self.high)
    }
}

impl TensorSpec {
    /// The number of integers that an element may be.
    pub(super) fn possible_integers(&self) -> i128 {
        match self.range {
            Some(range) => i128::from(range.high) - i128::from(range.low),
            None => {
                let (least, greatest) = self.element.integer_range();
                greatest - least + 1
            }
        }
    }
}

impl Display for IndexRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

/// Returns `false` only if no two elements of a tensor are at one place. It may return `true` for unusual strides that
/// do not overlap either.
pub(super) fn strides_overlap(shape: &[u64], strides: &[u64]) -> bool {
    let mut axes: Vec<(u64, u64)> =
        strides.iter().copied().zip(shape.iter().copied()).filter(|(_, size)| *size > 1).collect();
    axes.sort_unstable();
    // Without overlap, each axis steps beyond everything that the smaller ones reach.
    let mut reach = 1_u64;
    axes.into_iter().any(|(stride, size)| {
        let overlaps = stride < reach;
        reach = stride.saturating_mul(size - 1).saturating_add(reach);
        overlaps
    })
}

/// Reads `0..100`, for integers of a type.
pub(super) fn parse_range(
    element: ElementType,
    text: &str,
    (low, high): (&str, &str),
) -> Result<IndexRange, ParseReason> {
    let wrong = || ParseReason::NotAnIndexRange(text.to_owned());
    if element.is_float() {
        return Err(ParseReason::RangeOfFloats { element, range: text.to_owned() });
    }
    let end = |text: &str| match number(text) {
        Some(Number::Integer(value)) => i64::try_from(value).ok(),
        _ => None,
    };
    let (low, high) = (end(low).ok_or_else(wrong)?, end(high).ok_or_else(wrong)?);
    let range = IndexRange { low, high };
    // The type must contain both ends, or the claim would silently be about fewer numbers.
    for number in [i128::from(low), i128::from(high) - 1] {
        element.encode(&Number::Integer(number), &mut Vec::new())?;
    }
    (low < high).then_some(range).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::strides_overlap;

    #[test]
    fn elements_that_share_a_place_are_found() {
        for (shape, strides, overlap) in [
            (&[4, 4][..], &[4, 1][..], false),
            (&[4, 4], &[1, 4], false),
            (&[4, 4], &[3, 1], true),
            (&[4, 1], &[1, 0], false),
            (&[2], &[0], true),
            (&[3, 2], &[2, 6], false),
            (&[4, 2], &[2, 6], true),
        ] {
            assert_eq!(strides_overlap(shape, strides), overlap, "{shape:?} {strides:?}");
        }
    }
}
