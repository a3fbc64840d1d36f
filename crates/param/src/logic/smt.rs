//! Questions for z3, as SMT-LIB text over a pipe.
//!
//! One process answers all questions, each from a `(reset)`: an answer depends on the question and the version of z3 alone, not on what was
//! asked before, nor on which answers a cache had. A question is written canonically ([`super::question`]) and asked by a
//! fixed list of strategies, each bounded by z3's own count of steps (`rlimit`), so that it does not depend on the machine
//! either; the clock is only looked at to notice a solver that died. What the list comes to is kept, "unknown" too.
//! Integers alone are asked about: no quantifiers, no arrays, no bit-vectors.

use super::formula::Formula;
use super::poly::Poly;
use super::question::Question;
use super::second::Second;
use crate::deadline::left;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use thiserror::Error;

/// Steps of z3 for one question; a hopeless one stops after about a second.
pub(crate) const RLIMIT: u64 = 3_000_000;
/// Steps of the first attempt: most questions take fewer, and one that takes more is better off with another strategy.
const FIRST_RLIMIT: u64 = 100_000;
/// A solver silent for longer than this is taken for dead.
const SILENCE: Duration = Duration::from_secs(30);

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// No values fulfil the conditions.
    Impossible,
    /// Some do.
    Possible,
    /// z3 does not know.
    Unknown,
    /// z3 says that none do, and another solver that some do.
    Disputed,
}

impl Answer {
    /// As it is kept; an answer that two solvers disagree about is not.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Impossible => Some("unsat"),
            Self::Possible => Some("sat"),
            Self::Unknown => Some("unknown"),
            Self::Disputed => None,
        }
    }

    fn read(word: &str) -> Option<Self> {
        [Self::Impossible, Self::Possible, Self::Unknown]
            .into_iter()
            .find(|answer| answer.word() == Some(word))
    }
}

/// How z3 goes about a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Its core for incremental use alone, which a scope makes it take.
    Core,
    /// What it chooses itself: simplifications, then tactics for non-linear integers.
    Default,
}

/// The attempts at a question with so many steps: strategies, each with a limit of its own.
fn attempts(limit: u64) -> Vec<(Strategy, u64)> {
    let first = (Strategy::Core, FIRST_RLIMIT.min(limit));
    let rest = [(Strategy::Default, limit), (Strategy::Core, limit)];
    let more = usize::from(limit > FIRST_RLIMIT) + usize::from(limit >= RLIMIT);
    std::iter::once(first).chain(rest).take(1 + more).collect()
}

/// A question that nothing before bears on.
fn anew((strategy, limit): (Strategy, u64), question: &str) -> String {
    let scope = if strategy == Strategy::Core { "(push)\n" } else { "" };
    format!("(reset)\n(set-option :rlimit {limit})\n{scope}{question}")
}

/// A running solver.
#[derive(Debug)]
pub struct Solver {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    dead: bool,
    version: String,
    /// How many questions it was asked.
    asked: u64,
    /// How often it was sent something.
    sent: u64,
    /// Questions that were answered, with their limits.
    known: BTreeMap<(u64, String), Answer>,
    /// Where answers are kept between runs.
    memory: Option<Box<dyn Memory>>,
    /// Who is asked as well where something is impossible.
    second: Option<Second>,
}

/// Where answers are kept between runs. Only what was kept for exactly the same text may be found.
pub trait Memory: std::fmt::Debug + Send {
    /// What was kept.
    fn look_up(&self, question: &str) -> Option<String>;
    /// Keeps an answer.
    fn keep(&self, question: &str, answer: &str);
}

/// Why a solver cannot be asked, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SolverError {
    /// It cannot be run.
    #[error("`{}`: {why}", .path.display())]
    Start {
        /// The program.
        path: PathBuf,
        /// The system's message.
        why: String,
    },
    /// Nothing can be written to it, or read from it.
    #[error("`{}` has no input or output", .0.display())]
    NoPipe(PathBuf),
    /// It does not say its version as z3 does.
    #[error("`{}` is no z3", .0.display())]
    NotZ3(PathBuf),
    /// It does not answer a question whose answer is known.
    #[error("`{}` is no solver that reads SMT-LIB", .0.display())]
    NoAnswer(PathBuf),
}

impl SolverError {
    pub(super) fn start(path: &Path, error: &std::io::Error) -> Self {
        Self::Start { path: path.to_owned(), why: error.to_string() }
    }
}

