//! Mbarriers over time as data, for pictures of pipelines ([`crate::pipelines`] fills it in).

use serde::Serialize;

/// An mbarrier and its phases.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pipeline {
    /// Variable and index.
    pub(crate) mbarrier: String,
    pub(crate) phases: Vec<PipelinePhase>,
    /// Number of phases that are not listed.
    pub(crate) left_out: u64,
}

/// A phase of an mbarrier.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PipelinePhase {
    /// Counted from 0; `None` for the one before the first, for which waits return at once.
    pub(crate) phase: Option<u64>,
    /// Its position among all phases of the block by end; `None` if it did not end.
    pub(crate) ended: Option<u32>,
    /// Arrivals so far, and expected.
    pub(crate) arrivals: u64,
    pub(crate) expected: u32,
    /// Bytes delivered, and expected.
    pub(crate) bytes: u64,
    pub(crate) expected_bytes: u64,
    /// Set if a finding is about it.
    pub(crate) faulty: bool,
    pub(crate) contributions: Vec<PipelinePart>,
    pub(crate) waits: Vec<PipelinePart>,
}

/// Threads that perform the same operation on a phase at one instruction.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PipelinePart {
    /// `arrive`, `expect`, `copy`, `complete`, `cp.async arrive` or `wait`.
    pub(crate) operation: &'static str,
    /// Source line, or line of the PTX.
    pub(crate) at: String,
    pub(crate) warps: Vec<usize>,
    pub(crate) threads: u32,
    /// Bytes announced or delivered.
    pub(crate) bytes: u64,
}
