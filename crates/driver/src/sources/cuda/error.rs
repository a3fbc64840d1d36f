//! Why CUDA C++ is not compiled.

use super::compile::INSTALL;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a compiler makes no PTX; displays as a clause about the file.
#[derive(Debug, Error)]
pub enum CompileError {
    /// The name is not that of an architecture.
    #[error("cannot be compiled for `{name}`: --arch is such as sm_80 or sm_90a")]
    Architecture {
        /// The name.
        name: String,
    },
    /// There is neither NVRTC nor nvcc.
    #[error(
        "is CUDA C++, and no compiler was found\nhelp: in an active Python environment:\n  {INSTALL}\n`warpproof doctor` \
         says what is looked for; or compile it to PTX yourself:\n  nvcc -ptx -lineinfo {}",
        .path.display()
    )]
    NoCompiler {
        /// The file.
        path: PathBuf,
    },
    /// The compiler refuses it.
    #[error("does not compile:\n{messages}compiled with: {command}{help}")]
    Refused {
        /// What it says, as far as it may be quoted.
        messages: String,
        /// The command, or what stands for it.
        command: String,
        /// What to do about it, if that is known; begins a line.
        help: &'static str,
    },
    /// An instance of a template that was asked for cannot be made.
    #[error("has no instance `{name}`; the compiler says:\n{messages}compiled with: {command}")]
    Instance {
        /// The instance.
        name: String,
        /// The messages, as far as they may be quoted.
        messages: String,
        /// The command, or what stands for it.
        command: String,
    },
    /// The compiler's first complaint, on one line.
    #[error("{0}")]
    Complaint(String),
    /// The library cannot be used.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
}

/// Why a call of NVRTC fails.
#[derive(Debug, Error)]
pub enum NvrtcError {
    /// It cannot be loaded, or lacks a function.
    #[error(transparent)]
    Library(#[from] libloading::Error),
    /// C has no strings with such characters.
    #[error("{0} contains a NUL character")]
    Nul(&'static str),
    /// More than an `int` counts.
    #[error("too many {0}")]
    TooMany(&'static str),
    /// A function returns an error.
    #[error("NVRTC: {function} returned {status}")]
    Status {
        /// Which.
        function: &'static str,
        /// Its result.
        status: i32,
    },
    /// It compiled a kernel and does not know its name.
    #[error("NVRTC: nvrtcGetLoweredName gave no name")]
    NoName,
}

/// Why one of the compilers makes no PTX.
#[derive(Debug, Error)]
pub(super) enum Failure {
    /// What it says about the text.
    #[error("{0}")]
    Log(String),
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A word that is not passed on.
    #[error("`{word}` has characters that a shell may read; nvcc is not called")]
    Shell { word: String },
}
