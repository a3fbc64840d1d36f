//! Reports and diagnostics as text: for people, and in the formats of programs.
//!
//! All code here only formats complete data; none of it looks at a kernel.

pub(crate) mod diagnostics;
pub mod escape;
mod fingerprint;
mod format;
mod github;
mod html;
mod json;
mod junit;
mod marks;
mod sarif;

pub use format::{Colour, Format};
pub use html::PageHead;
pub use marks::{Level, Mark, Place, Summary};

use crate::output::{self, WriteError};
use crate::report::Report;
use std::path::Path;

impl Report {
    /// Renders in a format for programs; `None` for text, which needs more than the report.
    #[must_use]
    pub fn render(&self, format: Format) -> Option<String> {
        let one = std::slice::from_ref(self);
        match format {
            Format::Text => None,
            Format::Json => Some(json::render(self)),
            Format::Sarif | Format::Github | Format::Junit => render_all(self.command, one, format),
        }
    }
}
/// Several reports as one document, in formats that allow it.
#[must_use]
pub fn render_all(command: &'static str, reports: &[Report], format: Format) -> Option<String> {
    match format {
        Format::Text => None,
        Format::Json => Some(json::render_all(command, reports)),
        Format::Sarif => Some(sarif::render(reports)),
        Format::Github => Some(github::render(reports)),
        Format::Junit => Some(junit::render(reports)),
    }
}

/// Returns a page of reports.
#[must_use]
pub fn html(reports: &[Report], head: &PageHead) -> String {
    html::render(reports, head)
}

/// Writes reports in a format for programs.
///
/// # Errors
/// If the file cannot be written.
pub fn write_reports(
    path: &Path,
    command: &'static str,
    reports: &[Report],
    format: Format,
) -> Result<(), WriteError> {
    let text = match reports {
        [one] if one.command == command => one.render(format),
        _ => render_all(command, reports, format),
    };
    output::write(path, &text.unwrap_or_default())
}

/// Writes a page of reports.
///
/// # Errors
/// If the file cannot be written.
pub fn write_html(path: &Path, reports: &[Report], head: &PageHead) -> Result<(), WriteError> {
    output::write(path, &html::render(reports, head))
}
