//! The flags of `equiv` and `prove`.

use crate::args::{Format, Infer};
use crate::compile_args::{CompileArgs, ReadingArgs};
use crate::launch_args::{LaunchArgs, SideArgs, parsed};
use crate::limit_args::{LimitArgs, parsed_jobs};
use clap::ValueEnum;
use driver::arguments::{AssumeSpec, KernelPath, PartSpec};
use std::path::PathBuf;

/// Arguments of `equiv`.
#[derive(Debug, clap::Args)]
pub(crate) struct EquivArgs {
    /// The reference: a PTX or .cu file, or FILE::KERNEL if it has several. With --ref, the optimised kernel.
    pub(crate) reference: KernelPath,

    /// The optimised kernel: a PTX or .cu file, or FILE::KERNEL if it has several.
    #[arg(required_unless_present = "formula")]
    pub(crate) optimised: Option<KernelPath>,

    /// Compare with a formula of the arguments instead of a kernel; @FILE reads it from a file.
    #[arg(
        long = "ref",
        value_name = "FORMULA",
        help_heading = "What is compared",
        conflicts_with_all = [
            "for_all_sizes",
            "optimised",
            "ref_grid",
            "ref_block",
            "ref_cluster",
            "ref_smem",
            "ref_symbols",
        ],
        long_help = "Compare with a formula of the arguments instead of a kernel; @FILE reads it from a file. \
                     Example: 'y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))'. Each index runs over the \
                     dimension that it indexes; the manual has a chapter on formulas"
    )]
    pub(crate) formula: Option<String>,

    /// Compare only this output or part of one: out, 'out[0]', 'out[2:6,:]'.
    #[arg(
        long = "compare",
        value_name = "OUT[…]",
        help_heading = "What is compared",
        value_parser = parsed::<PartSpec>,
        conflicts_with = "for_all_sizes"
    )]
    pub(crate) parts: Vec<PartSpec>,

    /// Assume that inputs satisfy a condition, all elements of tensors: 'eps > 0', '0 <= p <= 1'.
    #[arg(
        long = "assume",
        value_name = "CONDITION",
        help_heading = "What is compared",
        value_parser = parsed::<AssumeSpec>
    )]
    pub(crate) assumptions: Vec<AssumeSpec>,

    /// Accept something without proof, and list it as assumed.
    #[arg(
        long,
        value_name = "WHAT",
        help_heading = "What is compared",
        long_help = "Accept something without proof, and list it as assumed. `float-order` accepts sums of float \
                     atomics, whose last bits depend on the order of the additions"
    )]
    pub(crate) allow: Vec<driver::Allow>,

    /// Do not recognise constants such as log2(e) or π.
    #[arg(long, help_heading = "What is compared")]
    pub(crate) no_snap: bool,

    /// Accept nothing that the PTX manual leaves undefined, even if current hardware tolerates it.
    #[arg(
        long,
        help_heading = "What is compared",
        long_help = "Accept nothing that the PTX manual leaves undefined, even if current hardware tolerates it. The \
                     answer is `unknown` if it is not shown that the optimised kernel is defined wherever the reference \
                     is; with --for-all-sizes, also if our reading of a kernel was not compared with a compiler's"
    )]
    pub(crate) strict: bool,

    /// Cross-check a proof with interval arithmetic at random inputs.
    #[arg(long, help_heading = "What is compared")]
    pub(crate) recheck: bool,

    #[command(flatten)]
    pub(crate) launch: LaunchArgs,

    #[command(flatten)]
    pub(crate) sides: SideArgs,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) compile: CompileArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Flags of a comparison for every size.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Comparing CUDA C for every size")]
pub(crate) struct SizeArgs {
    /// Compare two CUDA C kernels for every launch and size that the comments in them allow.
    #[arg(
        long,
        conflicts_with_all = ["LaunchArgs", "SideArgs", "assumptions"],
        long_help = "Compare two CUDA C kernels for every launch and size that the comments in them allow. Each kernel \
                     has a launch of its own; parameters and arrays of the same name are the same. The other flags of \
                     this group need this one"
    )]
    pub(crate) for_all_sizes: bool,

    /// Both kernels have the same launch.
    #[arg(long, requires = "for_all_sizes")]
    pub(crate) same_launch: bool,

    /// A parameter or array of the reference, and the optimised kernel's name for it.
    #[arg(long, value_name = "X=A", requires = "for_all_sizes", value_parser = crate::args::name_pair)]
    pub(crate) map: Vec<(String, String)>,

    /// A launch precondition, as a `requires` clause states it: 'n > 0'.
    #[arg(long = "requires", value_name = "CONDITION", requires = "for_all_sizes")]
    pub(crate) requires: Vec<String>,

    /// Define a macro, as `#define NAME VALUE` does; without a value, as 1.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", requires = "for_all_sizes")]
    pub(crate) defines: Vec<String>,

    /// The z3 to ask; by default WARPPROOF_Z3 or the first one on PATH.
    #[arg(long, value_name = "PATH", requires = "for_all_sizes", conflicts_with = "no_solver")]
    pub(crate) solver: Option<PathBuf>,

    /// Do not ask a solver, even if there is one.
    #[arg(long, requires = "for_all_sizes")]
    pub(crate) no_solver: bool,

    /// Do not compare our reading of the kernels with how NVRTC compiles them.
    #[arg(long, requires = "for_all_sizes")]
    pub(crate) no_compare: bool,
}

