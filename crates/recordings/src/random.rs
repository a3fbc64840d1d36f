//! Reproducible randomness: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) and the FNV-1a hash.
//!
//! Recordings hold outputs only; inputs are drawn again from a seed. Changing a constant here makes
//! every recording worthless, which the stored hashes reveal.

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream that belongs to a name.
    pub(crate) fn named(name: &str) -> Self {
        Self(hash(HASH_START, name.as_bytes()))
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is small enough for the bias of the remainder not to matter.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit.max(1)
    }

    /// True once in `count` times.
    pub(crate) fn once_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// One of the items, which must not be empty; zero otherwise.
    pub(crate) fn pick(&mut self, items: &[u64]) -> u64 {
        let index = self.below(items.len() as u64) as usize;
        items.get(index).copied().unwrap_or(0)
    }
}

/// The hash of nothing.
pub(crate) const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Continues the hash `start` with `bytes`.
pub(crate) fn hash(start: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(start, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_the_paper() {
        let mut random = Random(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(hash(HASH_START, b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
