//! Everything that knows the letters PTX.
//!
//! [`syntax`] turns text into a tree without knowing any instruction; [`isa`] is the catalogue of
//! instructions; [`lower()`] turns the tree into the core program of [`ir`]. The arrows point one
//! way: the catalogue is used by lowering and knows no file format, the grammar knows neither.

pub mod isa;
mod lower;
pub mod syntax;

pub use lower::{Lowered, lower};
