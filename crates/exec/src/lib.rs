//! Runs the core program.

pub mod concrete;
