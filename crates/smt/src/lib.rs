//! Solvers of integer conditions as processes: canonical queries, fixed strategies, and answers that are kept.
//!
//! A proof may rest on z3's `unsat`. A second solver may cross-check it ([`SecondSolver`]). Nothing here knows how
//! conditions are decided otherwise, or what they are about.

mod pipe;
mod question;
mod second_solver;
mod solver;
#[cfg(all(test, unix))]
mod tests;

pub use second_solver::SecondSolver;
pub use solver::{Answer, AnswerStore, RLIMIT, Solver, SolverError};
