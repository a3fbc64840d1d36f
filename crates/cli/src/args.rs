//! The command line.

use crate::batch::options::{BatchArgs, WorkerArgs};
use crate::compile_args::CompileArgs;
use crate::launch_args::LaunchArgs;
use crate::limit_args::{LimitArgs, parsed_jobs};
use crate::proof_args::{EquivArgs, OutputArgs, ProveArgs, parsed_output};
use clap::{Parser, Subcommand, ValueEnum};
use driver::arguments::KernelPath;
use std::ffi::OsString;
use std::path::PathBuf;

/// The first steps, after the list of commands.
const FIRST_STEPS: &str = "\
First steps:
  warpproof demo                                           see it work
  warpproof inspect kernel.ptx                             what a file holds
  warpproof check kernel.ptx --grid 4 --block 128 --arg x=f32[512] --arg y=f32[512]:out
  warpproof prove kernel.cu                                every launch and size at once
If something is missing on a command line, you get one with everything that could be inferred.

Exit status: 0 proved, 1 refuted, 2 bad usage or input, 3 unknown, 4 a bug in warpproof.";

/// Proves GPU kernels correct.
#[derive(Debug, Parser)]
#[command(
    version = env!("CARGO_PKG_VERSION"),
    long_version = crate::version::LONG,
    about,
    long_about = None,
    after_help = FIRST_STEPS
)]
pub(crate) struct Args {
    /// When to colour the output; NO_COLOR is respected.
    #[arg(
        long = "color",
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output",
        display_order = 1000
    )]
    pub(crate) colour: Colour,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check one launch of a kernel for races, misused barriers, deadlocks and memory errors.
    Check(CheckArgs),
    /// Prove that an optimised kernel computes the same as its reference, for one launch of each.
    Equiv(Box<EquivArgs>),
    /// Prove a CUDA C kernel for every launch and size: races, barriers, bounds, overflow.
    Prove(ProveArgs),
    /// Run a kernel on numbers without a GPU, and check its memory accesses.
    Simulate(SimulateArgs),
    /// Describe a file: kernels, parameters, memory, synchronisation, what is not supported.
    Inspect(InspectArgs),
    /// Run every check of a project file (warpproof.toml).
    Run(RunArgs),
    /// Write a warpproof.toml with what can be inferred from kernels.
    Init(InitArgs),
    /// Run a command again whenever one of its files changes.
    Watch(WatchArgs),
    /// Run many jobs, one JSON line each, in separate processes with enforced limits.
    Batch(BatchArgs),
    /// Answer jobs of a batch, for the process that started this one.
    #[command(hide = true)]
    BatchWorker(WorkerArgs),
    /// Start a language server on standard input and output, for editors.
    Lsp,
    /// Show a race, a proof, an equality and a difference on bundled kernels.
    Demo,
    /// Explain a code such as WP0109: an example, why it matters, how to fix it.
    Explain(ExplainArgs),
    /// Check what this machine has: compiler, solver, cache; and how to get what is missing.
    Doctor,
    /// Print the JSON schema of warpproof.toml, for editors.
    Schema,
    /// Print a script that completes commands, flags and kernel names in a shell.
    Completions(CompletionArgs),
    /// Print kernels of the file in a word FILE::NAME, for completion scripts.
    #[command(hide = true)]
    CompleteKernel(CompleteKernelArgs),
    /// Print the manual page (roff).
    Man,
}

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The project file or its folder, then names of entries. By default all entries of ./warpproof.toml.
    #[arg(value_name = "FILE|NAME")]
    pub(crate) what: Vec<String>,

    /// Run this many entries at once; the answers do not depend on it. [default: the number of processors]
    #[arg(short = 'j', long = "jobs", value_name = "N", help_heading = "Limits", value_parser = parsed_jobs)]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,

    /// Neither read nor write the cache of compiled files.
    #[arg(long, help_heading = "Limits")]
    pub(crate) no_cache: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// The kernel to check, or the reference to compare with: a PTX or .cu file, or FILE::KERNEL.
    pub(crate) reference: KernelPath,

    /// The optimised kernel, if there are two to compare.
    pub(crate) optimised: Option<KernelPath>,

    /// Overwrite an existing warpproof.toml.
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,
}

