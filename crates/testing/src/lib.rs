//! Helpers that tests share: reproducible random numbers ([`Random`]) and the files of the repository ([`corpus`]).
//!
//! A helper panics where a test must fail: nothing in here returns an error, and a folder without the files that
//! were asked for is a failure, not an empty list.

pub mod corpus;
mod random;

pub use random::{Random, noise};
