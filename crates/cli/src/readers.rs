//! Readers of texts that other programs write, without the work that the texts ask for. The fuzz targets call them.

use std::io::{Read, Write};
use std::path::Path;

/// Reads a line of a job file of `batch`. Returns the task as JSON.
///
/// # Errors
/// If the line is not a job, with the reason.
pub fn job(line: &[u8]) -> Result<String, String> {
    crate::batch::read_job(line)
}

/// Reads the results of an earlier `batch`, as `--resume` does, and cuts off an incomplete last line. Returns the number
/// of results.
///
/// # Errors
/// If the file is not such a file, with the line.
pub fn results(path: &Path) -> Result<u64, String> {
    crate::batch::read_results(path)
}

/// Serves an editor as `lsp` does, over any streams. Files that the editor opens are examined. Returns `true` if the
/// editor sent `shutdown` before its end.
pub fn editor(input: impl Read + Send + 'static, output: impl Write) -> bool {
    crate::lsp::serve(input, output)
}