/// Arguments of `watch`.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct WatchArgs {
    /// Print help.
    #[arg(short, long, action = clap::ArgAction::Help)]
    pub(crate) help: Option<bool>,

    /// The command and its arguments, such as `prove kernel.cu`; `run` if there are none.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// The code; without one, all codes are listed.
    #[arg(value_name = "WPxxxx")]
    pub(crate) code: Option<String>,
}

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionArgs {
    /// The shell. Kernel names (FILE::NAME) are completed in bash, zsh and fish.
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `complete-kernel`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompleteKernelArgs {
    /// The word to complete.
    #[arg(allow_hyphen_values = true)]
    pub(crate) word: String,
}

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// A PTX or .cu file, a program, library or object with PTX in it, or - for standard input.
    pub(crate) file: KernelPath,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,

    /// The format of the result.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub(crate) format: Description,
}

/// Arguments of `simulate`.
#[derive(Debug, clap::Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) target: ExecutionArgs,

    /// Write each output to this folder, as NAME.npy.
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) target: ExecutionArgs,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Also write the barriers of the first block as a graph, for Graphviz.
    #[arg(long, value_name = "FILE.dot", help_heading = "Output", value_parser = parsed_output)]
    pub(crate) graph: Option<PathBuf>,
}

/// Rules of a check: strictness and allowances.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "What counts as an error")]
pub(crate) struct RuleArgs {
    /// Accept nothing that the PTX manual leaves undefined, even if current hardware tolerates it.
    #[arg(
        long,
        long_help = "Accept nothing that the PTX manual leaves undefined, even if current hardware tolerates it: \
                     unordered writes of the same value, aligned barriers at different instructions"
    )]
    pub(crate) strict: bool,

    /// Accept something without proof, and list it as assumed.
    #[arg(
        long,
        value_name = "WHAT",
        long_help = "Accept something without proof, and list it as assumed. `float-order` accepts sums of float \
                     atomics, whose last bits depend on the order of the additions"
    )]
    pub(crate) allow: Vec<driver::Allow>,

    /// Assume that lanes of a warp run in lock-step, as before sm_70.
    #[arg(long)]
    pub(crate) warp_synchronous: bool,
}

/// Which loop invariants are inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Infer {
    /// Only steps of variables that change by the same amount in each iteration.
    None,
    /// Also bounds and products of all other variables.
    Scalar,
    /// Everything that can be inferred.
    All,
}

/// A kernel and its launch.
#[derive(Debug, clap::Args)]
pub(crate) struct ExecutionArgs {
    /// A PTX or .cu file, or FILE::KERNEL if it has several; - for standard input.
    pub(crate) kernel: KernelPath,

    #[command(flatten)]
    pub(crate) launch: LaunchArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,
}

/// The format of results.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations in GitHub's workflows.
    Github,
    /// JUnit's XML, for CI systems.
    Junit,
}

/// The format of descriptions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Description {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// When to colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Colour {
    /// If the terminal can show it.
    Auto,
    /// Even if the output is not a terminal.
    Always,
    /// No colours.
    Never,
}

impl From<Format> for driver::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
            Format::Sarif => Self::Sarif,
            Format::Github => Self::Github,
            Format::Junit => Self::Junit,
        }
    }
}

impl From<Description> for driver::Format {
    fn from(format: Description) -> Self {
        match format {
            Description::Text => Self::Text,
            Description::Json => Self::Json,
        }
    }
}

/// Parses a pair of names, such as `x=a`.
pub(crate) fn name_pair(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(one, two)| (one.trim(), two.trim()));
    match parts {
        Some((one, two)) if !one.is_empty() && !two.is_empty() => {
            Ok((one.to_owned(), two.to_owned()))
        }
        _ => Err("expected two names, such as `x=a`".to_owned()),
    }
}
