//! What a command leaves behind.

use crate::Exit;

/// What a command wrote, its exit status and what it cost.
#[derive(Debug)]
pub struct Outcome {
    /// For standard output.
    pub output: String,
    /// For standard error.
    pub messages: String,
    /// The exit status.
    pub exit: Exit,
    /// Instructions of the kernel that were executed, counted for each thread.
    pub thread_instructions: u64,
}

impl Outcome {
    /// Bad input or usage, in one line.
    pub(crate) fn bad_input(message: &str) -> Self {
        let messages = format!("error: {message}\n");
        Self { output: String::new(), messages, exit: Exit::BadInput, thread_instructions: 0 }
    }
}
