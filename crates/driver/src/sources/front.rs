//! The front end for every command: from PTX text to a core program, or the errors in it.

use base::{Diagnostic, SourceFile};
use ptx::Lowered;
use ptx::syntax::Parsed;

/// Reads and lowers a file; fails if it has errors.
pub(crate) fn lower(source: &SourceFile) -> Result<Lowered, Vec<Diagnostic>> {
    checked(&ptx::syntax::parse(source.text()))
}

/// Lowers a module; fails if it has errors.
pub(crate) fn checked(parsed: &Parsed<'_>) -> Result<Lowered, Vec<Diagnostic>> {
    if !parsed.errors.is_empty() {
        return Err(parsed.errors.clone());
    }
    let lowered = ptx::lower(&parsed.module);
    let errors: Vec<Diagnostic> = lowered.diagnostics.iter().filter(is_error).cloned().collect();
    if errors.is_empty() { Ok(lowered) } else { Err(errors) }
}

fn is_error(diagnostic: &&Diagnostic) -> bool {
    diagnostic.severity == base::Severity::Error
}
