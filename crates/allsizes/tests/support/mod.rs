//! Helpers for several tests: the kernel of a text, and a solver.

#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod mutants;
pub(crate) mod print;

use kir::{Builtin, Compare, Expr, ExprKind, Kernel, Requirement, Type};
use smt::Solver;
use std::path::PathBuf;

/// The only kernel of a text.
pub(crate) fn kernel(text: &str) -> Kernel {
    let mut kernels = cuda_front::kernels(text).unwrap_or_else(|error| panic!("{}", error.message));
    assert_eq!(kernels.len(), 1);
    let kernel = kernels.remove(0).1.unwrap_or_else(|error| panic!("{}: {text}", error.message));
    in_one_block(kernel)
}

/// Restricts a kernel that does not mention blocks to one block.
pub(crate) fn in_one_block(mut kernel: Kernel) -> Kernel {
    let of_grid = |one: &(Builtin, usize)| matches!(one.0, Builtin::Block | Builtin::GridDim);
    if !kernel.mentioned.iter().any(of_grid) {
        let span = kernel.span;
        let of = |kind: ExprKind, ty: Type| Box::new(Expr { kind, ty, span });
        let grid = of(ExprKind::Builtin(Builtin::GridDim, 0), Type::UNSIGNED);
        let (whole, one) =
            (of(ExprKind::Convert(grid), Type::Whole), of(ExprKind::Int(1), Type::Whole));
        let kind = ExprKind::Compare(Compare::Eq, whole, one);
        let condition = Expr { kind, ty: Type::Bool, span };
        kernel.requires.push(Requirement { forall: Vec::new(), condition });
    }
    kernel
}

/// z3, if there is one. If a solver is required, its absence is an error.
pub(crate) fn solver() -> Option<Solver> {
    let named = std::env::var_os("WARPPROOF_Z3").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).map(|folder| folder.join("z3"));
    let found = named.or_else(|| folders.find(|file| file.is_file()));
    let solver = found.and_then(|found| Solver::start(&found).ok());
    let required = std::env::var_os("WARPPROOF_REQUIRE_Z3").is_some();
    assert!(solver.is_some() || !required, "z3 was not found");
    solver
}
