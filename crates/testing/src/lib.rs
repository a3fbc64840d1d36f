//! Helpers for tests: reproducible random numbers ([`Random`]) and the files of the repository ([`corpus`]).
//!
//! A helper panics on failure, so that the test fails: none returns an error, and a folder without the requested
//! files is a failure, not an empty list.

pub mod corpus;
mod random;

pub use random::{Random, noise};
