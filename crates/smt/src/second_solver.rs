//! Cross-checks each `unsat` of z3 with a second solver, such as cvc5, in one process for each query.
//!
//! If the second solver finds a counterexample, z3's answer is discarded. If it does not know, or not within
//! [`TIME_LIMIT`], z3's answer stands, and is not counted as confirmed.

use crate::pipe;
use crate::solver::SolverError;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Time limit for one query.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The second solver, and counts of its answers.
#[derive(Debug)]
pub struct SecondSolver {
    path: PathBuf,
    /// Answers of z3 that were sent to it.
    pub sent: u64,
    /// Confirmed answers.
    pub confirmed: u64,
    /// Answers with a counterexample.
    pub disputed: u64,
}

impl SecondSolver {
    /// The solver at `path`.
    ///
    /// # Errors
    /// If it cannot be run or answers nothing, in one line.
    pub fn start(path: &Path) -> Result<Self, SolverError> {
        let second = Self { path: path.to_owned(), sent: 0, confirmed: 0, disputed: 0 };
        match second.query("(assert false)\n(check-sat)\n") {
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

    /// Returns `true` if it answers `sat` to a query to which z3 answered `unsat`.
    pub fn disputes(&mut self, question: &str) -> bool {
        self.sent += 1;
        let answer = self.query(question).ok().flatten();
        self.confirmed += u64::from(answer == Some(SecondAnswer::Impossible));
        self.disputed += u64::from(answer == Some(SecondAnswer::Possible));
        answer == Some(SecondAnswer::Possible)
    }

    /// Returns the solver's answer, if it is valid and comes within the time limit.
    fn query(&self, question: &str) -> std::io::Result<Option<SecondAnswer>> {
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
                let mut answer = String::new();
                // An answer is a word.
                if output.by_ref().take(pipe::MAX_LINE_BYTES).read_to_string(&mut answer).is_ok() {
                    let _ = sender.send(answer);
                }
            });
        }
        let answer = receiver.recv_timeout(TIME_LIMIT).unwrap_or_default();
        let _ = child.kill();
        child.wait()?;
        Ok(match answer.trim() {
            "unsat" => Some(SecondAnswer::Impossible),
            "sat" => Some(SecondAnswer::Possible),
            "unknown" => Some(SecondAnswer::Nothing),
            _ => None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecondAnswer {
    Impossible,
    Possible,
    Nothing,
}
