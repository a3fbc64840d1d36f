//! Pseudo-random numbers, the same in every run.

use base::mix64;

/// A number that depends on a name.
pub(crate) fn of_name(name: &str) -> u64 {
    name.bytes().fold(17, |hash, byte| mix64(hash ^ u64::from(byte)))
}
