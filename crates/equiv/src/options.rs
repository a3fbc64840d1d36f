//! Options of a comparison.

use crate::side::Assumption;
use exec::Limits;

/// Options of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Limits for each run.
    pub limits: Limits,
    /// Recognise constants such as log2(e) and π, and take them for the exact numbers (`--no-snap` turns it off).
    pub snap: bool,
    /// Assumptions about the inputs.
    pub assumptions: &'o [Assumption],
    /// Recheck a proof by interval runs.
    pub recheck: bool,
}
