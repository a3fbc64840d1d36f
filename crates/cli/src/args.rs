//! The command line.

use crate::compile_args::{CompileArgs, ReadingArgs};
use crate::launch_args::{LaunchArgs, SideArgs, parsed};
use crate::limit_args::LimitArgs;
use clap::{Parser, Subcommand, ValueEnum};
use driver::arguments::{AssumeSpec, KernelPath, PartSpec};
use std::path::PathBuf;

/// Proves GPU kernels correct.
#[derive(Debug, Parser)]
#[command(
    version = env!("CARGO_PKG_VERSION"),
    long_version = crate::version::LONG,
    about,
    long_about = None,
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    /// When to colour the output; NO_COLOR is respected.
    #[arg(long = "color", global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) colour: Colour,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Describe a PTX file: kernels, parameters, memory, synchronisation, what is not supported.
    Inspect(InspectArgs),
    /// Compare two kernels: the same outputs over the reals, whatever the tensors contain?
    Equiv(Box<EquivArgs>),
    /// Look for races, misused barriers, deadlocks and memory errors, whatever the tensors contain.
    Check(CheckArgs),
    /// Prove a CUDA C kernel for every launch and size: races, barriers, bounds, overflow.
    Prove(ProveArgs),
    /// Run a kernel on numbers, without a GPU, and check its memory accesses on the way.
    Simulate(SimulateArgs),
    /// Run every check of a project file (warpproof.toml).
    Run(RunArgs),
    /// Write a warpproof.toml from what PTX tells.
    Init(InitArgs),
    /// Write the JSON schema of warpproof.toml, for editors, to standard output.
    Schema,
    /// Show a race, a proof, an equality and a difference, on kernels that come along.
    Demo,
    /// Explain a code such as WP0109: an example, why it matters, how to fix it.
    Explain(ExplainArgs),
    /// Say what was found on this machine, and how to get what was not.
    Doctor,
    /// Write completions for a shell to standard output.
    Completions(CompletionArgs),
    /// Write the manual page (roff) to standard output.
    Man,
}

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The project file or its folder, then names of entries; all entries of ./warpproof.toml if
    /// nothing is given.
    #[arg(value_name = "FILE|NAME")]
    pub(crate) what: Vec<String>,

    /// Where to write a page with sources, findings and pictures.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// Read nothing from the cache of compiled files and write nothing to it.
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// How many entries to run at once; as many as there are processors by default.
    #[arg(short = 'j', long = "jobs", value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,

    /// How to write the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// The kernel to check, or the reference to compare with: a PTX file, or FILE::KERNEL.
    pub(crate) reference: KernelPath,

    /// The optimised kernel, to compare the two.
    pub(crate) optimised: Option<KernelPath>,

    /// Replace a file that is there already.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,
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
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// A PTX or .cu file, a program, library or object with PTX in it, or - for standard input.
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,

    /// How to write the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Description,
}

/// Arguments of `equiv`.
#[derive(Debug, clap::Args)]
pub(crate) struct EquivArgs {
    /// The reference: a PTX or .cu file, or FILE::KERNEL if it has several. With --ref, the optimised kernel.
    pub(crate) reference: KernelPath,

    /// The optimised kernel.
    #[arg(required_unless_present = "formula")]
    pub(crate) optimised: Option<KernelPath>,

    /// The reference as a formula, or @FILE with one.
    #[arg(
        long = "ref",
        value_name = "FORMULA",
        conflicts_with_all = [
            "for_all_sizes",
            "optimised",
            "ref_grid",
            "ref_block",
            "ref_cluster",
            "ref_smem",
            "ref_symbols",
        ],
        long_help = "The reference as a formula of the arguments, or @FILE with one: \
                     'y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))'. Indices run over the tensors at which they \
                     stand; see the manual's chapter on formulas"
    )]
    pub(crate) formula: Option<String>,

    /// Compare two kernels in CUDA C for every launch and size that their comments allow, each with
    /// a launch of its own; parameters and arrays of the same name are the same.
    #[arg(long, conflicts_with_all = ["LaunchArgs", "SideArgs", "assumptions", "report"])]
    pub(crate) for_all_sizes: bool,

    /// With --for-all-sizes: the z3 to ask; without this, WARPPROOF_Z3 or the one on the path.
    #[arg(long, value_name = "PATH", requires = "for_all_sizes", conflicts_with = "no_solver")]
    pub(crate) solver: Option<PathBuf>,

    /// With --for-all-sizes: ask no solver, also where there is one.
    #[arg(long, requires = "for_all_sizes")]
    pub(crate) no_solver: bool,

    /// With --for-all-sizes: do not compare how the kernels are read with how NVRTC compiles them.
    #[arg(long, requires = "for_all_sizes")]
    pub(crate) no_compare: bool,

    /// With --for-all-sizes: a parameter or array of the reference and the optimised kernel's name for it.
    #[arg(long, value_name = "X=A", requires = "for_all_sizes", value_parser = name_pair)]
    pub(crate) map: Vec<(String, String)>,

    /// With --for-all-sizes: define a macro, as `#define NAME VALUE` does; without a value, as 1.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", requires = "for_all_sizes")]
    pub(crate) defines: Vec<String>,

    /// With --for-all-sizes: both kernels have the same launch.
    #[arg(long, requires = "for_all_sizes")]
    pub(crate) same_launch: bool,

    /// With --for-all-sizes: a condition on launches beside those in the files, as a `requires` clause has it: 'n > 0'.
    #[arg(long = "requires", value_name = "CONDITION", requires = "for_all_sizes")]
    pub(crate) demands: Vec<String>,

    #[command(flatten)]
    pub(crate) launch: LaunchArgs,

    #[command(flatten)]
    pub(crate) sides: SideArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,

    /// A condition that inputs satisfy, all elements of tensors: 'eps > 0', '0 <= p <= 1'.
    #[arg(long = "assume", value_name = "CONDITION", value_parser = parsed::<AssumeSpec>)]
    pub(crate) assumptions: Vec<AssumeSpec>,

    /// Outputs, or parts of them, that are compared; all if empty.
    #[arg(
        long = "compare",
        value_name = "OUT[…]",
        value_parser = parsed::<PartSpec>,
        conflicts_with = "for_all_sizes",
        help = "Compare only this output or part of one: out, 'out[0]', 'out[2:6,:]'"
    )]
    pub(crate) parts: Vec<PartSpec>,

    /// Where to write a page with sources, findings and pictures.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// Take constants as they are, not for log2 e, pi and their like.
    #[arg(long)]
    pub(crate) no_snap: bool,

    /// Cross-check a proof with interval arithmetic at random inputs.
    #[arg(long)]
    pub(crate) recheck: bool,

    /// Leave the answer open if it is not settled that the optimised kernel is defined wherever the
    /// reference is, and report what the manual does not allow as an error. With --for-all-sizes: leave it
    /// open if how the kernels are read was not compared with a compiler.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Accept something without proof, and list it as assumed: `float-order` accepts sums of float
    /// atomics that depend on their order in the last bits.
    #[arg(long, value_name = "WHAT")]
    pub(crate) allow: Vec<driver::Allow>,

    /// How to write the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Arguments of `simulate`.
