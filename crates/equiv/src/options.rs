//! Options of a comparison.

use crate::side::Assumption;
use exec::Limits;

/// Options of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Limits for each run.
    pub limits: Limits,
    /// Take constants for the transcendental numbers nearby.
    pub snap: bool,
    /// Assumptions about the inputs.
    pub assumptions: &'o [Assumption],
    /// Recheck a proof by interval runs.
    pub recheck: bool,
}
