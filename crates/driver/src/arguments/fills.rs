//! Fills of tensors: `iota` and `random`. Both have values that every element type can hold.

use super::misfit::ContentsError;
use super::{ElementType, IndexRange, Number};
use base::{GAMMA, mix64};
use rustc_hash::FxHashMap;

/// Random floats are multiples of 1/`STEPS`, so that all types but those of 8 bits hold them exactly.
const STEPS: i64 = 128;

/// Distinct integers are drawn by shuffling the whole range, if it has at most this many.
const MAX_SHUFFLED: u64 = 1 << 24;

/// Returns the bytes of 0, 1, 2, …. The sequence starts again before the first integer that the type does not hold.
pub(super) fn iota(element: ElementType, count: u64) -> Result<Vec<u8>, ContentsError> {
    let (low, high) = element.counting_range();
    let size = high - low + 1;
    let wrapped = |value: u64| match i128::from(value) % size {
        above if above > high => above - size,
        value => value,
    };
    let numbers = (0..count).map(|value| Number::Integer(wrapped(value)));
    super::contents::encoded(element, numbers)
}

/// Returns the bytes of pseudo-random elements, the same for the same seed: integers of the stated range, or of the
/// whole type; floats from -1 to 1.
pub(super) fn random(
    element: ElementType,
    count: u64,
    seed: u64,
    (range, is_distinct): (Option<IndexRange>, bool),
) -> Result<Vec<u8>, ContentsError> {
    let mut stream = Stream(seed);
    if element.is_float() {
        let table: Result<Vec<Vec<u8>>, ContentsError> = (-STEPS..STEPS)
            .map(|step| {
                let number = Number::Float(format!("{:?}", step as f64 / STEPS as f64));
                super::contents::encoded(element, std::iter::once(number))
            })
            .collect();
        let table = table?;
        let draw = |_| table[stream.below(table.len() as u64) as usize].iter().copied();
        return Ok((0..count).flat_map(draw).collect());
    }
    // Draw positions in the range: it need not contain all numbers between its ends.
    let (low, high) = match range {
        Some(range) => (0, range.count() - 1),
        None => element.integer_range(),
    };
    let drawn = stream.integers(low, high, count, is_distinct).into_iter();
    let drawn = drawn.map(|drawn| range.map_or(drawn, |range| range.number(drawn)));
    super::contents::encoded(element, drawn.map(Number::Integer))
}

/// SplitMix64.
struct Stream(u64);

impl Stream {
    fn bits(&mut self) -> u64 {
        let drawn = mix64(self.0);
        self.0 = self.0.wrapping_add(GAMMA);
        drawn
    }

    /// Draws a number below a limit, which is not zero.
    fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit.max(1)
    }

    fn within(&mut self, low: i128, high: i128) -> i128 {
        match u64::try_from(high - low + 1) {
            Ok(size) => low + i128::from(self.below(size)),
            // All integers of 64 bits.
            Err(_) => low + i128::from(self.bits()),
        }
    }

    /// Draws `count` numbers. The parser has checked that a range has enough for distinct ones.
    fn integers(&mut self, low: i128, high: i128, count: u64, is_distinct: bool) -> Vec<i128> {
        if !is_distinct {
            return (0..count).map(|_| self.within(low, high)).collect();
        }
        let size = u64::try_from(high - low + 1).unwrap_or(u64::MAX);
        if size <= MAX_SHUFFLED {
            let mut all: Vec<i128> = (low..=high).collect();
            for last in (1..all.len()).rev() {
                all.swap(last, self.below(last as u64 + 1) as usize);
            }
            all.truncate(usize::try_from(count).unwrap_or(usize::MAX));
            return all;
        }
        self.distinct(size, count).into_iter().map(|number| low + i128::from(number)).collect()
    }

    /// Draws distinct numbers below `size`: the first places of a shuffle that keeps only the numbers it has moved.
    fn distinct(&mut self, size: u64, count: u64) -> Vec<u64> {
        let mut swapped: FxHashMap<u64, u64> = FxHashMap::default();
        let draw = |place: u64| {
            let other = place + self.below(size - place);
            let here = swapped.get(&place).copied().unwrap_or(place);
            swapped.insert(other, here).unwrap_or(other)
        };
        (0..count.min(size)).map(draw).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ALL: [ElementType; 16] = [
        ElementType::F64,
        ElementType::F32,
        ElementType::Tf32,
        ElementType::F16,
        ElementType::Bf16,
        ElementType::E4m3,
        ElementType::E5m2,
        ElementType::S64,
        ElementType::S32,
        ElementType::S16,
        ElementType::S8,
        ElementType::U64,
        ElementType::U32,
        ElementType::U16,
        ElementType::U8,
        ElementType::B1,
    ];

    #[test]
    fn every_type_has_fills_of_any_length() {
        for element in ALL {
            for count in [0, 1, 3, 1000, 70_000] {
                let bytes = count as usize * element.bytes() as usize;
                assert_eq!(iota(element, count).unwrap().len(), bytes, "{element}");
                let drawn = random(element, count, 1, (None, false)).unwrap();
                assert_eq!(drawn.len(), bytes, "{element}");
                assert_eq!(drawn, random(element, count, 1, (None, false)).unwrap());
            }
            let [one, other] = [1, 2].map(|seed| random(element, 100, seed, (None, false)));
            assert_ne!(one.unwrap(), other.unwrap(), "{element}");
        }
    }

    #[test]
    fn iota_begins_again_where_the_type_ends() {
        let bytes = iota(ElementType::S8, 130).unwrap();
        assert_eq!(
            bytes[126..].iter().map(|byte| *byte as i8).collect::<Vec<_>>(),
            [126, 127, -128, -127]
        );
        assert_eq!(iota(ElementType::B1, 4).unwrap(), [0, 1, 0, 1]);
        // This 8-bit format has every integer up to 16, and no 17.
        let bytes = iota(ElementType::E4m3, 18).unwrap();
        assert_eq!((bytes[17], bytes[0]), (bytes[0], 0));
        let bytes = iota(ElementType::F16, 2050).unwrap();
        assert_eq!(bytes[2 * 2049..], [0, 0]);
    }

    #[test]
    fn random_integers_stay_in_their_range() {
        let range = IndexRange { low: 3, high: 103, others: [None; 4] };
        let bytes = random(ElementType::S32, 100, 5, (Some(range), true)).unwrap();
        let mut seen: Vec<i32> = bytes
            .chunks_exact(4)
            .map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        assert_ne!(seen, (3..103).collect::<Vec<_>>());
        seen.sort_unstable();
        assert_eq!(seen, (3..103).collect::<Vec<_>>());
        let bytes = random(ElementType::U64, 4096, 5, (None, true)).unwrap();
        let seen: BTreeSet<&[u8]> = bytes.chunks_exact(8).collect();
        assert_eq!(seen.len(), 4096);
    }

    #[test]
    fn distinct_numbers_may_be_all_of_a_range() {
        for count in [1, 50, 99, 100] {
            let drawn: BTreeSet<u64> = Stream(7).distinct(100, count).into_iter().collect();
            assert_eq!(drawn.len() as u64, count);
            assert!(drawn.iter().all(|&number| number < 100));
        }
    }
}
