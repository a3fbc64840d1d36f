//! A comparison as data: its options and its result.

use crate::cuda::CompileOptions;
use crate::prove::reading::Reading;
use interp::Launch;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Options for compiling the text.
#[derive(Clone, Debug, Default)]
pub struct Compiling {
    /// Architecture, folders of headers, places to look for NVRTC.
    pub options: CompileOptions,
    /// Macros, as `NAME=VALUE`.
    pub defines: Vec<String>,
}

impl Compiling {
    /// Our reading with the same options.
    pub(super) fn reading(&self) -> Reading {
        Reading {
            defines: self.defines.clone(),
            includes: self.options.includes.clone(),
            arch: self.options.architecture.clone(),
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub(in crate::prove) enum Comparison {
    /// The user turned it off.
    TurnedOff,
    /// It was impossible, for this reason.
    Impossible(String),
    /// Nothing differs.
    Same(Summary),
    /// Something differs.
    Different(Box<Difference>),
}

/// The extent of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::prove) struct Summary {
    pub(in crate::prove) compiler: String,
    pub(in crate::prove) architecture: String,
    pub(in crate::prove) launches: usize,
    pub(in crate::prove) runs: usize,
    pub(in crate::prove) elements: u64,
    /// One sentence for each part that was not compared.
    pub(in crate::prove) left_out: Vec<String>,
}

/// A run on which the two differ.
#[derive(Clone, Debug)]
pub(in crate::prove) struct Difference {
    pub(in crate::prove) compiler: String,
    pub(in crate::prove) architecture: String,
    pub(in crate::prove) launch: Option<Launch>,
    pub(in crate::prove) what: Discrepancy,
}

/// The difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::prove) enum Discrepancy {
    /// An element.
    Element { array: String, index: String, compiled: String, read: String },
    /// Compiled code does something that our reading does not.
    Fault(String),
    /// The size of a parameter.
    Parameter { name: String, compiled: u64, read: u64 },
}

/// A comparison and how long it took.
#[derive(Clone, Debug)]
pub(in crate::prove) struct TimedComparison {
    pub(in crate::prove) comparison: Comparison,
    pub(in crate::prove) took: Duration,
    /// The result comes from the cache.
    pub(in crate::prove) from_cache: bool,
}
