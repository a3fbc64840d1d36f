//! The environment of a command: its streams, the watch that may stop it, and files in memory.
//!
//! The command line prints. A call from another program ([`crate::Call`]) must neither print nor change that program's
//! state, so its output is captured and returned.

use crate::output_lock::OutputLock;
use driver::cuda::locate::Environment;
use driver::project::Date;
use driver::render::PageHead;
use driver::report::Report;
use driver::{Exit, Input, Outcome, Watch, escape};
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The environment of a command.
#[derive(Debug)]
pub(crate) struct Console {
    /// The output of a call from another program; `None` if output is printed.
    captured: Option<Mutex<Captured>>,
    /// Stops the command from outside.
    watch: &'static Watch,
    /// Files that the caller gives in memory: names and contents.
    files: Vec<(String, Vec<u8>)>,
    /// The caller's Python environment, which is searched for compilers.
    python: Option<PathBuf>,
    /// Set if the arguments have no escape sequences, so that text quoting them may be coloured.
    has_clean_arguments: bool,
    /// Set once writing results has failed.
    write_failed: AtomicBool,
    /// The command line, which reports in HTML quote.
    words: Vec<String>,
    /// Decides whether the command or its guard writes the answer.
    output_lock: Arc<OutputLock>,
}

/// Returns the date of an HTML report: `epoch`, the value of `SOURCE_DATE_EPOCH`, or today.
pub(crate) fn page_date(epoch: Option<OsString>) -> Result<Date, String> {
    let Some(epoch) = epoch.filter(|epoch| !epoch.is_empty()) else { return Ok(Date::today()) };
    let date = epoch.to_str().and_then(Date::of_epoch);
    date.ok_or_else(|| {
        let text = epoch.to_string_lossy();
        format!("SOURCE_DATE_EPOCH is `{text}`, not a number of seconds since 1970")
    })
}

/// The captured output of a call from another program.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) output: String,
    pub(crate) messages: String,
    pub(crate) reports: Vec<Report>,
    pub(crate) arrays: Vec<(String, Vec<u8>)>,
}

impl Console {
    /// Creates the console of the program, which prints.
    pub(crate) fn of_program(words: &[String], watch: &'static Watch) -> Self {
        Self {
            captured: None,
            watch,
            files: Vec::new(),
            python: None,
            has_clean_arguments: escape::may_be_coloured(words.iter().map(String::as_str)),
            write_failed: AtomicBool::new(false),
            words: words.to_vec(),
            output_lock: Arc::default(),
        }
    }

    /// Creates the console of a call from another program, which captures output.
    pub(crate) fn of_caller(
        files: Vec<(String, Vec<u8>)>,
        python: Option<PathBuf>,
        watch: &'static Watch,
    ) -> Self {
        Self {
            captured: Some(Mutex::default()),
            watch,
            files,
            python,
            has_clean_arguments: true,
            write_failed: AtomicBool::new(false),
            words: Vec::new(),
            output_lock: Arc::default(),
        }
    }

    /// Copies the console for the guard of the command ([`crate::overdue`]), whose thread may outlive the command.
    pub(crate) fn for_guard(&self) -> Self {
        Self {
            captured: None,
            watch: self.watch,
            files: Vec::new(),
            python: None,
            has_clean_arguments: self.has_clean_arguments,
            write_failed: AtomicBool::new(false),
            words: self.words.clone(),
            output_lock: Arc::clone(&self.output_lock),
        }
    }

    /// Returns the lock to take before writing the answer.
    pub(crate) fn output_lock(&self) -> &OutputLock {
        &self.output_lock
    }

    /// Returns the environment in which compilers are searched.
    pub(crate) fn environment(&self) -> Environment {
        Environment::of_process().in_python(self.python.as_deref())
    }

    /// Returns the head of an HTML report: the command line and the date. The date is `SOURCE_DATE_EPOCH`
    /// (<https://reproducible-builds.org/specs/source-date-epoch/>) if set, so that the same input can give the same
    /// bytes; otherwise today.
    ///
    /// # Errors
    /// If `SOURCE_DATE_EPOCH` is not a time.
    pub(crate) fn page_head(&self) -> Result<PageHead, String> {
        let date = page_date(std::env::var_os("SOURCE_DATE_EPOCH"))?;
        let mut words = self.words.clone();
        // The name of the program without its path.
        words.first_mut().into_iter().for_each(|first| "warpproof".clone_into(first));
        Ok(PageHead { words, date })
    }

