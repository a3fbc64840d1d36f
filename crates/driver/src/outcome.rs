//! The result of a command.

use crate::report::Report;
use crate::{Colour, Exit, Format, escape};

/// The output of a command, its exit status and its cost.
#[derive(Debug)]
pub struct Outcome {
    /// For standard output.
    pub output: String,
    /// For standard error.
    pub messages: String,
    /// The exit status.
    pub exit: Exit,
    /// Executed instructions of the kernel, counted for each thread.
    pub thread_instructions: u64,
    /// The results as data, of commands that have them.
    pub report: Option<Report>,
}

impl Outcome {
    /// Renders the results in a format for programs, if requested and supported.
    #[must_use]
    pub fn rendered(self, format: Format) -> Self {
        match self.report.as_ref().and_then(|report| report.render(format)) {
            Some(output) => Self { output, messages: String::new(), ..self },
            None => self,
        }
    }

    /// A success with its output.
    pub(crate) fn done(output: String) -> Self {
        let (messages, exit) = (String::new(), Exit::Success);
        Self { output, messages, exit, thread_instructions: 0, report: None }
    }

    /// Bad input or usage, in one line.
    pub(crate) fn bad_input(message: &str) -> Self {
        let messages = format!("error: {}\n", escape::plain(message));
        Self {
            output: String::new(),
            messages,
            exit: Exit::BadInput,
            thread_instructions: 0,
            report: None,
        }
    }

    /// Escapes every control character. Coloured text needs none of this: it was made from input without any.
    pub(crate) fn escaped(mut self, colour: Colour) -> Self {
        if colour == Colour::Plain {
            self.output = escape::plain(&self.output);
            self.messages = escape::plain(&self.messages);
        }
        self
    }
}
