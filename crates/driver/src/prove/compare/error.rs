//! Reasons why a kernel, or a run of it, is not compared.

use crate::cuda::{CompileError, NvrtcError};
use thiserror::Error;

/// The reason why a kernel is not compared; displays as a clause.
#[derive(Debug, Error)]
pub(super) enum NotCompared {
    #[error("NVRTC was not found; `warpproof doctor` lists the places")]
    NoCompiler,
    #[error(transparent)]
    Library(#[from] NvrtcError),
    #[error("the time ran out")]
    Time,
    /// It has parameters that cannot be passed to the engine for PTX.
    #[error("{0}")]
    Signature(kir::SignatureError),
    #[error("NVRTC refuses the text: {0}")]
    Refused(CompileError),
    #[error("the compiler's PTX is not read: {0}")]
    Ptx(String),
    #[error("the PTX has no kernel `{name}`")]
    NoKernel { name: String },
    #[error("nothing was compiled")]
    NothingCompiled,
    #[error("the value of a macro is not known")]
    UnknownMacro,
    #[error("the compiled kernel has another number of parameters")]
    ParameterCount,
    #[error("a parameter is in a register")]
    Register,
    #[error("`{name}` has another layout in memory")]
    Layout { name: String },
    #[error("no small launch satisfies the contract")]
    NoLaunch,
    #[error("no element of the kernel's results can be compared")]
    NoElement,
    /// No run was compared; this is the reason for the first.
    #[error(transparent)]
    Skipped(#[from] Skip),
}

/// The reason why a run is not compared; displays as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Skip {
    /// A run of our reading has a finding, so it may have no final contents.
    #[error("our reading of the kernel has errors on every launch")]
    Finding,
    /// Our reading stopped before its end.
    #[error("{0}")]
    Stopped(&'static str),
    #[error("rounding of floats decides control flow")]
    Rounding,
    /// Compiled code has a fault that need not be an error of our reading.
    #[error("{0}")]
    Fault(String),
    #[error("compiled code could not be followed: {0}")]
    Unfollowed(String),
    #[error("`{name}` has another name in the PTX")]
    OtherName { name: String },
    #[error("`{name}` has another size in the PTX")]
    OtherSize { name: String },
}
