//! What is known of integers that are divided: a store of the rules in [`super::bounded`].

use crate::ranges::Range;
use rustc_hash::FxHashMap;
use term::NodeId;

/// Ranges of divided integers, and the work on the current question.
#[derive(Debug, Default)]
pub(super) struct Divided {
    /// By divided integer, the range from its dividend, if there is one. Terms do not change, and neither do the
    /// declared ranges of inputs.
    pub(super) ranges: FxHashMap<NodeId, Option<Range>>,
    /// By node, the answer to [`super::Symbolic::has_undeclared_range`].
    pub(super) undeclared: FxHashMap<NodeId, bool>,
    /// Number of questions within questions at the moment.
    pub(super) nesting: usize,
    /// Number of sums that all rules may still examine.
    pub(super) left: usize,
}