#[derive(Debug, clap::Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) target: ExecutionArgs,

    /// Where to write the outputs, as NAME.npy.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) target: ExecutionArgs,

    /// How to write the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Where to write a page with sources, findings and pictures.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// Report what the manual does not allow as an error, also where today's hardware does what one
    /// wants: unordered writes of the same value, aligned barriers at different instructions.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Accept something without proof, and list it as assumed: `float-order` accepts sums of float
    /// atomics that depend on their order in the last bits.
    #[arg(long, value_name = "WHAT")]
    pub(crate) allow: Vec<driver::Allow>,

    /// Assume that lanes of a warp that run together stay together, as before sm_70.
    #[arg(long)]
    pub(crate) warp_synchronous: bool,

    /// Where to write the graph of barriers of the first block, for Graphviz.
    #[arg(long, value_name = "FILE.dot")]
    pub(crate) graph: Option<PathBuf>,
}

/// Arguments of `prove`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProveArgs {
    /// A CUDA C file, all of whose kernels are proved, or FILE::KERNEL for one; - for standard input.
    pub(crate) kernel: KernelPath,

    /// How to write the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Where to write a page with the source and what was found in it.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// Which facts about loops are inferred.
    #[arg(long, value_name = "WHAT", default_value = "all")]
    pub(crate) infer: Infer,

    /// Prove it for every launch that CUDA allows: also on axes that neither the kernel nor its clauses mention, also with 2^31
    /// threads and more along an axis; and leave the answer open if how the kernel is read was not compared with a compiler.
    #[arg(long)]
    pub(crate) strict: bool,

    /// End after this many seconds, with what is known then.
    #[arg(long, value_name = "SECONDS", value_parser = driver::duration::seconds)]
    pub(crate) timeout: Option<std::time::Duration>,

    /// Run this many small launches at the same time; the answer does not depend on it. [default: as many as there
    /// are processors]
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,

    /// The z3 to ask (version 5 or later); without this, WARPPROOF_Z3 or the one on the path.
    #[arg(long, value_name = "PATH", conflicts_with = "no_solver")]
    pub(crate) solver: Option<PathBuf>,

    /// A solver (cvc5) to ask as well whatever z3 says is impossible; if it disagrees, that is `unknown`.
    #[arg(long, value_name = "PATH", conflicts_with = "no_solver")]
    pub(crate) second_solver: Option<PathBuf>,

    /// Ask no solver, also where there is one.
    #[arg(long)]
    pub(crate) no_solver: bool,

    /// Read nothing from the cache of a solver's answers and of comparisons, and write nothing to it.
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// Do not compare how the kernel is read with how NVRTC compiles it.
    #[arg(long)]
    pub(crate) no_compare: bool,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// Which facts about loops are inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Infer {
    /// Only how variables change that change steadily.
    None,
    /// Also bounds and products of all others.
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

/// How results are written.
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
    /// JUnit's XML.
    Junit,
}

/// How descriptions are written.
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
    /// Always.
    Always,
    /// Never.
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

/// `x=a`.
fn name_pair(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(one, two)| (one.trim(), two.trim()));
    match parts {
        Some((one, two)) if !one.is_empty() && !two.is_empty() => {
            Ok((one.to_owned(), two.to_owned()))
        }
        _ => Err("two names are needed, `x=a`".to_owned()),
    }
}
