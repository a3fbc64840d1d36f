//! Why a kernel, or a run of it, is not compared.

use crate::cuda::{CompileError, NvrtcError};
use thiserror::Error;

/// Why a kernel is not compared; displays as a clause.
#[derive(Debug, Error)]
pub(super) enum NotCompared {
    #[error("NVRTC is not found; `warpproof doctor` says where it is looked for")]
    NoCompiler,
    #[error(transparent)]
    Library(#[from] NvrtcError),
    #[error("it was not done in the time there is")]
    Time,
    /// Parameters that the engine for PTX is not given.
    #[error("{0}")]
    Signature(param::kir::SignatureError),
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
    #[error("`{name}` lies in memory in another way")]
    Layout { name: String },
    #[error("no small launch fulfils the contract")]
    NoLaunch,
    #[error("no element that the kernel leaves can be compared")]
    NoElement,
    /// No run was compared, the first for this reason.
    #[error(transparent)]
    Skipped(#[from] Skip),
}

/// Why a run is not compared; displays as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Skip {
    /// The launch contradicts the kernel's contract, or breaks it.
    #[error("our reading has a finding on every launch")]
    Finding,
    /// Our reading is not run to its end.
    #[error("{0}")]
    Stopped(&'static str),
    #[error("rounding of floats decides what is done")]
    Rounding,
    /// Compiled code has a fault that need not come of our reading.
    #[error("{0}")]
    Fault(String),
    #[error("compiled code could not be followed: {0}")]
    Unfollowed(String),
    #[error("`{name}` has another name in the PTX")]
    OtherName { name: String },
    #[error("`{name}` has another size in the PTX")]
    OtherSize { name: String },
}
