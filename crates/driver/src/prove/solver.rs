//! Where z3 is: given, named by `WARPPROOF_Z3`, or on the path. What it said before is kept in the cache.

use crate::cuda::cache;
use crate::cuda::locate::folders;
use param::Solver;
use std::path::{Path, PathBuf};

/// Starts z3.
pub(super) fn find(given: Option<&Path>) -> Result<Solver, String> {
    if let Some(given) = given {
        return Solver::start(given);
    }
    if let Some(named) = std::env::var_os("WARPPROOF_Z3").filter(|named| !named.is_empty()) {
        return Solver::start(&PathBuf::from(named));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        folders(&path).into_iter().map(|folder| folder.join("z3")).find(|one| one.is_file());
    match found {
        Some(found) => Solver::start(&found),
        None => Err("there is no z3".to_owned()),
    }
}

/// Answers in a folder of the cache.
#[derive(Debug)]
pub(super) struct Kept(pub(super) PathBuf);

impl param::Memory for Kept {
    fn look_up(&self, question: &str) -> Option<String> {
        cache::look_up(Some(&self.0), "answer", question)
    }

    fn keep(&self, question: &str, answer: &str) {
        cache::store(Some(&self.0), "answer", question, answer);
    }
}
