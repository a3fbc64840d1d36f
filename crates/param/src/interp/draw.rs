//! Numbers that look as if drawn at random, the same in every run.

/// A number that depends on `seed` in no visible way (splitmix64, Steele et al. 2014).
pub(crate) fn draw(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number that depends on a name.
pub(super) fn of_name(name: &str) -> u64 {
    name.bytes().fold(17, |hash, byte| draw(hash ^ u64::from(byte)))
}
