//! A launch to be run, and a thread of it.

use crate::draw::of_name;
use base::mix64;
use kir::VarId;
use std::collections::BTreeMap;

/// A launch with its sizes; contents of arrays come from the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Threads of a block on each axis.
    pub block: [i128; 3],
    /// Blocks on each axis.
    pub grid: [i128; 3],
    /// Integer and truth parameters.
    pub scalars: BTreeMap<VarId, i128>,
    /// Seed for contents and order.
    pub seed: u64,
}

impl Launch {
    /// The value of a floating-point parameter: drawn from its name and the seed.
    #[must_use]
    pub fn float(&self, name: &str) -> f64 {
        (mix64(self.seed ^ of_name(name)) % 13) as f64 / 4.0 + 0.25
    }

    /// Number of threads.
    #[must_use]
    pub fn threads(&self) -> i128 {
        self.block.iter().chain(&self.grid).product()
    }
}

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// `blockIdx`.
    pub block: [i128; 3],
    /// `threadIdx`.
    pub thread: [i128; 3],
}
