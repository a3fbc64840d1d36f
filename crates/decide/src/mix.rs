//! Pseudo-random numbers without state: SplitMix64 of a counter.

/// A fixed scramble of 64 bits: of a counter, numbers without a pattern.
#[must_use]
pub fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
