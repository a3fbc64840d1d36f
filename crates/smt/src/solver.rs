//! Sends queries to z3, as SMT-LIB text over a pipe.
//!
//! One process answers all queries, each from a `(reset)`: an answer depends only on the query and the version of z3,
//! not on earlier queries or on the answers in a cache. A query is written canonically ([`crate::question`]) and sent
//! with a fixed list of strategies, each bounded by z3's own count of steps (`rlimit`), so that it does not depend on
//! the machine either. The clock is only read to notice a dead solver: one that neither answers nor computes. The final
//! answer is kept, "unknown" too. Queries are about integers only: no quantifiers, no arrays, no bit-vectors.

use crate::pipe;
use crate::question::Question;
use crate::second_solver::SecondSolver;
use arith::formula::Formula;
use arith::poly::Poly;
use deadline::left;
use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, sync_channel};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Steps of z3 for one query; a hopeless one stops after about a second.
pub const RLIMIT: u64 = 3_000_000;
/// Steps of the first attempt: most queries need fewer, and a longer one is better off with another strategy.
const FIRST_RLIMIT: u64 = 100_000;
/// A solver that is silent for longer than this is considered dead.
const SILENCE: Duration = Duration::from_secs(30);
/// A program that does not print its version within this time is not a z3.
const START: Duration = Duration::from_secs(10);
/// Lines of an answer: one that counts, and errors.
const MAX_LINES: usize = 64;

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No values satisfy the conditions.
    Impossible,
    /// Some values do.
    Possible,
    /// z3 does not know.
    Unknown,
    /// z3 says `unsat`, and another solver `sat`.
    Disputed,
}

impl Answer {
    /// The word under which it is stored. A disputed answer is not stored.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Impossible => Some("unsat"),
            Self::Possible => Some("sat"),
            Self::Unknown => Some("unknown"),
            Self::Disputed => None,
        }
    }

    /// Reads such a word.
    fn parse(word: &str) -> Option<Self> {
        [Self::Impossible, Self::Possible, Self::Unknown]
            .into_iter()
            .find(|answer| answer.word() == Some(word))
    }
}

/// The strategy with which z3 solves a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// z3's incremental core alone, selected by a scope.
    Core,
    /// z3's own choice: simplifications, then tactics for non-linear integers.
    Default,
}

/// The attempts at a query with this step limit: strategies, each with a limit of its own.
fn attempts(limit: u64) -> Vec<(Strategy, u64)> {
    let first = (Strategy::Core, FIRST_RLIMIT.min(limit));
    let rest = [(Strategy::Default, limit), (Strategy::Core, limit)];
    let more = usize::from(limit > FIRST_RLIMIT) + usize::from(limit >= RLIMIT);
    std::iter::once(first).chain(rest).take(1 + more).collect()
}

/// The text of a query from a `(reset)`, so that it does not depend on earlier ones.
fn from_reset((strategy, limit): (Strategy, u64), question: &str) -> String {
    let scope = if strategy == Strategy::Core { "(push)\n" } else { "" };
    format!("(reset)\n(set-option :rlimit {limit})\n{scope}{question}")
}

/// Returns `true` if a process goes on, and has had less processor time since `first` than `limit`. Updates the time.
fn is_working(process: Option<u32>, limit: Duration, first: Duration, used: &mut Duration) -> bool {
    let Some(now) = process.and_then(processor_time) else { return false };
    let before = std::mem::replace(used, now);
    now > before && now.saturating_sub(first) < limit && !deadline::is_over()
}

/// The processor time of a process, if the system reports it.
fn processor_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).take(2).map(|one| one.parse::<u64>().ok());
    Some(Duration::from_millis((times.next()?? + times.next()??) * 10))
}

/// A running solver.
#[derive(Debug)]
pub struct Solver {
    /// Its process; `None` if others started it.
    child: Option<Child>,
    /// Takes texts to the solver, on a thread of its own: one that reads nothing must not stop us.
    input: Sender<String>,
    lines: Receiver<String>,
    /// No more queries are sent: it stopped answering, or the time was up during a query.
    dead: bool,
    /// It stopped answering, and not because the time was up.
    failed: bool,
    version: String,
    /// Number of queries.
    asked: u64,
    /// Number of messages sent.
    sent: u64,
    /// Answered queries, with their limits.
    known: BTreeMap<(u64, String), Answer>,
    /// Storage for answers between runs.
    store: Option<Box<dyn AnswerStore>>,
    /// The second solver, which confirms `unsat`.
    second: Option<SecondSolver>,
}

