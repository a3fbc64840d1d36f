//! What a launch is built from, and what comes of it.

use super::{
    AliasSpec, ArgumentSpec, DeclaredParameter, InputSpec, LaunchSpec, OutputSpec, ScalarSpec,
};
use ir::{FuncId, Program, VarId};

/// Everything said about the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// `--arg`, in order.
    pub specs: Vec<ArgumentSpec>,
    /// `--alias`
    pub aliases: Vec<AliasSpec>,
    /// `--symbol`: contents of module variables, by name.
    pub symbols: Vec<ArgumentSpec>,
}

/// What happens to tensors and floats whose values nobody gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingData {
    /// They may be anything: checks do not look at them.
    Opaque,
    /// They are errors: a simulation needs numbers.
    Refused,
}

/// What a launch is built from.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The module.
    pub program: &'r Program,
    /// The kernel, one of the module's.
    pub kernel: FuncId,
    /// The launch flags.
    pub launch: &'r LaunchSpec,
    /// The arguments.
    pub arguments: &'r Arguments,
    /// What the source declares of the parameters; empty if that is not known.
    pub declared: &'r [DeclaredParameter],
    /// Those of the other side of a comparison, which expressions may name.
    pub others: &'r [ArgumentSpec],
    /// Whether data must be there.
    pub missing_data: MissingData,
    /// For messages that show a command line.
    pub invocation: Invocation<'r>,
}

/// A launch, and what to do after it.
#[derive(Clone, Debug)]
pub struct BuiltLaunch {
    /// What to execute.
    pub launch: exec::Launch,
    /// The name of each parameter's argument.
    pub names: Vec<String>,
    /// Tensors with any contents, in the order of the arguments.
    pub inputs: Vec<InputSpec>,
    /// Scalars.
    pub scalars: Vec<ScalarSpec>,
    /// Where results will be, in the order of the arguments.
    pub outputs: Vec<OutputSpec>,
    /// Module variables that the kernel mentions or `--symbol` names, each once.
    pub variables: Vec<VariableSpec>,
    /// What was assumed or looks odd, one sentence each.
    pub notes: Vec<String>,
}

/// A module variable of a launch. What it holds is in [`exec::Launch::symbols`], or else in the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableSpec {
    /// The variable.
    pub id: VarId,
    /// Its name, however the user spelt it: as the programmer wrote it, if no other variable of the module is called so.
    pub name: String,
    /// Set if `--symbol` names it.
    pub is_given: bool,
    /// Set if that makes it a tensor with any contents.
    pub is_input: bool,
    /// Set if the kernel mentions it.
    pub is_mentioned: bool,
}

/// Why there is no launch. At least one list is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildError {
    /// What is wrong with the arguments or missing: bad input.
    pub input: Vec<String>,
    /// Why no GPU would start it: findings of kind `launch`.
    pub launch: Vec<String>,
    /// If something is missing: a command line with `?` in its place.
    pub suggestion: Option<String>,
}

/// How the program was called.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'i> {
    /// The command: `check`, `simulate`.
    pub command: &'i str,
    /// The file the kernel is from.
    pub file: &'i str,
}
