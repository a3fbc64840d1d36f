//! From program to program: what a compiler made of a kernel becomes what its author wrote, as far as
//! real numbers can tell.
//!
//! Every pass keeps what the program computes **over the reals** and which memory it touches; it may
//! change bits that only rounding, infinities or NaN decide. So a lifted program is for runs on terms
//! and intervals; concrete runs take the original. What a pass relied on is listed in
//! [`Lifted::assumptions`], one clause each, and goes into the report.
//!
//! Registers may be added, and instructions and blocks changed or emptied; functions and variables
//! keep their numbers. A lifted program passes [`ir::validate`].

mod branches;
mod cleanup;
mod flow;
mod library;
mod math;

pub use math::{slow_ways, stored_steps};

use ir::{ArgumentRange, FuncId, Op, Program};
use std::collections::BTreeSet;

/// A program after all passes.
#[derive(Clone, Debug, Default)]
pub struct Lifted {
    /// The program.
    pub program: Program,
    /// What the passes took for granted.
    pub assumptions: BTreeSet<String>,
}

/// Whether a lifted program lacks code that runs for some arguments of a function: see
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

/// Runs all passes on what a kernel reaches; other functions stay as they are.
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
    // Tests look after each pass, so that a wrong one is named; users pay for one look.
    let check = |lifted: &Lifted| {
        if cfg!(debug_assertions) {
            ir::assert_valid_in(&lifted.program, &functions);
        }
    };
    library::lift(&mut lifted, &functions);
    check(&lifted);
    math::lift(&mut lifted, &functions);
    check(&lifted);
    // Branches inside the regions of functions are gone by now.
    branches::lift(&mut lifted, &functions);
    ir::assert_valid_in(&lifted.program, &functions);
    lifted
}
