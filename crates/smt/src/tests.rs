//! Tests of the interface to solvers: the text sent to them, and the interpretation of their answers. The solvers are
//! shell scripts, so that the tests need no z3.

use crate::second_solver::SecondSolver;
use crate::solver::{Answer, AnswerStore, RLIMIT, Solver};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use base::Index;
use std::path::PathBuf;

/// A temporary folder, removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("warpproof-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// Creates a program with this body. A shell writes it: a file that this process has open for writing may stay
    /// open in a child of another test, and then it cannot be executed.
    pub(crate) fn program(&self, name: &str, body: &str) -> PathBuf {
        use std::process::Command;
        let (path, draft) = (self.0.join(name), self.0.join("draft"));
        std::fs::write(&draft, format!("#!/bin/sh\n{body}\n")).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat \"$0\" > \"$1\" && chmod 755 \"$1\""]).args([&draft, &path]);
        assert!(shell.status().unwrap().success());
        path
    }

    /// A z3 that answers every query with these lines and logs its input.
    pub(crate) fn z3(&self, lines: &str) -> PathBuf {
        let log = self.0.join("log");
        let body = format!(
            "while read -r line; do printf '%s\\n' \"$line\" >> '{}'; case \"$line\" in\n\
             '(get-info :version)') echo '(:version \"5.4.0\")';;\n\
             '(check-sat)') printf '{lines}\\n';;\n\
             '(eval '*) echo 7;;\n\
             '(echo '*) line=\"${{line#*\\\"}}\"; echo \"${{line%%\\\"*}}\";;\n\
             esac; done",
            log.display()
        );
        self.program("z3", &body)
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.0.join("log")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The condition that a symbol is at least this.
pub(crate) fn at_least(least: i128) -> Vec<Formula> {
    vec![Formula::ge(Poly::symbol(Sym::from_position(0)).offset(-least).unwrap())]
}

#[test]
fn an_answer_with_anything_beside_it_is_none() {
    let cases = [
        ("unsat", Answer::Impossible),
        ("sat", Answer::Possible),
        ("unknown", Answer::Unknown),
        ("(error \"x\")\\nunsat", Answer::Unknown),
        ("unsat\\n(error \"x\")", Answer::Unknown),
        ("sat\\nunsat", Answer::Unknown),
    ];
    for (number, (lines, expected)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("lines-{number}"));
        let mut solver = Solver::start(&folder.z3(lines)).unwrap();
        assert_eq!(solver.check(&at_least(1), 1000), expected, "{lines}");
        assert_eq!(solver.check(&at_least(2), 1000), expected, "{lines}");
    }
}

/// The strategies of a query, and the assertions present at each attempt.
#[test]
fn nothing_is_left_of_a_question() {
    let folder = Folder::new("scopes");
    let mut solver = Solver::start(&folder.z3("unknown")).unwrap();
    for (least, limit) in [(1, 1000), (1, 1000), (2, 300_000), (3, RLIMIT)] {
        assert_eq!(solver.check(&at_least(least), limit), Answer::Unknown);
    }
    // One attempt, two and three; the repeated query is not sent.
    let log = folder.log();
    let limits = log.lines().filter(|line| line.starts_with("(set-option :rlimit"));
    let limits: Vec<&str> = limits.filter_map(|line| line.split([' ', ')']).nth(2)).collect();
    assert_eq!(limits, ["1000", "100000", "300000", "100000", "3000000", "3000000"]);
    let mut asserted = 0;
    for line in log.lines() {
        match line {
            "(reset)" => asserted = 0,
            "(check-sat)" => assert_eq!(asserted, 1),
            _ => asserted += usize::from(line.starts_with("(assert")),
        }
    }
}

#[test]
fn values_are_asked_for_anew() {
    let folder = Folder::new("values");
    let mut solver = Solver::start(&folder.z3("sat")).unwrap();
    let wanted = [Poly::symbol(Sym::from_position(0))];
    assert_eq!(solver.values(&at_least(1), &wanted, 1000), Some(vec![7]));
    assert!(!folder.log().contains("(push)"));
    assert_eq!(folder.log().matches("(reset)").count(), 1);
}

/// Answers in memory.
#[derive(Clone, Debug, Default)]
struct Notebook(std::sync::Arc<std::sync::Mutex<std::collections::BTreeMap<String, String>>>);

impl AnswerStore for Notebook {
    fn look_up(&self, question: &str) -> Option<String> {
        self.0.lock().unwrap().get(question).cloned()
    }

    fn store(&self, question: &str, answer: &str) {
        self.0.lock().unwrap().insert(question.to_owned(), answer.to_owned());
    }
}

/// Sends a check and a query for values to a new solver that prints `lines`. Returns both answers, and the number of
/// `(check-sat)` that it got.
fn check_and_values(
    lines: &str,
    notebook: &Notebook,
    name: &str,
) -> (Answer, Option<Vec<i128>>, usize) {
    let folder = Folder::new(name);
    let mut solver = Solver::start(&folder.z3(lines)).unwrap();
    solver.use_store(Box::new(notebook.clone()));
    let answer = solver.check(&at_least(1), 1000);
    let values = solver.values(&at_least(3), &[Poly::symbol(Sym::from_position(0))], 1000);
    (answer, values, folder.log().matches("(check-sat)").count())
}

