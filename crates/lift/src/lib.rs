//! Lifts a compiled program back to its source-level form, up to equality over the reals.
//!
//! Every pass keeps the values computed **over the reals** and the memory touched. It may change bits that only
//! rounding, infinities or NaN decide. So a lifted program is for symbolic and interval execution; concrete runs take
//! the original. [`Lifted::assumptions`] lists the assumptions of the passes, one clause each, for the report.
//!
//! Passes may add registers, and change or empty instructions and blocks; functions and variables keep their numbers.
//! A lifted program passes [`ir::validate`].

mod branches;
mod cleanup;
mod flow;
mod library;
mod math;

pub use math::{slow_paths, stored_steps};

use ir::{ArgumentRange, FuncId, Op, Program};
use std::collections::BTreeSet;

/// A program after all passes.
#[derive(Clone, Debug, Default)]
pub struct Lifted {
    /// The program.
    pub program: Program,
    /// Assumptions of the passes.
    pub assumptions: BTreeSet<String>,
}

/// Returns `true` if a lifted program lacks code that runs for some arguments of a function; see
/// [`ArgumentRange::drops_code`].
#[must_use]
pub fn drops_code(program: &Program) -> bool {
    let mut all = program.functions.iter().flat_map(ir::Function::instructions);
    all.any(|one| match &one.op {
        Op::Real { range, .. } => range.is_some_and(ArgumentRange::drops_code),
        _ => false,
    })
}

/// Runs all passes on all functions.
#[must_use]
pub fn lift(program: &Program) -> Lifted {
    run(program, program.functions.indices().collect())
}

/// Runs all passes on the functions that a kernel reaches; others stay as they are.
#[must_use]
pub fn lift_kernel(program: &Program, kernel: FuncId) -> Lifted {
    let mut reached = vec![kernel];
    let mut at = 0;
    while let Some(&function) = reached.get(at) {
        at += 1;
        for instruction in program.functions[function].instructions() {
            if let Op::Call { callee, .. } = instruction.op
                && !reached.contains(&callee)
            {
                reached.push(callee);
            }
        }
    }
    run(program, reached)
}

fn run(program: &Program, functions: Vec<FuncId>) -> Lifted {
    let mut lifted = Lifted { program: program.clone(), assumptions: BTreeSet::new() };
    // Debug builds validate after each pass, to name the wrong one; release builds validate once.
    let check = |lifted: &Lifted| {
        if cfg!(debug_assertions) {
            ir::assert_valid_in(&lifted.program, &functions);
        }
    };
    library::lift(&mut lifted, &functions);
    check(&lifted);
    math::lift(&mut lifted, &functions);
    check(&lifted);
    // `math` removed the branches inside expansions of functions.
    branches::lift(&mut lifted, &functions);
    ir::assert_valid_in(&lifted.program, &functions);
    lifted
}