/// Storage for answers between runs. An entry may only be found by exactly the same text.
pub trait AnswerStore: std::fmt::Debug + Send {
    /// Returns an entry.
    fn look_up(&self, question: &str) -> Option<String>;
    /// Stores an answer.
    fn store(&self, question: &str, answer: &str);
}

/// The reason why a solver cannot be used, in one line.
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
    /// It has no pipe for input, or for output.
    #[error("`{}` has no input or output", .0.display())]
    NoPipe(PathBuf),
    /// It does not say its version as z3 does.
    #[error("`{}` is not a working z3", .0.display())]
    NotZ3(PathBuf),
    /// It does not answer a question whose answer is known.
    #[error("`{}` is not a solver that reads SMT-LIB", .0.display())]
    NoAnswer(PathBuf),
}

impl SolverError {
    /// Returns the error of a solver at `path` that did not start.
    pub(crate) fn start(path: &Path, error: &std::io::Error) -> Self {
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
        let solver = Self::converse(Some(child), input, output);
        solver.ok_or_else(|| SolverError::NotZ3(path.to_owned()))
    }

    /// Uses a z3 that others started, through its streams. `None` if it does not print its version.
    ///
    /// Without a process, a solver that only computes looks like a dead one, so queries end after a time of silence.
    pub fn over(
        input: impl Write + Send + 'static,
        output: impl Read + Send + 'static,
    ) -> Option<Self> {
        Self::converse(None, input, output)
    }

    /// Starts the threads for both streams, and asks for the version.
    fn converse(
        child: Option<Child>,
        input: impl Write + Send + 'static,
        output: impl Read + Send + 'static,
    ) -> Option<Self> {
        // A solver that prints for ever fills this channel and waits.
        let (sender, lines) = sync_channel(MAX_LINES);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(line) = pipe::read_line(&mut output) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = pipe::spawn_writer(input);
        let (version, known) = (String::new(), BTreeMap::new());
        let (dead, failed, asked, sent, store, second) = (false, false, 0, 0, None, None);
        let mut solver =
            Self { child, input, lines, dead, failed, version, asked, sent, known, store, second };
        let answer = solver.ask_within("(get-info :version)\n", START);
        answer?.split('"').nth(1)?.clone_into(&mut solver.version);
        Some(solver)
    }

    /// Returns `true` if the solver answers a query whose answer is known correctly.
    pub fn works(&mut self) -> bool {
        let question = "(reset)\n(assert false)\n(check-sat)\n";
        self.ask_within(question, START).as_deref().and_then(Answer::parse)
            == Some(Answer::Impossible)
    }

    /// The version it reports.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The first number of its version.
    #[must_use]
    pub fn major(&self) -> Option<u32> {
        self.version.split('.').next()?.parse().ok()
    }

    /// Uses stored answers, and stores new ones.
    pub fn use_store(&mut self, store: Box<dyn AnswerStore>) {
        self.store = Some(store);
    }

    /// Sets a second solver to confirm every `unsat`.
    pub fn confirm_with(&mut self, second: SecondSolver) {
        self.second = Some(second);
    }

    /// The second solver.
    #[must_use]
    pub fn second(&self) -> Option<&SecondSolver> {
        self.second.as_ref()
    }

    /// Number of queries.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Returns `true` if it stopped answering, other than at the end of the time.
    pub fn is_dead(&self) -> bool {
        self.failed
    }

    /// Sends commands that give one line, and returns it. Any other output (such as an error) invalidates the answer.
    /// It waits for an end marker, so that no answer is taken for that to another query.
    fn ask(&mut self, text: &str) -> Option<String> {
        self.ask_within(text, SILENCE)
    }

