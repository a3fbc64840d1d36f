//! Cross-checks each `unsat` of z3 with a second solver, such as cvc5, in one process for each query.
//!
//! If the second solver finds a counterexample, z3's answer is discarded. If it does not know, or not within
//! [`PATIENCE`], z3's answer stands, and is not counted as confirmed.

use super::pipe;
use super::smt::SolverError;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Time limit for one query.
const PATIENCE: Duration = Duration::from_secs(10);

/// The second solver, and counts of its answers.
#[derive(Debug)]
pub struct Second {
    path: PathBuf,
    /// Answers of z3 that were sent to it.
    pub asked: u64,
    /// Confirmed answers.
    pub confirmed: u64,
    /// Answers with a counterexample.
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

    /// The solver's name, for messages.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Does it find satisfiable what z3 calls unsatisfiable?
    pub(super) fn disputes(&mut self, question: &str) -> bool {
        self.asked += 1;
        let said = self.said(question).ok().flatten();
        self.confirmed += u64::from(said == Some(Said::Impossible));
        self.disputed += u64::from(said == Some(Said::Possible));
        said == Some(Said::Possible)
    }

    /// Returns the solver's answer, if it is valid and comes within the time limit.
    fn said(&self, question: &str) -> std::io::Result<Option<Said>> {
        let mut command = Command::new(&self.path);
        command.args(["--lang=smt2", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let (sender, receiver) = channel();
        let text = format!("(set-logic ALL)\n{question}");
        if let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) {
            std::thread::spawn(move || {
                let _ = input.write_all(text.as_bytes());
            });
            std::thread::spawn(move || {
                let mut said = String::new();
                // An answer is a word.
                if output.by_ref().take(pipe::LONGEST_LINE).read_to_string(&mut said).is_ok() {
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
