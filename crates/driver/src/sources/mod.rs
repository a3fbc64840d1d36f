//! From a file to a program: reads PTX, extracts it from containers, or has a compiler make it, and lowers it.
//!
//! *Must not know* launches, reports or commands.

pub(crate) mod container;
pub mod cuda;
mod error;
mod front;
mod input;
mod memory;
mod triton;

pub use error::{InputError, InputReason};
pub(crate) use front::{checked, lower};
pub use input::Input;
