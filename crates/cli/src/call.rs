//! The program as a function: arguments and files in, reports, text and exit status out.
//!
//! Many calls may run at once, each on its caller's thread. Nothing is printed, except for the message of a panic, a
//! bug of ours; the caller must catch it.

use crate::args::Args;
use crate::commands;
use crate::console::{Captured, Console, page_date};
use crate::watch::Lease;
use clap::Parser;
use driver::project::Date;
use driver::render::{PageHead, html, render_all};
use driver::report::Report;
use driver::{Exit, Format, Watch, escape};
use std::path::PathBuf;

/// A call that has not started.
#[derive(Debug)]
pub struct Call {
    words: Vec<String>,
    files: Vec<(String, Vec<u8>)>,
    python: Option<PathBuf>,
    lease: Lease,
}

/// The results of a call.
#[derive(Debug)]
pub struct CallResult {
    /// The exit status of the program.
    pub exit: Exit,
    /// Text for standard output.
    pub output: String,
    /// Text for standard error.
    pub messages: String,
    /// Findings as data.
    pub reports: Vec<Report>,
    /// Outputs of `simulate`, by name, as `.npy` files.
    pub arrays: Vec<(String, Vec<u8>)>,
}

impl Call {
    /// Takes the command line without the program's name, the contents of files (by their names on that command
    /// line), and the caller's Python environment.
    #[must_use]
    pub fn new(words: Vec<String>, files: Vec<(String, Vec<u8>)>, python: Option<PathBuf>) -> Self {
        Self { words, files, python, lease: Lease::new() }
    }

    /// Returns the handle by which another thread may end the call. It belongs to this call, so it must not be used
    /// once the call is dropped.
    #[must_use]
    pub fn watch(&self) -> &'static Watch {
        self.lease.watch()
    }
}

/// Runs the program. If its watch is stopped, it ends early with the results so far.
///
/// # Panics
/// If there is a bug in Warpproof.
#[must_use]
pub fn call(call: &mut Call) -> CallResult {
    let (words, files) = (std::mem::take(&mut call.words), std::mem::take(&mut call.files));
    let console = Console::of_caller(files, call.python.take(), call.watch());
    let exit = match Args::try_parse_from(std::iter::once("warpproof".to_owned()).chain(words)) {
        Ok(args) => commands::run(&args, &console),
        Err(error) if error.exit_code() == 0 => {
            console.write_out(&error.render().to_string());
            Exit::Success
        }
        Err(error) => {
            console.write_err(&escape::plain(&error.render().to_string()));
            Exit::BadInput
        }
    };
    let Captured { output, messages, reports, arrays } = console.into_captured();
    CallResult { exit, output, messages, reports, arrays }
}

impl CallResult {
    /// Returns the bytes that `--format json` writes; `None` for commands without a report.
    #[must_use]
    pub fn json(&self) -> Option<String> {
        match self.reports.as_slice() {
            [] => None,
            [one] => one.render(Format::Json),
            [first, ..] => render_all(first.command(), &self.reports, Format::Json),
        }
    }

    /// Returns the HTML report that `--report` writes.
    #[must_use]
    pub fn html(&self) -> String {
        // A call has no command line of its own: its words may name files that its caller made.
        let epoch = std::env::var_os("SOURCE_DATE_EPOCH");
        let date = page_date(epoch).unwrap_or_else(|_| Date::today());
        html(&self.reports, &PageHead { words: Vec::new(), date })
    }
}
