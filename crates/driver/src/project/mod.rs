//! `warpproof.toml`: checks and comparisons of a project, run together.
//!
//! [`load`] reads a file into a [`Project`]; `matrix.rs` makes several launches of one entry,
//! `allow.rs` says which findings are not held against a kernel, `run.rs` runs everything on all
//! processors, `sizes.rs` is about entries for all sizes, `table.rs` sums it up, `init.rs` writes a first file from what PTX tells.

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
pub use run::{Progress, RunOptions, run};

use crate::allow::Allow;
use crate::arguments::{Arguments, AssumeSpec, KernelPath, LaunchSpec};
use crate::output::is_below;
use crate::prove::Together;
use crate::{Colour, Limits, escape};
use base::SourceFile;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The name a project file has.
pub const FILE_NAME: &str = "warpproof.toml";

/// Everything a project asks for.
#[derive(Debug)]
pub struct Project {
    /// What to run, in order; an entry with a matrix is there several times.
    pub entries: Vec<Entry>,
    /// What is not held against a kernel.
    pub allowances: Vec<Allowance>,
    /// Where it is: files outside of it are read, and not quoted.
    pub folder: PathBuf,
}

/// One check or comparison.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name, with the values of its matrix: `softmax[C=128]`.
    pub name: String,
    /// What is looked at.
    pub task: Task,
    /// How.
    pub settings: Settings,
}

/// What an entry looks at.
#[derive(Clone, Debug)]
pub enum Task {
    /// One kernel.
    Check(Box<Target>),
    /// Kernels in CUDA C, for every launch and size.
    ForAllSizes(Box<ForAllSizes>),
    /// Two sides, each of which may be several steps in sequence, and what is assumed of the inputs.
    Equiv([Vec<Step>; 2], Vec<AssumeSpec>),
}

/// A step of a side.
#[derive(Clone, Debug)]
pub enum Step {
    /// A kernel and its launch.
    Launch(Box<Target>),
    /// A formula.
    Formula(FormulaText),
}

/// A formula as a project has it.
#[derive(Clone, Debug)]
pub struct FormulaText {
    /// Its text, or `@` and a file as seen from the working folder.
    pub text: String,
    /// Arguments of its own.
    pub arguments: Arguments,
}

/// A kernel in CUDA C, or a reference and an optimised one.
#[derive(Clone, Debug)]
pub struct ForAllSizes {
    /// One of `[[prove]]`, two of `[[equiv]]`; the files as seen from the working folder.
    pub kernels: Vec<KernelPath>,
    /// `-D`
    pub defines: Vec<String>,
    /// Not `--no-compare`.
    pub compares: bool,
    /// How two kernels belong together.
    pub together: Together,
}

/// A kernel and its launch.
#[derive(Clone, Debug)]
pub struct Target {
    /// The kernel; the file as seen from the working folder.
    pub kernel: KernelPath,
    /// The launch flags.
    pub launch: LaunchSpec,
    /// The arguments.
    pub arguments: Arguments,
}

/// How an entry is looked at.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `--arch`
    pub architecture: Option<String>,
    /// `-I`, as seen from the working folder.
    pub includes: Vec<PathBuf>,
    /// `--strict`
    pub strict: bool,
    /// `--warp-synchronous`
    pub warp_synchronous: bool,
    /// `--allow`
    pub allow: Allow,
    /// Not `--no-snap`.
    pub snap: bool,
    /// What it may cost.
    pub limits: Limits,
    /// What counts as success.
    pub require: Require,
}

/// What counts as success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Require {
    /// Everything is proved.
    Proved,
    /// Nothing is refuted; what is unknown is shown and accepted.
    NotRefuted,
}

/// Why there is no project; displays as what a user is shown, with the end of its last line.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file does not exist.
    #[error("error: there is no `{0}`\nhelp: `warpproof init KERNEL.ptx` writes one\n")]
    Missing(String),
    /// The system does not give it.
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
    /// A file from elsewhere, whose lines are not quoted.
    #[error(
        "error: `{0}` is a link that leads out of its folder, and has mistakes, which are not shown\n"
    )]
    Link(String),
    /// All mistakes, rendered with their lines.
    #[error("{0}")]
    Mistakes(String),
}

/// Reads a project file: the one given, the one of a folder, or the one of the working folder.
///
/// # Errors
/// If there is none or something in it is wrong.
pub fn load(path: Option<&Path>, colour: Colour) -> Result<Project, LoadError> {
    let path = match path {
        None => PathBuf::from(FILE_NAME),
        Some(path) if path.is_dir() => path.join(FILE_NAME),
        Some(path) => path.to_path_buf(),
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => LoadError::Missing(name.clone()),
        _ => LoadError::Unreadable { name: name.clone(), error },
    })?;
    let source = SourceFile::new(name, text).ok_or(LoadError::TooLarge)?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let colour = colour.for_input([source.name(), source.text()]);
    read::project(&source, &folder).map_err(|problems| {
        if !is_below(&path, &folder) {
            return LoadError::Link(source.name().to_owned());
        }
        let text = value::render(&problems, &source, colour);
        let text = if colour == Colour::Plain { escape::plain(&text) } else { text };
        LoadError::Mistakes(text)
    })
}