impl Solver {
    /// Starts the z3 at `path`.
    ///
    /// # Errors
    /// If it cannot be started or does not answer, in one line.
    pub fn start(path: &Path) -> Result<Self, SolverError> {
        let mut command = Command::new(path);
        command.args(["-in", "-smt2"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| SolverError::start(path, &error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(SolverError::NoPipe(path.to_owned()));
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let (version, known) = (String::new(), BTreeMap::new());
        let (dead, asked, sent, memory, second) = (false, 0, 0, None, None);
        let mut solver =
            Self { child, input, lines, dead, version, asked, sent, known, memory, second };
        let answer = solver.ask("(get-info :version)\n");
        let version = answer.as_deref().and_then(|line| line.split('"').nth(1));
        solver.version = version.ok_or_else(|| SolverError::NotZ3(path.to_owned()))?.to_owned();
        Ok(solver)
    }

    /// What it says its version is.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The first number of its version.
    #[must_use]
    pub fn major(&self) -> Option<u32> {
        self.version.split('.').next()?.parse().ok()
    }

    /// Uses answers that were kept, and keeps those it gives.
    pub fn remember(&mut self, memory: Box<dyn Memory>) {
        self.memory = Some(memory);
    }

    /// Has another solver asked whatever this one says is impossible.
    pub fn confirm_with(&mut self, second: Second) {
        self.second = Some(second);
    }

    /// The solver that is asked as well.
    #[must_use]
    pub fn second(&self) -> Option<&Second> {
        self.second.as_ref()
    }

    /// How many questions it was asked.
    pub(crate) fn asked(&self) -> u64 {
        self.asked
    }

    /// Whether it stopped answering.
    pub(crate) fn is_dead(&self) -> bool {
        self.dead
    }

    /// The answer to commands that give one line. What else it says (an error, say) makes it no answer: the line that
    /// it is made to write at the end is waited for, so no answer is ever taken for that to another question.
    fn ask(&mut self, text: &str) -> Option<String> {
        self.sent += 1;
        let end = format!("end {}", self.sent);
        let text = format!("{text}(echo \"{end}\")\n");
        let sent = self.input.write_all(text.as_bytes()).and_then(|()| self.input.flush());
        let mut said: Vec<String> = Vec::new();
        loop {
            match sent.as_ref().ok().and_then(|()| self.lines.recv_timeout(left(SILENCE)).ok()) {
                Some(line) if line == end => break,
                Some(line) => said.push(line),
                None => {
                    self.dead = true;
                    let _ = self.child.kill();
                    return None;
                }
            }
        }
        said.pop().filter(|_| said.is_empty())
    }

    /// Tells whether all conditions can hold together.
    pub(crate) fn check(&mut self, conditions: &[Formula], limit: u64) -> Answer {
        if self.dead {
            return Answer::Unknown;
        }
        self.asked += 1;
        let question = Question::new(conditions, &[]).text;
        if let Some(answer) = self.known.get(&(limit, question.clone())) {
            return *answer;
        }
        let mut answer = self.answered(&question, limit);
        if let (Answer::Impossible, Some(second)) = (answer, &mut self.second)
            && second.disputes(&question)
        {
            answer = Answer::Disputed;
        }
        self.known.insert((limit, question), answer);
        answer
    }

    /// Returns the answer in memory, or asks with one strategy after the other until one answers.
    fn answered(&mut self, question: &str, limit: u64) -> Answer {
        let attempts = attempts(limit);
        let key = format!("{attempts:?}\n{question}");
        if let Some(answer) = self.kept(&key).as_deref().and_then(Answer::read) {
            return answer;
        }
        let mut answer = Answer::Unknown;
        for attempt in attempts {
            // Anything else is an error, which may be gone the next time.
            let said = self.ask(&anew(attempt, question));
            let Some(said) = said.as_deref().and_then(Answer::read) else { return Answer::Unknown };
            answer = said;
            if answer != Answer::Unknown {
                break;
            }
        }
        if let Some(word) = answer.word() {
            self.keep(&key, word);
        }
        answer
    }

    fn kept(&self, text: &str) -> Option<String> {
        self.memory.as_ref()?.look_up(&self.key(text))
    }

    fn keep(&self, text: &str, answer: &str) {
        if let Some(memory) = &self.memory {
            memory.keep(&self.key(text), answer);
        }
    }

    /// Another version may answer otherwise.
    fn key(&self, text: &str) -> String {
        format!("z3 {}\n{text}", self.version)
    }

    /// Values of `wanted` for which all conditions hold, if some are found.
    pub(crate) fn values(
        &mut self,
        conditions: &[Formula],
        wanted: &[Poly],
        limit: u64,
    ) -> Option<Vec<i128>> {
        if self.dead {
            return None;
        }
        self.asked += 1;
        let Question { text, wanted } = Question::new(conditions, wanted);
        let question = anew((Strategy::Default, limit), &text);
        let key = format!("{question}{}", wanted.concat());
        match self.kept(&key) {
            Some(text) if text == NO_VALUES => return None,
            Some(text) => {
                if let Some(values) = read_values(&text, wanted.len()) {
                    return Some(values);
                }
            }
            None => {}
        }
        let answer = self.ask(&question).as_deref().and_then(Answer::read)?;
        let values: Option<Vec<i128>> = match answer {
            Answer::Possible => wanted.iter().map(|term| read_number(&self.ask(term)?)).collect(),
            _ => None,
        };
        match &values {
            Some(values) => self.keep(&key, &write_values(values)),
            None if !self.dead => self.keep(&key, NO_VALUES),
            None => {}
        }
        values
    }
}

/// What is kept where no values were found.
const NO_VALUES: &str = "none\n";

/// Values as they are kept.
fn write_values(values: &[i128]) -> String {
    values.iter().fold("sat\n".to_owned(), |text, value| format!("{text}{value}\n"))
}

/// So many values, if that is what was kept.
fn read_values(text: &str, count: usize) -> Option<Vec<i128>> {
    let values = text.strip_prefix("sat\n")?.lines().map(|line| line.parse().ok());
    values.collect::<Option<Vec<i128>>>().filter(|values| values.len() == count)
}

/// A number as z3 writes it.
fn read_number(text: &str) -> Option<i128> {
    match text.strip_prefix("(- ") {
        Some(rest) => rest.strip_suffix(')')?.parse::<i128>().ok()?.checked_neg(),
        None => text.trim().parse().ok(),
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
