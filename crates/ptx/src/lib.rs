//! Everything that knows the letters PTX.
//!
//! [`syntax`] turns text into a tree without knowing any instruction.

pub mod syntax;
