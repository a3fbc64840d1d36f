//! The program that is started for workers.

use std::ffi::OsString;
use std::path::PathBuf;

/// The program around this library.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// The command that starts the program again: a file and its first words.
    pub program: Vec<OsString>,
    /// Its Python environment.
    pub python: Option<PathBuf>,
}

impl Host {
    /// The program of this process.
    pub(crate) fn of_process() -> Self {
        let program = std::env::current_exe().map(|path| vec![path.into_os_string()]);
        Self { program: program.unwrap_or_default(), python: None }
    }
}