/// A solver with another history would give the same answer, so any answer is kept, "unknown" too; an error is not.
#[test]
fn answers_are_kept() {
    let silent = Notebook::default();
    assert_eq!(check_and_values("(error \"x\")", &silent, "kept-0"), (Answer::Unknown, None, 2));
    assert!(silent.0.lock().unwrap().is_empty());
    let unknown = Notebook::default();
    assert_eq!(check_and_values("unknown", &unknown, "kept-1"), (Answer::Unknown, None, 2));
    assert_eq!(check_and_values("sat", &unknown, "kept-1b"), (Answer::Unknown, None, 0));
    let notebook = Notebook::default();
    assert_eq!(check_and_values("sat", &notebook, "kept-2"), (Answer::Possible, Some(vec![7]), 2));
    // The answer comes from the cache: this solver would answer otherwise.
    assert_eq!(
        check_and_values("unsat", &notebook, "kept-3"),
        (Answer::Possible, Some(vec![7]), 0)
    );
    let keys: Vec<String> = notebook.0.lock().unwrap().keys().cloned().collect();
    assert!(keys.iter().all(|key| key.starts_with("z3 5.4.0\n") && key.contains("1000")));
    // An invalid entry is treated as missing.
    for key in keys {
        notebook.store(&key, "sat\n1\n2");
    }
    assert_eq!(check_and_values("sat", &notebook, "kept-4"), (Answer::Possible, Some(vec![7]), 2));
    let folder = Folder::new("kept-5");
    let mut solver = Solver::start(&folder.z3("unsat")).unwrap();
    solver.use_store(Box::new(notebook));
    assert_eq!(solver.check(&at_least(2), 1000), Answer::Impossible, "another question");
    assert_eq!(solver.check(&at_least(1), 2000), Answer::Impossible, "another limit");
}

#[test]
fn a_second_solver_confirms_or_disputes() {
    let cases = [
        ("unsat", "echo unsat", Answer::Impossible, (2, 2, 0)),
        ("unsat", "echo unknown", Answer::Impossible, (2, 0, 0)),
        ("unsat", "echo sat", Answer::Disputed, (2, 0, 2)),
        ("sat", "echo unsat", Answer::Possible, (0, 0, 0)),
        ("unknown", "echo unsat", Answer::Unknown, (0, 0, 0)),
    ];
    for (number, (first, second, expected, counts)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("second-{number}"));
        let mut solver = Solver::start(&folder.z3(first)).unwrap();
        let other =
            folder.program("cvc5", &format!("cat > '{}'/asked; {second}", folder.0.display()));
        solver.confirm_with(SecondSolver::start(&other).unwrap());
        for least in [1, 2, 2] {
            assert_eq!(solver.check(&at_least(least), 1000), expected, "{first} {second}");
        }
        let SecondSolver { sent, confirmed, disputed, .. } = solver.second().unwrap();
        assert_eq!((*sent, *confirmed, *disputed), counts, "{first} {second}");
        if counts.0 > 0 {
            let asked = std::fs::read_to_string(folder.0.join("asked")).unwrap();
            assert!(asked.starts_with("(set-logic ALL)\n(declare-const s0 Int)\n"), "{asked}");
            assert!(asked.ends_with("(assert (>= (+ (- 2) s0) 0))\n(check-sat)\n"), "{asked}");
        }
    }
    let folder = Folder::new("second-none");
    assert!(SecondSolver::start(&folder.program("cvc5", "echo hello")).is_err());
    assert!(SecondSolver::start(&folder.0.join("nothing")).is_err());
}

/// Programs that hang, print for ever, read nothing or die: each is given up in bounded time and in bounded memory.
#[test]
fn a_solver_that_misbehaves_is_given_up() {
    let begins = "read -r line; read -r line; echo '(:version \"5.4.0\")'; echo 'end 1'";
    let folder = Folder::new("misbehaves");
    for (number, body) in ["yes", "yes | tr -d '\\n'", "exit 1", "kill -9 $$", "cat /dev/zero"]
        .into_iter()
        .enumerate()
    {
        let body = format!("{begins}; {body}");
        let mut solver = Solver::start(&folder.program(&format!("z3-{number}"), &body)).unwrap();
        assert_eq!(solver.check(&at_least(1), 1000), Answer::Unknown, "{body}");
        assert!(solver.is_dead(), "{body}");
        assert_eq!(solver.check(&at_least(2), 1000), Answer::Unknown, "{body}");
    }
    for body in ["yes", "exit 0", "cat /dev/zero"] {
        assert!(Solver::start(&folder.program("no-z3", body)).is_err(), "{body}");
        assert!(SecondSolver::start(&folder.program("no-cvc5", body)).is_err(), "{body}");
    }
}
