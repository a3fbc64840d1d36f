//! What `prove` is asked for.

use super::compare::Compiling;
use super::reading::Reading;
use crate::{Format, Watch};
use std::path::Path;
use std::time::Duration;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// Which kernel of the file.
    pub kernel: Option<&'o str>,
    /// Facts about loops are inferred.
    pub infers: bool,
    /// Where z3 is, if not where it is looked for.
    pub solver: Option<&'o Path>,
    /// Whether a solver may be used at all.
    pub use_solver: bool,
    /// A solver that is asked as well whatever z3 says is impossible.
    pub second_solver: Option<&'o Path>,
    /// Where answers of z3 are kept between runs.
    pub cache: Option<&'o Path>,
    /// Every launch that CUDA allows is meant, on all axes, with any number of threads; and what is not compared is not proved.
    pub strict: bool,
    /// How long it may take.
    pub time: Option<Duration>,
    /// Launches that are run at once.
    pub jobs: usize,
    /// Who may end it.
    pub watch: Option<&'static Watch>,
    /// How the text is compiled, to compare our reading of it; nothing if it is not to be.
    pub compiling: Option<&'o Compiling>,
    /// Macros, folders of headers and the architecture.
    pub reading: &'o Reading,
    /// How results are written.
    pub format: Format,
}
