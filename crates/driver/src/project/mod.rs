//! `warpproof.toml`: checks and comparisons of a project, run together.
//!
//! [`load`] reads a file into a [`Project`]. `matrix.rs` makes several launches of one entry, `allow.rs` applies
//! allowances to findings, `run.rs` runs everything on all processors, `sizes.rs` runs entries for all sizes,
//! `table.rs` prints the summary, `init.rs` writes a first file from facts in the PTX.

mod allow;
mod date;
mod init;
mod matrix;
mod read;
mod run;
mod sizes;
mod steps;
mod table;
mod value;

pub use allow::Allowance;
pub use date::Date;
pub use init::{Init, init};
pub use read::keys;
pub use run::{Progress, RunOptions, run_each};

use crate::allow::Allow;
use crate::arguments::{Arguments, AssumeSpec, KernelPath, LaunchSpec, PartSpec};
use crate::bounded;
use crate::output::is_below;
use crate::prove::Correspondence;
use crate::{Colour, Limits, escape};
use base::SourceFile;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The name of a project file.
pub const FILE_NAME: &str = "warpproof.toml";

/// The entries and allowances of a project.
#[derive(Debug)]
pub struct Project {
    /// The entries in order. An entry with a matrix occurs several times.
    pub entries: Vec<Entry>,
    /// Findings that are accepted.
    pub allowances: Vec<Allowance>,
    /// The project's folder. Files outside of it are read, and not quoted.
    pub folder: PathBuf,
}

/// One check or comparison.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name, with the values of its matrix: `softmax[C=128]`.
    pub name: String,
    /// The kernels of the entry.
    pub task: Task,
    /// The options of their checks.
    pub settings: Settings,
}

impl Entry {
    /// Returns the files with kernels that it names, as seen from the working folder.
    #[must_use]
    pub fn files(&self) -> Vec<&str> {
        let kernels: Vec<&KernelPath> = match &self.task {
            Task::Check(target) => vec![&target.kernel],
            Task::ForAllSizes(of) => of.kernels.iter().collect(),
            Task::Equiv(sides, _) => {
                let launches = sides.iter().flatten().filter_map(|step| match step {
                    Step::Launch(target) => Some(&target.kernel),
                    Step::Formula(_) => None,
                });
                launches.collect()
            }
        };
        kernels.into_iter().map(|kernel| kernel.file.as_str()).collect()
    }
}

/// The kernels of an entry.
#[derive(Clone, Debug)]
pub enum Task {
    /// One kernel.
    Check(Box<Target>),
    /// Kernels in CUDA C, for every launch and size.
    ForAllSizes(Box<ForAllSizes>),
    /// Two sides, each of one or several steps in sequence.
    Equiv([Vec<Step>; 2], Comparison),
}

/// What is compared, and for which inputs.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Conditions on the inputs.
    pub assumptions: Vec<AssumeSpec>,
    /// Outputs, or parts of them, that are compared; all if empty.
    pub parts: Vec<PartSpec>,
}

/// A step of a side.
#[derive(Clone, Debug)]
pub enum Step {
    /// A kernel and its launch.
    Launch(Box<Target>),
    /// A formula.
    Formula(FormulaText),
}

/// A formula as written in a project.
#[derive(Clone, Debug)]
pub struct FormulaText {
    /// Its text, or `@` and a file relative to the working folder.
    pub text: String,
    /// Arguments of its own.
    pub arguments: Arguments,
}

/// A kernel in CUDA C, or a reference and an optimised one.
#[derive(Clone, Debug)]
pub struct ForAllSizes {
    /// One of `[[prove]]`, two of `[[equiv]]`; files relative to the working folder.
    pub kernels: Vec<KernelPath>,
    /// `-D`
    pub defines: Vec<String>,
    /// Compare our reading with a compiler's (off with `--no-compare`).
    pub compares: bool,
    /// The correspondence of the two kernels, and preconditions on launches.
    pub correspondence: Correspondence,
    /// A formula of the outputs of a kernel: its text, or `@` and a file relative to the working folder.
    pub ensures: Option<String>,
    /// Tensors of the formula and their sizes: `C=f32[m,n]`.
    pub arguments: Vec<String>,
}

/// A kernel and its launch.
#[derive(Clone, Debug)]
pub struct Target {
    /// The kernel; its file is relative to the working folder.
    pub kernel: KernelPath,
    /// The launch flags.
    pub launch: LaunchSpec,
    /// The arguments.
    pub arguments: Arguments,
}

/// The options of an entry.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `--arch`
    pub architecture: Option<String>,
    /// `-I`, relative to the working folder.
    pub includes: Vec<PathBuf>,
    /// `--strict`
    pub strict: bool,
    /// `--warp-synchronous`
    pub warp_synchronous: bool,
    /// `--allow`
    pub allow: Allow,
    /// Recognise constants such as log2(e) (off with `--no-snap`).
    pub snap: bool,
    /// Its budget.
    pub limits: Limits,
    /// Verdicts that count as success.
    pub require: Require,
}

/// Verdicts that count as success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Require {
    /// Everything is proved.
    Proved,
    /// Nothing is refuted; unknown properties are shown and accepted.
    NotRefuted,
}

/// The reason why there is no project; displays as the message to the user, with the end of its last line.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file does not exist.
    #[error("error: there is no `{0}`\nhelp: `warpproof init KERNEL.ptx` writes one\n")]
    Missing(String),
    /// The system cannot read it.
    #[error("error: `{name}` cannot be read: {error}\n")]
    Unreadable {
        /// Its path.
        name: String,
        /// The system's message.
        error: std::io::Error,
    },
    /// Spans have 32 bits.
    #[error("error: the file exceeds 4 GiB\n")]
    TooLarge,
    /// A file from elsewhere; its lines are not quoted.
    #[error(
        "error: `{0}` is a link to a file outside its folder, and has mistakes, which are not shown\n"
    )]
    Link(String),
    /// All mistakes, rendered with their lines.
    #[error("{0}")]
    Mistakes(String),
}

/// Reads a project file: the one given, the one of a folder, or the one of the working folder.
///
/// # Errors
/// If there is no file or it has a mistake.
pub fn load(path: Option<&Path>, colour: Colour) -> Result<Project, LoadError> {
    let path = match path {
        None => PathBuf::from(FILE_NAME),
        Some(path) if path.is_dir() => path.join(FILE_NAME),
        Some(path) => path.to_path_buf(),
    };
    let name = path.display().to_string();
    let text = bounded::read_text(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => LoadError::Missing(name.clone()),
        _ => LoadError::Unreadable { name: name.clone(), error },
    })?;
    of_text(&path, text, colour)
}

/// Takes the text of a project file, whose paths are relative to the folder of the file.
///
/// # Errors
/// If something in it is wrong.
pub fn of_text(path: &Path, text: String, colour: Colour) -> Result<Project, LoadError> {
    let name = path.display().to_string();
    let source = SourceFile::new(name, text).ok_or(LoadError::TooLarge)?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let colour = colour.for_input([source.name(), source.text()]);
    read::project(&source, &folder).map_err(|problems| {
        if !is_below(path, &folder) {
            return LoadError::Link(source.name().to_owned());
        }
        let text = value::render(&problems, &source, colour);
        let text = if colour == Colour::Plain { escape::plain(&text) } else { text };
        LoadError::Mistakes(text)
    })
}
