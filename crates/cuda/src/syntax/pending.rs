//! An annotation that waits for the declaration it stands before.

use super::ast::Clause;
use crate::{Result, error};
use base::Diagnostic;

/// Clauses before a declaration. They are read again when the parameters of the function are known, whose names may be those of
/// types.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// Where the annotation begins, if there is one.
    pub(super) start: Option<usize>,
    /// What was read without the parameters.
    pub(super) first: Vec<Clause>,
    pub(super) failed: Option<Box<Diagnostic>>,
}

impl Pending {
    pub(super) fn has_clauses(&self) -> bool {
        !self.first.is_empty() || self.failed.is_some()
    }

    /// Clauses must belong to something.
    pub(super) fn refuse(&self) -> Result<()> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let Some(lost) = self.first.first() else { return Ok(()) };
        let message = "this annotation stands before no kernel or `__device__` function";
        Err(error(lost.span, message))
    }
}
