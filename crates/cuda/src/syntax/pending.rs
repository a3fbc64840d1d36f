//! An annotation that waits for the declaration after it.

use super::ast::Clause;
use crate::{Result, error};
use base::Diagnostic;

/// Clauses before a declaration. They are read again when the function's parameters are known, which may have names
/// of types.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// The start of the annotation, if there is one.
    pub(super) start: Option<usize>,
    /// The clauses as read without the parameters.
    pub(super) first: Vec<Clause>,
    /// The error of reading them, if there was one.
    pub(super) failed: Option<Box<Diagnostic>>,
}

impl Pending {
    pub(super) fn has_clauses(&self) -> bool {
        !self.first.is_empty() || self.failed.is_some()
    }

    /// Refuses clauses that belong to nothing.
    pub(super) fn refuse(&self) -> Result<()> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let Some(lost) = self.first.first() else { return Ok(()) };
        let message = "this annotation is not followed by a kernel or `__device__` function";
        Err(error(lost.span, message))
    }
}
