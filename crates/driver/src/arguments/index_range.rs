//! Checks of tensor arguments: the range of integers (`x=s32[8]:0..100`, `x=s32[8]:0..100|-1`), and strides that let
//! elements overlap.

use super::parse::number;
use super::{ElementType, IndexRange, Number, ParseReason, TensorSpec};
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

impl IndexRange {
    /// The most numbers that may be given beside a range.
    pub const MAX_OTHERS: usize = 4;

    /// The condition on all elements of a tensor.
    #[must_use]
    pub fn condition(self, name: &str) -> String {
        let range = format!("{} <= {name} < {}", self.low, self.high);
        let others =
            self.others.into_iter().flatten().map(|other| format!(" or {name} == {other}"));
        std::iter::once(range).chain(others).collect()
    }

    /// Returns the number at a position: first come the numbers of the range in order, then the others.
    pub(super) fn number(self, position: i128) -> i128 {
        let size = i128::from(self.high) - i128::from(self.low);
        let other = |at: i128| self.others.into_iter().flatten().nth(usize::try_from(at).ok()?);
        match other(position - size) {
            Some(other) if position >= size => other.into(),
            _ => i128::from(self.low) + position,
        }
    }

    /// The smallest and the largest of its numbers.
    pub(crate) fn bounds(self) -> (i128, i128) {
        let ends = [i128::from(self.low), i128::from(self.high) - 1].into_iter();
        let all = ends.chain(self.others.into_iter().flatten().map(i128::from));
        all.fold((i128::MAX, i128::MIN), |(low, high), one| (low.min(one), high.max(one)))
    }

    pub(super) fn contains(self, number: i128) -> bool {
        let others = self.others.into_iter().flatten();
        (self.low.into()..self.high.into()).contains(&number)
            || others.map(i128::from).any(|other| other == number)
    }

    /// Counts the numbers: those of the range, and the others.
    pub(super) fn count(self) -> i128 {
        let others = self.others.into_iter().flatten().count();
        i128::from(self.high) - i128::from(self.low) + others as i128
    }
}

impl TensorSpec {
    /// The number of integers that an element may be.
    pub(super) fn possible_integers(&self) -> i128 {
        match self.range {
            Some(range) => range.count(),
            None => {
                let (least, greatest) = self.element.integer_range();
                greatest - least + 1
            }
        }
    }
}

impl Display for IndexRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)?;
        self.others.into_iter().flatten().try_for_each(|other| write!(f, "|{other}"))
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

/// Reads `0..100` or `0..100|-1`, for integers of a type.
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
    let mut parts = high.split('|');
    let high = parts.next().unwrap_or_default();
    let (low, high) = (end(low).ok_or_else(wrong)?, end(high).ok_or_else(wrong)?);
    let others: Option<BTreeSet<i64>> = parts.map(end).collect();
    let others = others.ok_or_else(wrong)?.into_iter().filter(|other| !(low..high).contains(other));
    let others: Vec<i64> = others.collect();
    if others.len() > IndexRange::MAX_OTHERS {
        return Err(wrong());
    }
    let range = IndexRange { low, high, others: std::array::from_fn(|at| others.get(at).copied()) };
    // The type must contain all numbers, or the claim would silently be about fewer.
    let ends = [i128::from(low), i128::from(high) - 1];
    for number in ends.into_iter().chain(others.into_iter().map(i128::from)) {
        element.encode(&Number::Integer(number), &mut Vec::new())?;
    }
    (low < high).then_some(range).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{ElementType, IndexRange, parse_range, strides_overlap};

    fn range(text: &str) -> Option<IndexRange> {
        parse_range(ElementType::S64, text, text.split_once("..").unwrap()).ok()
    }

    #[test]
    fn a_range_has_some_other_numbers() {
        let found = range("0..3|-100|7").unwrap();
        assert_eq!(found.to_string(), "0..3|-100|7");
        assert_eq!(found.condition("i"), "0 <= i < 3 or i == -100 or i == 7");
        assert_eq!((found.count(), found.bounds()), (5, (-100, 7)));
        let numbers: Vec<i128> = (0..5).map(|position| found.number(position)).collect();
        assert_eq!(numbers, [0, 1, 2, -100, 7]);
        let contained: Vec<i128> = (-110..110).filter(|one| found.contains(*one)).collect();
        assert_eq!(contained, [-100, 0, 1, 2, 7]);
        // An extra number that the range contains, or that is named twice, adds nothing.
        assert_eq!(range("0..3|1|1|-1"), range("0..3|-1"));
        for wrong in ["0..3|", "0..3|x", "0..3|3|4|5|6|7", "3..0|5"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }

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
