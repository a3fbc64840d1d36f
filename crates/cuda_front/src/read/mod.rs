//! Lowers the typed tree to kernel IR: extracts side effects from expressions, decomposes pointers and structs, and
//! inlines `__device__` functions.
//!
//! `cuda::tree` has every name, overload and conversion resolved, so the main work is the memory model
//! (`memory_model.rs`): a struct is its scalars, a pointer is one of finitely many arrays with indices. The possible
//! arrays of a pointer variable are found by repeated lowering until none is added (`pointers.rs`). A construct
//! outside the model is refused with its place.

mod address;
mod annotations;
mod arithmetic;
mod atomics;
mod bytes;
mod claims;
mod contracts;
mod conversions;
mod declare;
mod diagnostics;
mod dynamic;
mod expr;
mod float_functions;
mod function_tables;
mod globals;
mod inline;
mod integers;
mod intrinsics;
mod kernel;
mod layouts;
mod logs;
mod loops;
mod lowerer;
mod memory;
mod memory_model;
mod parameters;
mod pointers;
mod reinterpret;
mod returns;
mod rotated;
mod scalars;
mod sequence;
mod signature;
mod spans;
mod stmt;
mod switch;
mod tables;
mod textures;
mod types;
mod vectors;
mod warps;

use base::Span;
use cuda::tree::{FunctionId, Program};
use diagnostics::{Result, unsupported};
use kir::Kernel;

/// Returns `true` if more is known of a function of CUDA than the type of its result.
pub(crate) fn is_modelled(function: &str) -> bool {
    !intrinsics::is_unknown(function)
}

/// Lowers one kernel of a program.
pub(crate) fn kernel(program: &Program, id: FunctionId) -> Result<Kernel> {
    let Some(function) = program.functions.get(id) else {
        return Err(unsupported(Span::default(), "this kernel has no body"));
    };
    kernel::lower_kernel(program, id, function)
}
