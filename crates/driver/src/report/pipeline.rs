//! Mbarriers over time as data: what pictures of pipelines are made from ([`crate::pipelines`] fills it in).

use serde::Serialize;

/// An mbarrier and its phases.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pipeline {
    /// Variable and index.
    pub(crate) mbarrier: String,
    pub(crate) phases: Vec<PipelinePhase>,
    /// Phases that are not listed.
    pub(crate) left_out: u64,
}

/// A phase of an mbarrier.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PipelinePhase {
    /// Counted from 0; none for the one before the first, for which waits return at once.
    pub(crate) phase: Option<u64>,
    /// Its place among all phases of the block in the order in which they ended; none if it did not end.
    pub(crate) ended: Option<u32>,
    /// Arrivals that came, and that it expects.
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

/// Threads that do the same to a phase at one instruction.
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