    fn ask_within(&mut self, text: &str, limit: Duration) -> Option<String> {
        let mut begun = Instant::now();
        let process = self.child.as_ref().map(Child::id);
        let first = process.and_then(processor_time).unwrap_or_default();
        let mut used = first;
        self.sent += 1;
        let end = format!("end {}", self.sent);
        let text = format!("{text}(echo \"{end}\")\n");
        let sent = self.input.send(text);
        let mut answer_lines: Vec<String> = Vec::new();
        loop {
            let wait = left(limit.saturating_sub(begun.elapsed()));
            match sent.as_ref().ok().and_then(|()| self.lines.recv_timeout(wait).ok()) {
                Some(line) if line == end => break,
                Some(line) if answer_lines.len() < MAX_LINES => answer_lines.push(line),
                // Other work keeps a busy machine from running the solver.
                None if is_working(process, limit, first, &mut used) => begun = Instant::now(),
                Some(_) | None => {
                    self.dead = true;
                    self.failed = !deadline::is_over();
                    self.child.iter_mut().for_each(|child| drop(child.kill()));
                    return None;
                }
            }
        }
        answer_lines.pop().filter(|_| answer_lines.is_empty())
    }

    /// Decides if all conditions can hold together, within `limit` steps of z3.
    pub fn check(&mut self, conditions: &[Formula], limit: u64) -> Answer {
        if self.dead {
            return Answer::Unknown;
        }
        self.asked += 1;
        let question = Question::new(conditions, &[]).text;
        if let Some(answer) = self.known.get(&(limit, question.clone())) {
            return *answer;
        }
        let mut answer = self.answer(&question, limit);
        if let (Answer::Impossible, Some(second)) = (answer, &mut self.second)
            && second.disputes(&question)
        {
            answer = Answer::Disputed;
        }
        self.known.insert((limit, question), answer);
        answer
    }

    /// Returns the cached answer, or tries one strategy after the other until z3 answers.
    fn answer(&mut self, question: &str, limit: u64) -> Answer {
        let attempts = attempts(limit);
        let key = format!("{attempts:?}\n{question}");
        if let Some(answer) = self.stored_answer(&key).as_deref().and_then(Answer::parse) {
            return answer;
        }
        let mut answer = Answer::Unknown;
        for attempt in attempts {
            // Anything else is an error, which may not recur.
            let reply = self.ask(&from_reset(attempt, question));
            let Some(reply) = reply.as_deref().and_then(Answer::parse) else {
                return Answer::Unknown;
            };
            answer = reply;
            if answer != Answer::Unknown {
                break;
            }
        }
        if let Some(word) = answer.word() {
            self.store_answer(&key, word);
        }
        answer
    }

    fn stored_answer(&self, text: &str) -> Option<String> {
        self.store.as_ref()?.look_up(&self.key(text))
    }

    fn store_answer(&self, text: &str, answer: &str) {
        if let Some(store) = &self.store {
            store.store(&self.key(text), answer);
        }
    }

    /// The key of a text; another version may answer differently.
    fn key(&self, text: &str) -> String {
        format!("z3 {}\n{text}", self.version)
    }

    /// Values of `wanted` for which all conditions hold, if a model is found.
    pub fn values(
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
        let question = from_reset((Strategy::Default, limit), &text);
        let key = format!("{question}{}", wanted.concat());
        match self.stored_answer(&key) {
            Some(text) if text == NO_VALUES => return None,
            Some(text) => {
                if let Some(values) = read_values(&text, wanted.len()) {
                    return Some(values);
                }
            }
            None => {}
        }
        let answer = self.ask(&question).as_deref().and_then(Answer::parse)?;
        let values: Option<Vec<i128>> = match answer {
            Answer::Possible => wanted.iter().map(|term| read_number(&self.ask(term)?)).collect(),
            _ => None,
        };
        match &values {
            Some(values) => self.store_answer(&key, &write_values(values)),
            None if !self.dead => self.store_answer(&key, NO_VALUES),
            None => {}
        }
        values
    }
}

/// The entry if no values were found.
const NO_VALUES: &str = "none\n";

/// Writes values for storage.
fn write_values(values: &[i128]) -> String {
    values.iter().fold("sat\n".to_owned(), |text, value| format!("{text}{value}\n"))
}

/// Reads `count` values from storage.
fn read_values(text: &str, count: usize) -> Option<Vec<i128>> {
    let values = text.strip_prefix("sat\n")?.lines().map(|line| line.parse().ok());
    values.collect::<Option<Vec<i128>>>().filter(|values| values.len() == count)
}

/// Reads a number in z3's notation.
fn read_number(text: &str) -> Option<i128> {
    match text.strip_prefix("(- ") {
        Some(rest) => rest.strip_suffix(')')?.parse::<i128>().ok()?.checked_neg(),
        None => text.trim().parse().ok(),
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
