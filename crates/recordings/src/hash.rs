//! Computes the FNV-1a hash (Fowler, Noll and Vo): of a case's opcode and input types, as the seed of its inputs,
//! and of its text and inputs, as the fingerprint under which its recording is stored.
//!
//! Recordings hold outputs only; inputs are drawn again from `testing::Random`. Changing a constant here changes
//! every fingerprint, so every recording becomes stale, and a test fails.

/// The hash of the empty string.
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
    fn the_hash_is_fnv_1a() {
        assert_eq!(hash(HASH_START, b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
