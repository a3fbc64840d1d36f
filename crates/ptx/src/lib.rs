//! The front end for PTX.
//!
//! [`syntax`] turns text into a tree without knowing any instruction; [`isa`] is the catalogue of instructions;
//! [`lower()`] turns the tree into the core program of [`ir`]. Dependencies point one way: lowering uses the
//! catalogue, the catalogue knows no file format, and the grammar knows neither.

pub mod isa;
mod lower;
pub mod syntax;

pub use lower::{Lowered, lower};
