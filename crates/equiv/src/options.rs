//! How two kernels are compared.

use crate::side::Assumption;
use exec::Limits;

/// How two kernels are compared.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// How much each run may cost.
    pub limits: Limits,
    /// Take constants for transcendental numbers.
    pub snap: bool,
    /// What is assumed of the inputs.
    pub assumptions: &'o [Assumption],
    /// Look at a proof again by another road.
    pub recheck: bool,
}
