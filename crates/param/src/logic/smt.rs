//! Questions for z3, as SMT-LIB text over a pipe.
//!
//! One process answers all questions. Most are easy, and to begin anew for each (`(reset)`) would cost more than they do:
//! a question is first asked with few steps in a scope of its own. If that does not settle it, it is asked again after a
//! `(reset)`, where the answer depends on nothing before; so are all questions for values. A question is bounded
//! by z3's own count of steps (`rlimit`), so that the answer does not depend on the machine; the clock is only looked at to
//! notice a solver that died. Integers alone are asked about: no quantifiers, no arrays, no bit-vectors.

use super::formula::Formula;
use super::poly::{Poly, Sym};
use super::second::Second;
use crate::deadline::left;
use base::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use thiserror::Error;

/// Steps of z3 for one question; a hopeless one stops after about a second.
pub(crate) const RLIMIT: u64 = 3_000_000;
/// Steps of the first attempt, which begins where the question before ended: as many as a `(reset)` takes time.
const WARM_RLIMIT: u64 = 10_000;
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

    /// Whether all conditions can hold together.
    pub(crate) fn check(&mut self, conditions: &[Formula], limit: u64) -> Answer {
        if self.dead {
            return Answer::Unknown;
        }
        self.asked += 1;
        let question = question(conditions, &[]);
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

    /// The answer that was kept, or a new one. Only those that are definite are kept.
    fn answered(&mut self, question: &str, limit: u64) -> Answer {
        let kept = anew(question, limit);
        match self.kept(&kept).as_deref() {
            Some("unsat") => return Answer::Impossible,
            Some("sat") => return Answer::Possible,
            _ => {}
        }
        let scoped = format!("(push)\n(set-option :rlimit {WARM_RLIMIT})\n{question}(pop)\n");
        let mut answer = self.answer(&scoped);
        if answer == Answer::Unknown && !self.dead {
            // Nothing of it may be left for the next one.
            answer = self.answer(&format!("{kept}(reset)\n"));
        }
        match answer {
            Answer::Impossible => self.keep(&kept, "unsat"),
            Answer::Possible => self.keep(&kept, "sat"),
            Answer::Unknown | Answer::Disputed => {}
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

    fn answer(&mut self, text: &str) -> Answer {
        match self.ask(text).as_deref() {
            Some("unsat") => Answer::Impossible,
            Some("sat") => Answer::Possible,
            _ => Answer::Unknown,
        }
    }
}

/// A question that nothing before bears on.
fn anew(question: &str, limit: u64) -> String {
    format!("(reset)\n(set-option :rlimit {limit})\n{question}")
}

impl Solver {
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
        let question = anew(&question(conditions, wanted), limit);
        let terms: Vec<String> =
            wanted.iter().map(|poly| format!("(eval {})\n", term(poly))).collect();
        let key = format!("{question}{}", terms.concat());
        if let Some(values) = self.kept(&key).and_then(|text| read_values(&text, wanted.len())) {
            return Some(values);
        }
        let values: Option<Vec<i128>> = match self.ask(&question).as_deref() {
            Some("sat") => terms.iter().map(|term| read_number(&self.ask(term)?)).collect(),
            _ => None,
        };
        let _ = self.ask("(reset)\n");
        if let Some(values) = &values {
            self.keep(&key, &write_values(values));
        }
        values
    }
}

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

/// Powers of two that are compared with each other.
const MAX_COMPARED: usize = 4;

/// The text of a question.
fn question(conditions: &[Formula], wanted: &[Poly]) -> String {
    let mut text = String::new();
    let wanted = wanted.iter().flat_map(Poly::symbols);
    let symbols: BTreeSet<Sym> =
        conditions.iter().flat_map(Formula::symbols).chain(wanted).collect();
    for sym in symbols {
        let _ = writeln!(text, "(declare-const s{} Int)", sym.position());
    }
    let powers = powers(conditions);
    if !powers.is_empty() {
        text.push_str("(declare-fun pow2 (Int) Bool)\n");
    }
    for power in &powers {
        let _ = writeln!(text, "(assert (=> (pow2 {0}) (>= {0} 1)))", term(power));
        if power.terms().all(|(_, coefficient)| coefficient % 2 == 0) {
            let half = power.split(&[], 2).0;
            let _ = writeln!(text, "(assert (= (pow2 {}) (pow2 {})))", term(power), term(&half));
        }
        if let Some(value) = power.as_constant() {
            let holds = value > 0 && value & (value - 1) == 0;
            let _ = writeln!(text, "(assert (= (pow2 {}) {holds}))", term(power));
        }
    }
    // Of two powers of two the greater is at least twice the lesser. Pairs are many, so only a few are told.
    for (number, one) in powers.iter().enumerate().take(MAX_COMPARED) {
        for other in powers.iter().skip(number + 1).take(MAX_COMPARED) {
            for (less, more) in [(one, other), (other, one)] {
                let (less, more) = (term(less), term(more));
                let both = format!("(and (pow2 {less}) (pow2 {more}) (< {less} {more}))");
                let _ = writeln!(text, "(assert (=> {both} (<= (* 2 {less}) {more})))");
            }
        }
    }
    for condition in conditions {
        let mut inner = String::new();
        write_formula(condition, &mut inner);
        let _ = writeln!(text, "(assert {inner})");
    }
    text.push_str("(check-sat)\n");
    text
}

/// Polynomials said to be powers of two, and their halves.
fn powers(conditions: &[Formula]) -> BTreeSet<Poly> {
    fn collect(formula: &Formula, found: &mut BTreeSet<Poly>) {
        match formula {
            Formula::Pow2(poly) => {
                found.insert(poly.clone());
            }
            Formula::Not(inner) => collect(inner, found),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| collect(part, found));
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    conditions.iter().for_each(|condition| collect(condition, &mut found));
    found
}

fn write_formula(formula: &Formula, out: &mut String) {
    let (name, parts) = match formula {
        Formula::True => return out.push_str("true"),
        Formula::False => return out.push_str("false"),
        Formula::Ge(poly) => {
            let _ = write!(out, "(>= {} 0)", term(poly));
            return;
        }
        Formula::Eq(poly) => {
            let _ = write!(out, "(= {} 0)", term(poly));
            return;
        }
        Formula::Pow2(poly) => {
            let _ = write!(out, "(pow2 {})", term(poly));
            return;
        }
        Formula::Not(inner) => ("not", std::slice::from_ref(&**inner)),
        Formula::And(parts) => ("and", &parts[..]),
        Formula::Or(parts) => ("or", &parts[..]),
    };
    let _ = write!(out, "({name}");
    for part in parts {
        out.push(' ');
        write_formula(part, out);
    }
    out.push(')');
}

fn number(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

fn term(poly: &Poly) -> String {
    let mut parts = Vec::new();
    for (monomial, coefficient) in poly.terms() {
        let mut factors = Vec::new();
        if coefficient != 1 || monomial.is_empty() {
            factors.push(number(coefficient));
        }
        for (sym, power) in monomial {
            for _ in 0..*power {
                factors.push(format!("s{}", sym.position()));
            }
        }
        parts.push(match &factors[..] {
            [one] => one.clone(),
            _ => format!("(* {})", factors.join(" ")),
        });
    }
    match &parts[..] {
        [] => "0".to_owned(),
        [one] => one.clone(),
        _ => format!("(+ {})", parts.join(" ")),
    }
}
