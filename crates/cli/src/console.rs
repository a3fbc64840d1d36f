//! The destination of a call's results and messages: a terminal, or the caller.
//!
//! A call from another program must neither print nor change the state of that program. So all of a command's
//! environment is here: the streams, the watch that may end it, and files given as texts.

use crate::pen::Pen;
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

/// The environment of a call.
#[derive(Debug)]
pub(crate) struct Console {
    /// The written text, if it is not printed.
    captured: Option<Mutex<Captured>>,
    /// The watch that ends the call.
    watch: &'static Watch,
    /// Files given as texts: names and contents.
    texts: Vec<(String, Vec<u8>)>,
    /// The Python environment of the caller; it may have compilers.
    python: Option<PathBuf>,
    /// The command line has no escape sequences of its own.
    is_plain: bool,
    /// Results could not be written.
    lost: AtomicBool,
    /// The words of the command line, for pages.
    words: Vec<String>,
    /// Held by whoever writes the answer.
    pen: Arc<Pen>,
}

/// The date of a page: that of the variable, or today.
pub(crate) fn page_date(epoch: Option<OsString>) -> Result<Date, String> {
    let Some(epoch) = epoch.filter(|epoch| !epoch.is_empty()) else { return Ok(Date::today()) };
    let date = epoch.to_str().and_then(Date::of_epoch);
    date.ok_or_else(|| {
        let text = epoch.to_string_lossy();
        format!("SOURCE_DATE_EPOCH is `{text}`, not a number of seconds since 1970")
    })
}

/// Text and reports written by a call.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) output: String,
    pub(crate) messages: String,
    pub(crate) reports: Vec<Report>,
    pub(crate) arrays: Vec<(String, Vec<u8>)>,
}

impl Console {
    /// The terminal of the program with these arguments.
    pub(crate) fn of_program(words: &[String], watch: &'static Watch) -> Self {
        let is_plain = escape::may_be_coloured(words.iter().map(String::as_str));
        let (texts, lost, words) = (Vec::new(), AtomicBool::new(false), words.to_vec());
        let pen = Arc::default();
        Self { captured: None, watch, texts, python: None, is_plain, lost, words, pen }
    }

    /// Captures the output for a caller in the same process.
    pub(crate) fn of_caller(
        texts: Vec<(String, Vec<u8>)>,
        python: Option<PathBuf>,
        watch: &'static Watch,
    ) -> Self {
        let (captured, lost) = (Some(Mutex::default()), AtomicBool::new(false));
        let (words, pen) = (Vec::new(), Arc::default());
        Self { captured, watch, texts, python, is_plain: true, lost, words, pen }
    }

    /// The same terminal, for a thread that may outlive the command's.
    pub(crate) fn for_guard(&self) -> Self {
        let (texts, lost, pen) = (Vec::new(), AtomicBool::new(false), Arc::clone(&self.pen));
        let (watch, is_plain, words) = (self.watch, self.is_plain, self.words.clone());
        Self { captured: None, watch, texts, python: None, is_plain, lost, words, pen }
    }

    /// Returns the pen, which whoever writes the answer takes first.
    pub(crate) fn pen(&self) -> &Pen {
        &self.pen
    }

    /// Returns the environment in which compilers are searched.
    pub(crate) fn environment(&self) -> Environment {
        Environment::of_process().in_python(self.python.as_deref())
    }

    /// Returns what a page says about itself. Its date is that of `SOURCE_DATE_EPOCH`
    /// (<https://reproducible-builds.org/specs/source-date-epoch/>) or today, so that the same input can give the same
    /// bytes.
    ///
    /// # Errors
    /// If the variable is not a time.
    pub(crate) fn page_head(&self) -> Result<PageHead, String> {
        let date = page_date(std::env::var_os("SOURCE_DATE_EPOCH"))?;
        let mut words = self.words.clone();
        // The name of the program, wherever it lies.
        words.first_mut().into_iter().for_each(|first| "warpproof".clone_into(first));
        Ok(PageHead { words, date })
    }

    /// Is the command line free of escape sequences?
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Could a person be looking?
    pub(crate) fn is_terminal(&self) -> bool {
        self.captured.is_none()
    }

    /// Returns the watch for runs.
    pub(crate) fn watch(&self) -> &'static Watch {
        self.watch
    }

    /// Returns a file given as a text.
    pub(crate) fn text(&self, name: &str) -> Option<&[u8]> {
        let mut texts = self.texts.iter();
        texts.find(|(given, _)| given == name).map(|(_, bytes)| bytes.as_slice())
    }

    /// Adds the other files given as texts to such an input, as possible sources.
    pub(crate) fn with_sources(&self, input: Input, own: &str) -> Input {
        let others = self.texts.iter().filter(|(name, _)| name != own);
        others.fold(input, |input, (name, bytes)| {
            input.with_source(name, &String::from_utf8_lossy(bytes))
        })
    }

    /// Colours for a terminal; `anstream` removes them where they are not wanted.
    pub(crate) fn styled(&self) -> driver::Colour {
        if !self.is_plain || !self.is_terminal() {
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
        self.pen.take();
        self.write_err(&outcome.messages);
        self.write_out(&outcome.output);
        if let Some(captured) = &self.captured {
            locked(captured).reports.extend(reports);
        }
        outcome.exit
    }

    /// Keeps arrays for the caller.
    pub(crate) fn keep_arrays(&self, arrays: Vec<(String, Vec<u8>)>) {
        if let Some(captured) = &self.captured {
            locked(captured).arrays.extend(arrays);
        }
    }

    /// Writes the reason why nothing was done.
    pub(crate) fn fail(&self, message: &str) -> Exit {
        self.pen.take();
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
            && !self.lost.swap(true, Ordering::Relaxed)
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
        let is_lost = self.lost.load(Ordering::Relaxed) && exit == Exit::Success;
        if is_lost { Exit::BadInput } else { exit }
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
