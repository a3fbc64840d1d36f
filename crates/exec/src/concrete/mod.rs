//! The scalar core operations, bit by bit (PTX manual §9.7.1–9.7.9).
//!
//! Pure functions on bit patterns in a `u64`. Bits above the width of an operand must be zero, and those
//! above the width of a result are zero. A function handles **one** number; the caller splits registers with
//! several. [`lanes`] has the same functions for the 32 lanes of a warp.
//!
//! Integer operations, comparisons, conversions and everything with [`ir::Accuracy::Exact`] are exact: the
//! manual, or IEEE 754 where the manual refers to it, fixes every bit. Points left open by both, and the
//! choices here:
//!
//! - *NaN results*: see [`nan`]. Programs notice only if they inspect the bits.
//! - *Integer division by zero* gives all ones, the remainder is the dividend. Callers report it first.
//! - *Approximate functions* are computed in double precision and rounded to nearest: within the manual's
//!   bounds, and therefore **not** bit-exact. A program that depends on their last bits can give other
//!   results on hardware.
//! - *`.ftz`* judges results after rounding: a result that rounds up to the smallest normal number stays.
//!
//! `tests/hardware.rs` compares the results with recordings of an H200. It takes all NaNs as equal, and leaves
//! the approximate functions to `tests/approximate.rs`.
//!
//! Elementary functions come from the `libm` crate rather than the platform, so a run gives the same bits on
//! every machine.

mod approximate;
mod bits;
mod convert;
mod dot;
mod exact;
mod float;
mod format;
mod integer;
pub mod lanes;
pub mod nan;

pub(crate) use approximate::real_function;
pub use bits::insert_bits;
pub use convert::{Conversion, convert};
pub(crate) use dot::dot_widened;
pub use dot::{dot_float, dot_integer};
pub use float::{float_binary, float_compare, float_test, float_unary, fma};
pub use format::to_double;
pub use integer::{add_carry, int_binary, int_compare, int_ternary, int_unary, resize};
