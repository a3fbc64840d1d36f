//! Placeholder

mod algebra;
mod definedness;
mod evaluate;
mod ladder;
mod normalise;
mod products;
mod rewrite;
mod split;
mod verdict;
mod witness;

pub use definedness::{Definedness, Requirement};
pub use evaluate::{Interval, Value, evaluate};
pub use ladder::{Budget, Problem, decide};
pub use verdict::{Assumed, Decision, Reason, Rung};
pub use witness::{Discrepancy, Point};