/// Arguments of `prove`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProveArgs {
    /// A CUDA C file, all of whose kernels are proved, or FILE::KERNEL for one; - for standard input.
    pub(crate) kernel: KernelPath,

    /// Prove that the outputs satisfy a formula for every size; @FILE reads it from a file.
    #[arg(
        long,
        value_name = "FORMULA",
        help_heading = "What is proved",
        long_help = "Prove that the outputs satisfy a formula for every size; @FILE reads it from a file. \
                     Example: 'C[i,j] = sum(k, A[i,k]*B[k,j])'"
    )]
    pub(crate) ensures: Option<String>,

    /// The size of a tensor in terms of the kernel's parameters: 'C=f32[m,n]'; or an integer: n=1024.
    #[arg(
        long = "arg",
        value_name = "NAME=TYPE[SIZES]",
        help_heading = "What is proved",
        long_help = "The size of a tensor in terms of the kernel's parameters: 'C=f32[m,n]'; with the range of its \
                     integers: 't=s32[n]:0..v'; or an integer: n=1024"
    )]
    pub(crate) arguments: Vec<String>,

    /// A launch precondition, as a `requires` clause states it: 'n <= blockDim.x*gridDim.x'.
    #[arg(
        long = "requires",
        value_name = "CONDITION",
        help_heading = "What is proved",
        allow_hyphen_values = true
    )]
    pub(crate) requires: Vec<String>,

    /// Make no assumptions about the launch: prove it for every launch that CUDA allows.
    #[arg(
        long,
        help_heading = "What is proved",
        long_help = "Make no assumptions about the launch: prove it for every launch that CUDA allows. Axes y and z may \
                     have any size, also if the kernel does not mention them, and an axis may have 2^31 threads and \
                     more. The answer is `unknown` if our reading of \
                     the kernel was not compared with a compiler's"
    )]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) method: MethodArgs,

    #[command(flatten)]
    pub(crate) limits: ProofLimitArgs,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The method of a proof.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "How it is proved")]
pub(crate) struct MethodArgs {
    /// The z3 to ask (version 5 or later); by default WARPPROOF_Z3 or the first one on PATH.
    #[arg(long, value_name = "PATH", conflicts_with = "no_solver")]
    pub(crate) solver: Option<PathBuf>,

    /// A second solver (cvc5) that must not contradict z3's proofs; if it does, the answer is `unknown`.
    #[arg(long, value_name = "PATH", conflicts_with = "no_solver")]
    pub(crate) second_solver: Option<PathBuf>,

    /// Do not ask a solver, even if there is one.
    #[arg(long)]
    pub(crate) no_solver: bool,

    /// Which loop invariants are inferred.
    #[arg(long, value_name = "WHAT", default_value = "all")]
    pub(crate) infer: Infer,

    /// Do not compare our reading of the kernel with how NVRTC compiles it.
    #[arg(long)]
    pub(crate) no_compare: bool,

    /// Neither read nor write the cache of solvers' answers and of comparisons.
    #[arg(long)]
    pub(crate) no_cache: bool,
}

/// The limits of a proof.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct ProofLimitArgs {
    /// Stop after this many seconds, with what is known then: 20, 0.5, 2m.
    #[arg(long, value_name = "SECONDS", value_parser = driver::duration::seconds, default_value = "10m")]
    pub(crate) timeout: std::time::Duration,

    /// Run this many small launches at once; the answer does not depend on it. [default: the number of processors]
    #[arg(short, long, value_name = "N", value_parser = parsed_jobs)]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
}

/// How results are written.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// The format of the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Also write the result in another format to a file: sarif=results.sarif. May be repeated.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = also)]
    pub(crate) also: Vec<(Format, PathBuf)>,

    /// Also write an HTML page with sources, findings and pictures.
    #[arg(long, value_name = "FILE.html", value_parser = parsed_output)]
    pub(crate) report: Option<PathBuf>,
}

/// Parses the name of a file that is written beside the output. Standard output has the result already.
pub(crate) fn parsed_output(text: &str) -> Result<PathBuf, String> {
    match text {
        "" => Err("there is no file name".to_owned()),
        "-" => Err("standard output has the result; name a file, such as ./-".to_owned()),
        file => Ok(PathBuf::from(file)),
    }
}

/// Parses a format and a file, such as `sarif=results.sarif`.
fn also(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) =
        text.split_once('=').ok_or("expected FORMAT=FILE, as in junit=results.xml")?;
    match Format::from_str(format, true) {
        Ok(Format::Text) | Err(_) => Err(format!("`{format}` is not json, sarif, github or junit")),
        Ok(_) if file.is_empty() => Err("there is no file name after `=`".to_owned()),
        Ok(format) => Ok((format, parsed_output(file)?)),
    }
}
