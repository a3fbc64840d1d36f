//! A comparison as data: how it is made, and what came of it.

use crate::cuda::CompileOptions;
use crate::prove::reading::Reading;
use param::interp::Launch;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How the text is compiled.
#[derive(Clone, Debug, Default)]
pub struct Compiling {
    /// Architecture, folders of headers, where NVRTC is looked for.
    pub options: CompileOptions,
    /// `NAME=VALUE` of macros.
    pub defines: Vec<String>,
}

impl Compiling {
    /// How we read a text that is compiled so.
    pub(super) fn reading(&self) -> Reading {
        Reading {
            defines: self.defines.clone(),
            includes: self.options.includes.clone(),
            arch: self.options.architecture.clone(),
        }
    }
}

/// What came of a comparison.
#[derive(Clone, Debug)]
pub(in crate::prove) enum Comparison {
    /// The user does not want it.
    LeftOut,
    /// It could not be made, and why.
    Not(String),
    /// Nothing differs.
    Same(Summary),
    /// Something differs.
    Different(Box<Difference>),
}

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::prove) struct Summary {
    pub(in crate::prove) compiler: String,
    pub(in crate::prove) architecture: String,
    pub(in crate::prove) launches: usize,
    pub(in crate::prove) runs: usize,
    pub(in crate::prove) elements: u64,
    /// Parts that were not compared, one sentence each.
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

/// In what they differ.
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
pub(in crate::prove) struct Timed {
    pub(in crate::prove) comparison: Comparison,
    pub(in crate::prove) took: Duration,
    /// Whether it was made by an earlier run.
    pub(in crate::prove) kept: bool,
}
