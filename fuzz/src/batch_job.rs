//! Any bytes as a line of a job file: they are refused with a reason, or become a task of one line.

use warpproof::readers;

/// Runs the target.
pub fn fuzz(line: &[u8]) {
    match readers::job(line) {
        Ok(task) => assert!(!task.contains('\n'), "{task}"),
        Err(reason) => assert!(!reason.is_empty()),
    }
}