    /// Returns `true` if the arguments are free of escape sequences.
    pub(crate) fn has_clean_arguments(&self) -> bool {
        self.has_clean_arguments
    }

    /// Returns `true` if output is printed. Otherwise it is captured for the calling program.
    pub(crate) fn prints(&self) -> bool {
        self.captured.is_none()
    }

    /// Returns the watch that stops the command's runs.
    pub(crate) fn watch(&self) -> &'static Watch {
        self.watch
    }

    /// Returns the contents of a file that the caller gave in memory.
    pub(crate) fn memory_file(&self, name: &str) -> Option<&[u8]> {
        let mut files = self.files.iter();
        files.find(|(given, _)| given == name).map(|(_, bytes)| bytes.as_slice())
    }

    /// Adds all files in memory except `own`, the file of the input itself, as sources that its lines may name.
    pub(crate) fn with_sources(&self, input: Input, own: &str) -> Input {
        let others = self.files.iter().filter(|(name, _)| name != own);
        others.fold(input, |input, (name, bytes)| {
            input.with_source(name, &String::from_utf8_lossy(bytes))
        })
    }

    /// Returns the colours of printed text; `anstream` removes them if stdout is not a terminal.
    pub(crate) fn styled(&self) -> driver::Colour {
        if !self.has_clean_arguments || !self.prints() {
            return driver::Colour::Plain;
        }
        let width = terminal_size::terminal_size().map_or(140, |(width, _)| usize::from(width.0));
        driver::Colour::Styled { width: width.max(60) }
    }

    /// Writes the results of a command.
    pub(crate) fn finish(&self, mut outcome: Outcome) -> Exit {
        let reports = outcome.report.take().into_iter().collect();
        self.finish_all(&outcome, reports)
    }

    /// Writes the results of a command with several reports.
    pub(crate) fn finish_all(&self, outcome: &Outcome, reports: Vec<Report>) -> Exit {
        self.output_lock.take();
        self.write_err(&outcome.messages);
        self.write_out(&outcome.output);
        if let Some(captured) = &self.captured {
            locked(captured).reports.extend(reports);
        }
        outcome.exit
    }

    /// Keeps the output arrays of `simulate` for the calling program.
    pub(crate) fn keep_arrays(&self, arrays: Vec<(String, Vec<u8>)>) {
        if let Some(captured) = &self.captured {
            locked(captured).arrays.extend(arrays);
        }
    }

    /// Writes an error that ends the command before it ran.
    pub(crate) fn fail(&self, message: &str) -> Exit {
        self.output_lock.take();
        self.write_err(&format!("error: {}\n", escape::plain(message)));
        Exit::BadInput
    }

    /// Writes results. A closed pipe (`| head`) is not an error; a full disk is.
    pub(crate) fn write_out(&self, text: &str) {
        if let Some(captured) = &self.captured {
            locked(captured).output.push_str(text);
            return;
        }
        let mut stdout = anstream::stdout();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        if let Err(error) = written
            && error.kind() != ErrorKind::BrokenPipe
            && !self.write_failed.swap(true, Ordering::Relaxed)
        {
            self.write_err(&format!("error: results cannot be written: {error}\n"));
        }
    }

    /// Writes messages.
    pub(crate) fn write_err(&self, text: &str) {
        match &self.captured {
            Some(captured) => locked(captured).messages.push_str(text),
            None => print_message(text),
        }
    }

    /// Returns the exit status of the program: if stdout failed, non-zero, because silence must not pass CI.
    pub(crate) fn exit(&self, exit: Exit) -> Exit {
        let hides_loss = self.write_failed.load(Ordering::Relaxed) && exit == Exit::Success;
        if hides_loss { Exit::BadInput } else { exit }
    }

    /// Returns the captured output.
    pub(crate) fn into_captured(self) -> Captured {
        let captured = self.captured.unwrap_or_default();
        captured.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints a message on standard error.
pub(crate) fn print_message(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Locks the output. A thread that panicked left no partial text: each text is added at once.
fn locked(captured: &Mutex<Captured>) -> std::sync::MutexGuard<'_, Captured> {
    captured.lock().unwrap_or_else(PoisonError::into_inner)
}
