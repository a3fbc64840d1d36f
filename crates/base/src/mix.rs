//! Pseudo-random numbers without state: SplitMix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number
//! Generators*, OOPSLA 2014) as a function of its state.

/// The step of SplitMix64's state: 2^64 divided by the golden ratio, made odd.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the number that SplitMix64 draws in the state `seed`: a bijection without a visible pattern.
///
/// Its state after that is `seed.wrapping_add(GAMMA)`.
#[must_use]
pub fn mix64(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(GAMMA);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of Java's `SplittableRandom` and of the reference implementation in C (Vigna).
    #[test]
    fn the_numbers_are_those_of_the_reference() {
        let draw = |seed: u64, number: u64| mix64(seed.wrapping_add(number.wrapping_mul(GAMMA)));
        assert_eq!(draw(0, 0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(draw(0, 1), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(draw(0, 2), 0x06c4_5d18_8009_454f);
        assert_eq!(draw(1_234_567, 0), 6_457_827_717_110_365_317);
        assert_eq!(draw(1_234_567, 1), 3_203_168_211_198_807_973);
    }
}
