//! Options of `prove`.

use super::compare::Compiling;
use super::contract::Contract;
use super::reading::Reading;
use crate::{Format, Watch};
use std::path::Path;
use std::time::Duration;

/// The options of a proof.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// The kernel of the file; `None` for all.
    pub kernel: Option<&'o str>,
    /// Infer facts about loops.
    pub infers: bool,
    /// The path of z3; `None` to search for it.
    pub solver: Option<&'o Path>,
    /// A solver may be used.
    pub use_solver: bool,
    /// A second solver that rechecks z3's `unsat` answers.
    pub second_solver: Option<&'o Path>,
    /// The folder with cached answers of z3.
    pub cache: Option<&'o Path>,
    /// Prove every launch that CUDA allows, on all axes, with any number of threads. A kernel without a comparison of
    /// readings is then not proved.
    pub strict: bool,
    /// The time limit.
    pub time: Option<Duration>,
    /// The number of launches run in parallel.
    pub jobs: usize,
    /// Cancels the proof.
    pub watch: Option<&'static Watch>,
    /// Options for compiling the text, to compare our reading with the compiler's; `None` for no comparison.
    pub compiling: Option<&'o Compiling>,
    /// Macros, folders of headers and the architecture.
    pub reading: &'o Reading,
    /// Claims and preconditions in addition to the clauses of the file.
    pub contract: Option<&'o Contract>,
    /// The format of results.
    pub format: Format,
}
