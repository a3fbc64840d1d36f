//! Errors of compiling CUDA C++.

use super::compile::INSTALL;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The reason why a compiler makes no PTX; displays as a clause about the file.
#[derive(Debug, Error)]
pub enum CompileError {
    /// The name is not that of an architecture.
    #[error("cannot be compiled for `{name}`: --arch takes sm_80, sm_90a and others")]
    Architecture {
        /// The name.
        name: String,
    },
    /// There is neither NVRTC nor nvcc.
    #[error(
        "is CUDA C++, and no compiler was found\nhelp: in an active Python environment:\n  {INSTALL}\n`warpproof doctor` \
         says where it looks; or compile it to PTX yourself:\n  nvcc -ptx -lineinfo {}",
        .path.display()
    )]
    NoCompiler {
        /// The file.
        path: PathBuf,
    },
    /// The compiler rejects it.
    #[error("does not compile:\n{messages}compiled with: {command}{help}")]
    Refused {
        /// The compiler's messages, as far as they may be quoted.
        messages: String,
        /// The command, with a note if it is a substitute for one.
        command: String,
        /// Advice, if there is any; begins a line.
        help: &'static str,
    },
    /// A requested instance of a template cannot be made.
    #[error("has no instance `{name}`; the compiler says:\n{messages}compiled with: {command}")]
    Instance {
        /// The instance.
        name: String,
        /// The messages, as far as they may be quoted.
        messages: String,
        /// The command, with a note if it is a substitute for one.
        command: String,
    },
    /// The compiler's first error, on one line.
    #[error("{0}")]
    Complaint(String),
    /// The library cannot be used.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
}

/// The reason why a call of NVRTC fails.
#[derive(Debug, Error)]
pub enum NvrtcError {
    /// It cannot be loaded, or lacks a function.
    #[error(transparent)]
    Library(#[from] libloading::Error),
    /// A NUL character, impossible in strings of C.
    #[error("{0} contains a NUL character")]
    Nul(&'static str),
    /// More than an `int` can count.
    #[error("too many {0}")]
    TooMany(&'static str),
    /// A function returns an error.
    #[error("NVRTC: {function} returned {status}")]
    Status {
        /// The function's name.
        function: &'static str,
        /// Its result.
        status: i32,
    },
    /// The file ends before the parts that its header lists.
    #[error("the file is incomplete: install it again")]
    CutOff,
    /// It does not compile the simplest kernel.
    #[error("it does not compile a kernel: {0}")]
    Broken(String),
    /// It compiled a kernel but returns no name for it.
    #[error("NVRTC: nvrtcGetLoweredName returned no name")]
    NoName,
}

/// The reason why one of the compilers makes no PTX.
#[derive(Debug, Error)]
pub(super) enum Failure {
    /// The compiler's messages about the text.
    #[error("{0}")]
    Log(String),
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A word that would be unsafe to pass on.
    #[error("`{word}` has characters that a shell may interpret; nvcc is not called")]
    Shell { word: String },
}
