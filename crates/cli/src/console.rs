//! What is printed: results on standard output, messages on standard error.

use driver::{Exit, Outcome, escape};
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether nothing on the command line has escape sequences of its own.
pub(crate) fn are_plain() -> bool {
    let given: Vec<String> =
        std::env::args_os().map(|given| given.to_string_lossy().into_owned()).collect();
    escape::may_be_coloured(given.iter().map(String::as_str))
}

/// Colours for a terminal; `anstream` takes them away where they are not wanted.
pub(crate) fn styled() -> driver::Colour {
    if !are_plain() {
        return driver::Colour::Plain;
    }
    let width = terminal_size::terminal_size().map_or(140, |(width, _)| usize::from(width.0));
    driver::Colour::Styled { width: width.max(60) }
}

/// Prints what a command wrote.
pub(crate) fn finish(outcome: Outcome) -> Exit {
    write_err(&outcome.messages);
    write_out(&outcome.output);
    outcome.exit
}

/// Prints why nothing was done.
pub(crate) fn fail(message: &str) -> Exit {
    write_err(&format!("error: {}\n", escape::plain(message)));
    Exit::BadInput
}

/// Whether results could not be written.
pub(crate) static LOST: AtomicBool = AtomicBool::new(false);

/// Results. A reader that went away (`| head`) is no error; a disk that is full is.
pub(crate) fn write_out(text: &str) {
    let mut stdout = anstream::stdout();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        write_err(&format!("error: results cannot be written: {error}\n"));
    }
}

/// Messages.
pub(crate) fn write_err(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}
