//! What is said to a solver, and what its lines are taken for. Solvers are shell scripts here, so that none is needed.

use super::formula::Formula;
use super::poly::{Poly, Sym};
use super::smt::{Answer, Solver};
use base::Index;
use std::path::PathBuf;

/// A folder of its own, gone at the end.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("warpproof-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// A program that does this.
    pub(super) fn program(&self, name: &str, body: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A z3 that answers every question with these lines and keeps what it was sent.
    pub(super) fn z3(&self, lines: &str) -> PathBuf {
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

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.0.join("log")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// That a symbol is at least this.
pub(super) fn at_least(least: i128) -> Vec<Formula> {
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

#[test]
fn nothing_is_left_of_a_question() {
    let folder = Folder::new("scopes");
    let mut solver = Solver::start(&folder.z3("unknown")).unwrap();
    assert_eq!(solver.check(&at_least(1), 1000), Answer::Unknown);
    assert_eq!(solver.check(&at_least(1), 1000), Answer::Unknown);
    assert_eq!(solver.check(&at_least(2), 1000), Answer::Unknown);
    // Twice for each of two questions, the repeated one not at all; what is asserted goes with its scope.
    let log = folder.log();
    assert_eq!(log.matches("(check-sat)").count(), 4);
    let mut depth = 0;
    let mut asserted: Vec<u32> = Vec::new();
    for line in log.lines() {
        match line {
            "(push)" => depth += 1,
            "(pop)" => {
                depth -= 1;
                asserted.retain(|one| *one <= depth);
            }
            "(reset)" => asserted.clear(),
            "(check-sat)" => assert_eq!(asserted.len(), 1),
            _ if line.starts_with("(assert") => asserted.push(depth),
            _ => {}
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
    assert_eq!(folder.log().matches("(reset)").count(), 2);
}
