//! The input of building a launch ([`Request`]: the user's flags and arguments, and the kernel) and its result
//! ([`BuiltLaunch`], or the reasons in [`BuildError`]).

use super::{
    AliasSpec, ArgumentSpec, DeclaredParameter, InputSpec, LaunchSpec, OutputSpec, ScalarSpec,
};
use ir::{FuncId, Program, VarId};

/// The user's flags about arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// `--arg`, in order.
    pub specs: Vec<ArgumentSpec>,
    /// `--alias`
    pub aliases: Vec<AliasSpec>,
    /// `--symbol`: contents of module variables, by name.
    pub symbols: Vec<ArgumentSpec>,
}

/// Treatment of tensors and floats without given values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingData {
    /// They may be anything; checks ignore their values.
    Opaque,
    /// They are errors: a simulation needs numbers.
    Refused,
}

/// The input for building a launch.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The module with the kernel.
    pub program: &'r Program,
    /// The kernel, one of the module's.
    pub kernel: FuncId,
    /// The launch flags.
    pub launch: &'r LaunchSpec,
    /// The arguments.
    pub arguments: &'r Arguments,
    /// The parameters as the source declares them; empty if that is not known.
    pub declared: &'r [DeclaredParameter],
    /// The arguments of the other side of a comparison; expressions may name them.
    pub others: &'r [ArgumentSpec],
    /// Treatment of missing data.
    pub missing_data: MissingData,
    /// For messages that show a command line.
    pub invocation: Invocation<'r>,
}

/// A launch, and how to interpret its result.
#[derive(Clone, Debug)]
pub struct BuiltLaunch {
    /// The launch to execute.
    pub launch: exec::Launch,
    /// The name of each parameter's argument.
    pub names: Vec<String>,
    /// Tensors with any contents, in the order of the arguments.
    pub inputs: Vec<InputSpec>,
    /// Scalar arguments.
    pub scalars: Vec<ScalarSpec>,
    /// The outputs, in the order of the arguments.
    pub outputs: Vec<OutputSpec>,
    /// Module variables that the kernel mentions or `--symbol` names, each once.
    pub variables: Vec<VariableSpec>,
    /// Assumptions and oddities, one sentence each.
    pub notes: Vec<String>,
    /// The arguments as the user gave them, for the head of an HTML report.
    pub given: Vec<String>,
}

/// A module variable of a launch. Its contents are in [`exec::Launch::symbols`], or else in the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableSpec {
    /// The variable's identifier.
    pub id: VarId,
    /// Its name, however the user spelt it: as the programmer wrote it, unless two variables of the module share that
    /// name.
    pub name: String,
    /// Set if `--symbol` names it.
    pub is_given: bool,
    /// Set if `--symbol` makes it a tensor with any contents.
    pub is_input: bool,
    /// Set if the kernel mentions it.
    pub is_mentioned: bool,
}

/// The reasons why there is no launch. At least one list is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildError {
    /// Errors in the arguments: bad input.
    pub input: Vec<String>,
    /// Reasons why no GPU would start it: findings of kind `launch`.
    pub launch: Vec<String>,
    /// If something is missing: a command line with `?` in its place.
    pub suggestion: Option<String>,
}

/// The command and file of this call, for suggested command lines.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'i> {
    /// The command: `check`, `simulate`.
    pub command: &'i str,
    /// The kernel's file.
    pub file: &'i str,
}
