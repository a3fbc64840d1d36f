//! Where z3 is: given, named by `WARPPROOF_Z3`, or on the path. What it said before is kept in the cache.

use super::options::Options;
use crate::cuda::cache::{self, SOLVER_FOLDER};
use crate::cuda::locate::folders;
use param::Solver;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The first version of z3 that answers well.
pub(super) const MIN_SOLVER: u32 = 5;

/// Why there is no solver; displays as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum NoSolver {
    #[error("no solver was to be used")]
    Unwanted,
    #[error("there is no z3")]
    NotFound,
    /// It does not start, or is something else.
    #[error(transparent)]
    Broken(param::SolverError),
}

/// A solver, or why there is none; an error if one was named that cannot be had.
pub(super) fn wanted(
    options: &Options<'_>,
) -> Result<(Option<Solver>, Option<NoSolver>), NoSolver> {
    let found = match options.use_solver.then(|| find(options.solver)) {
        Some(Ok(found)) => (Some(found), None),
        Some(Err(reason)) => (None, Some(reason)),
        None => (None, Some(NoSolver::Unwanted)),
    };
    let mut found = match (options.solver, found) {
        (Some(_), (None, Some(reason))) => return Err(reason),
        (_, found) => found,
    };
    if let Some(solver) = &mut found.0 {
        if let Some(folder) = options.cache {
            solver.remember(Box::new(Kept(folder.join(SOLVER_FOLDER))));
        }
        if let Some(path) = options.second_solver {
            solver.confirm_with(param::Second::start(path).map_err(NoSolver::Broken)?);
        }
    }
    Ok(found)
}

/// What the second solver says of z3's proofs.
pub(super) fn confirmed(second: &param::Second) -> String {
    let param::Second { asked, confirmed, disputed, .. } = second;
    let disputed = match disputed {
        0 => String::new(),
        count => format!("; it contradicts {count}, which are not used"),
    };
    format!("what z3 showed, confirmed by {}: {confirmed} of {asked}{disputed}", second.name())
}

/// The version of the z3 that would be asked.
pub(crate) fn solver_version() -> Result<String, NoSolver> {
    find(None).map(|solver| solver.version().to_owned())
}

/// Whether a z3 is one that loses answers: 4.8 leaves one question in eight open that 5.4 answers.
pub(crate) fn is_old(version: &str) -> bool {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_none_or(|major| major < MIN_SOLVER)
}

/// That questions stay open for want of a solver.
pub(super) fn needs_solver(reason: &NoSolver) -> String {
    format!(
        "{reason}; some questions need one (`pip install \"z3-solver>=5\"` brings z3, then give \
         --solver or set WARPPROOF_Z3)"
    )
}

/// Starts z3.
fn find(given: Option<&Path>) -> Result<Solver, NoSolver> {
    if let Some(given) = given {
        return Solver::start(given).map_err(NoSolver::Broken);
    }
    if let Some(named) = std::env::var_os("WARPPROOF_Z3").filter(|named| !named.is_empty()) {
        return Solver::start(&PathBuf::from(named)).map_err(NoSolver::Broken);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        folders(&path).into_iter().map(|folder| folder.join("z3")).find(|one| one.is_file());
    match found {
        Some(found) => Solver::start(&found).map_err(NoSolver::Broken),
        None => Err(NoSolver::NotFound),
    }
}

/// Answers in a folder of the cache.
#[derive(Debug)]
struct Kept(PathBuf);

impl param::Memory for Kept {
    fn look_up(&self, question: &str) -> Option<String> {
        cache::look_up(Some(&self.0), "answer", question)
    }

    fn keep(&self, question: &str, answer: &str) {
        cache::store(Some(&self.0), "answer", question, answer);
    }
}
