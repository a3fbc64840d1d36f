//! Finds z3: as given, as named by `WARPPROOF_Z3`, or on the path. Its earlier answers are kept in the cache.

use super::options::Options;
use crate::cuda::cache::{self, SOLVER_FOLDER};
use crate::cuda::locate::folders;
use smt::Solver;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The first version of z3 that decides most queries; older ones leave many open.
pub(super) const MIN_SOLVER: u32 = 5;

/// The reason why there is no solver; displays as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum NoSolver {
    #[error("the solver is turned off")]
    Unwanted,
    #[error("z3 was not found")]
    NotFound,
    /// It prints its version, but answers no query.
    #[error("z3 {0} does not answer a test question")]
    DoesNotAnswer(String),
    /// It does not start, or is another program.
    #[error(transparent)]
    Broken(smt::SolverError),
}

/// A solver, or the reason why there is none. Fails if a solver was named that cannot be used.
pub(super) fn start_solver(
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
            solver.use_store(Box::new(CachedAnswers(folder.join(SOLVER_FOLDER))));
        }
        if let Some(path) = options.second_solver {
            solver.confirm_with(smt::SecondSolver::start(path).map_err(NoSolver::Broken)?);
        }
    }
    Ok(found)
}

/// Summarises the second solver's check of z3's proofs.
pub(super) fn second_solver_note(second: &smt::SecondSolver) -> String {
    let smt::SecondSolver { sent, confirmed, disputed, .. } = second;
    let disputed = match disputed {
        0 => String::new(),
        count => format!("; it contradicts {count}, which were not used"),
    };
    format!("results of z3 confirmed by {}: {confirmed} of {sent}{disputed}", second.name())
}

/// The version of the z3 that would be used.
pub(crate) fn solver_version() -> Result<String, NoSolver> {
    let mut solver = find(None)?;
    let version = solver.version().to_owned();
    if solver.works() { Ok(version) } else { Err(NoSolver::DoesNotAnswer(version)) }
}

/// Returns `true` if a version of z3 is known to leave queries open: 4.8 does so for one in eight that 5.4 answers.
pub(crate) fn is_old(version: &str) -> bool {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_none_or(|major| major < MIN_SOLVER)
}

/// The note that questions stay open without a solver.
pub(super) fn needs_solver(reason: &NoSolver) -> String {
    format!(
        "{reason}; some questions need it (`pip install \"z3-solver>=5\"` installs it; then give \
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

/// The folder of the cache with z3's answers.
#[derive(Debug)]
struct CachedAnswers(PathBuf);

impl smt::AnswerStore for CachedAnswers {
    fn look_up(&self, question: &str) -> Option<String> {
        cache::look_up(Some(&self.0), "answer", question)
    }

    fn store(&self, question: &str, answer: &str) {
        cache::store(Some(&self.0), "answer", question, answer);
    }
}
