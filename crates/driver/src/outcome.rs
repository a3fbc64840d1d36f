//! What a command leaves behind.

use crate::Exit;

/// What a command wrote, for standard output and standard error, and its exit status.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Outcome {
    pub output: String,
    pub messages: String,
    pub exit: Exit,
}

impl Outcome {
    /// Bad input or usage, in one line.
    pub(crate) fn bad_input(message: &str) -> Self {
        let messages = format!("error: {message}\n");
        Self { output: String::new(), messages, exit: Exit::BadInput }
    }
}
