//! A second opinion: another solver is asked whatever z3 says is impossible.
//!
//! One process for each question, called as cvc5 is. That it does not know, or
//! not soon enough, changes no answer and is counted; that it knows better takes z3's answer away.

use super::smt::SolverError;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long it may take for one question.
const PATIENCE: Duration = Duration::from_secs(10);

/// The other solver, and what it said so far.
#[derive(Debug)]
pub struct Second {
    path: PathBuf,
    /// Answers that it was asked to confirm.
    pub asked: u64,
    /// Those it confirmed.
    pub confirmed: u64,
    /// Those it has a counterexample to.
    pub disputed: u64,
}

impl Second {
    /// The solver at `path`.
    ///
    /// # Errors
    /// If it cannot be run or answers nothing, in one line.
    pub fn start(path: &Path) -> Result<Self, SolverError> {
        let second = Self { path: path.to_owned(), asked: 0, confirmed: 0, disputed: 0 };
        match second.said("(assert false)\n(check-sat)\n") {
            Ok(Some(_)) => Ok(second),
            Ok(None) => Err(SolverError::NoAnswer(path.to_owned())),
            Err(error) => Err(SolverError::start(path, &error)),
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Whether it finds possible what z3 says is impossible.
    pub(super) fn disputes(&mut self, question: &str) -> bool {
        self.asked += 1;
        let said = self.said(question).ok().flatten();
        self.confirmed += u64::from(said == Some(Said::Impossible));
        self.disputed += u64::from(said == Some(Said::Possible));
        said == Some(Said::Possible)
    }

    /// What it says, if that is an answer and comes in time.
    fn said(&self, question: &str) -> std::io::Result<Option<Said>> {
        let mut command = Command::new(&self.path);
        command.args(["--lang=smt2", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let (sender, receiver) = channel();
        let text = format!("(set-logic ALL)\n{question}");
        if let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) {
            std::thread::spawn(move || {
                let _ = input.write_all(text.as_bytes());
                drop(input);
                let mut said = String::new();
                if output.read_to_string(&mut said).is_ok() {
                    let _ = sender.send(said);
                }
            });
        }
        let said = receiver.recv_timeout(PATIENCE).unwrap_or_default();
        let _ = child.kill();
        child.wait()?;
        Ok(match said.trim() {
            "unsat" => Some(Said::Impossible),
            "sat" => Some(Said::Possible),
            "unknown" => Some(Said::Nothing),
            _ => None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Impossible,
    Possible,
    Nothing,
}
