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
mod math;

pub use math::stored_steps;

use ir::Program;
use std::collections::BTreeSet;

/// A program after all passes.
#[derive(Clone, Debug, Default)]
pub struct Lifted {
    /// The program.
    pub program: Program,
    /// What the passes took for granted.
    pub assumptions: BTreeSet<String>,
}

/// Runs all passes.
#[must_use]
pub fn lift(program: &Program) -> Lifted {
    let mut lifted = Lifted { program: program.clone(), assumptions: BTreeSet::new() };
    math::lift(&mut lifted);
    // Branches inside the regions of functions are gone by now.
    branches::lift(&mut lifted);
    lifted
}
