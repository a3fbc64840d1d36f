//! Reproducible random numbers: SplitMix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*,
//! OOPSLA 2014).
//!
//! The numbers of a seed are the same on every machine and must not change: recordings of hardware, lists of mutants
//! and numbers of test cases depend on them. Numbers below a limit are remainders, which favours small numbers by a
//! share of `limit / 2^64`; this is negligible for tests.

use base::{GAMMA, mix64};

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Returns the stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a seed for the rest of the stream, so that a failing case can be drawn again.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.state
    }

    /// Draws 64 bits.
    pub fn bits(&mut self) -> u64 {
        let drawn = mix64(self.state);
        self.state = self.state.wrapping_add(GAMMA);
        drawn
    }

    /// Draws a number below `limit`; 0 if the limit is 0. Works for any integer type.
    ///
    /// # Panics
    /// If the limit is negative or has more than 64 bits.
    pub fn below<N: TryInto<u64> + TryFrom<u64>>(&mut self, limit: N) -> N {
        let Ok(limit) = limit.try_into() else { panic!("the limit is negative or too large") };
        let Ok(drawn) = N::try_from(self.bits() % limit.max(1)) else {
            unreachable!("a number below the limit has its type")
        };
        drawn
    }

    /// Draws a number from `low` to `high`, both included.
    ///
    /// # Panics
    /// If `low` is above `high` or they are 2^64 - 1 or more apart.
    pub fn within(&mut self, low: i128, high: i128) -> i128 {
        assert!(low <= high, "no number is from {low} to {high}");
        low + self.below(high - low + 1)
    }

    /// Draws a number from 0 to 1, the latter excluded: a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns `true` in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns `true` once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Draws one of the items.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// Shuffles the items (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Returns `count` multiples of 1/128 from -1 to 1, the latter excluded: every float format represents them exactly.
#[must_use]
pub fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.within(-128, 127) as f64 / 128.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation's outputs; those of seed 0 are in `base`.
    #[test]
    fn the_stream_is_that_of_the_paper() {
        let mut random = Random::new(1_234_567);
        let first = [(); 5].map(|()| random.bits());
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(first, expected);
    }

    /// Every number of a range is drawn, and none outside.
    #[test]
    fn ranges_are_drawn_completely() {
        let mut random = Random::new(1);
        for size in 1..=20_usize {
            let mut seen = [vec![false; size], vec![false; size]];
            for _ in 0..size * 60 {
                seen[0][random.below(size)] = true;
                let drawn = random.within(-7, size as i128 - 8);
                seen[1][usize::try_from(drawn + 7).unwrap()] = true;
            }
            assert!(seen.iter().flatten().all(|seen| *seen), "{size} numbers");
        }
    }

    #[test]
    fn limits_of_all_types_draw_the_same() {
        let (mut one, mut other) = (Random::new(3), Random::new(3));
        for _ in 0..100 {
            assert_eq!(u64::from(one.below(200_u8)), other.bits() % 200);
            assert_eq!(one.below(200_i128), i128::from(other.bits() % 200));
            assert_eq!(one.below(0_usize), 0);
            other.bits();
        }
        assert!(one.within(i128::from(i64::MIN), i128::from(i64::MAX) - 1) < i128::from(i64::MAX));
    }

    #[test]
    fn shares_are_as_said() {
        let mut random = Random::new(5);
        let mut count =
            |draw: fn(&mut Random) -> bool| (0..10_000).filter(|_| draw(&mut random)).count();
        assert!((2_800..3_200).contains(&count(|random| random.chance(30))));
        assert!((1_800..2_200).contains(&count(|random| random.once_in(5))));
        assert!((4_800..5_200).contains(&count(|random| random.unit() < 0.5)));
        assert_eq!(count(|random| random.chance(0)), 0);
        assert_eq!(count(|random| random.chance(100)), 10_000);
        assert_eq!(count(|random| (0.0..1.0).contains(&random.unit())), 10_000);
    }

    /// All orders of three items occur, about equally often.
    #[test]
    fn all_orders_are_drawn() {
        let mut random = Random::new(6);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_stream_can_be_drawn_again() {
        let mut random = Random::new(8);
        random.bits();
        let mut again = Random::new(random.seed());
        assert_eq!([random.bits(), random.bits()], [again.bits(), again.bits()]);
    }

    #[test]
    #[should_panic = "no number is from 1 to 0"]
    fn an_empty_range_is_refused() {
        Random::new(0).within(1, 0);
    }

    #[test]
    fn noise_is_between_the_ones() {
        let noise = noise(1_000, 2);
        assert!(
            noise.iter().all(|value| (-1.0..1.0).contains(value) && (value * 128.0).fract() == 0.0)
        );
        assert!(noise.contains(&-1.0) && noise.contains(&(127.0 / 128.0)));
    }
}
