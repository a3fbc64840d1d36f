//! What a command leaves behind.

use crate::report::Report;
use crate::{Colour, Exit, Format, escape};

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
    /// What was found, as data; not every command has that.
    pub report: Option<Report>,
}

impl Outcome {
    /// With the results in a format for programs, if that is asked for and there are such.
    #[must_use]
    pub fn rendered(self, format: Format) -> Self {
        match self.report.as_ref().and_then(|report| report.render(format)) {
            Some(output) => Self { output, messages: String::new(), ..self },
            None => self,
        }
    }

    /// Something that was done, with what there is to say.
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

    /// With every character written out that would be obeyed; text in colour was made from input without any.
    pub(crate) fn escaped(mut self, colour: Colour) -> Self {
        if colour == Colour::Plain {
            self.output = escape::plain(&self.output);
            self.messages = escape::plain(&self.messages);
        }
        self
    }
}
