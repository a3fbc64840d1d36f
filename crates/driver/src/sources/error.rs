//! Errors of reading input.

use super::cuda::CompileError;
use std::io;
use thiserror::Error;

/// The reason why there is no text; displays as one line.
#[derive(Debug, Error)]
#[error("`{name}` {reason}")]
pub struct InputError {
    pub(super) name: String,
    /// The error.
    pub reason: InputReason,
}

/// An error in a file; displays as a clause about it.
#[derive(Debug, Error)]
pub enum InputReason {
    /// It is missing or unreadable.
    #[error("cannot be read: {error}{}", question(.similar))]
    Read {
        /// The system's error.
        error: io::Error,
        /// A file with nearly the same name.
        similar: Option<String>,
    },
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// Spans have 32 bits.
    #[error("exceeds 4 GiB")]
    TooLong,
    /// It is not UTF-8.
    #[error("is not text")]
    NotText,
    /// It is not UTF-8, where PTX is expected.
    #[error("is not text, so it is not PTX")]
    NotPtxText,
    /// It has bytes that never occur in text.
    #[error("is a binary file, not PTX")]
    Binary,
    /// An object, library or program that was not given as a file.
    #[error("is not PTX; give it as a file, and Warpproof extracts the PTX")]
    Container,
    /// CUDA C++ where PTX is expected.
    #[error("is CUDA C++; compile it first: nvcc -ptx -lineinfo FILE")]
    Cuda,
    /// PTX where CUDA C++ is expected.
    #[error("is PTX; `warpproof check` reads that, this command reads CUDA C++")]
    Ptx,
    /// LLVM's text where PTX is expected.
    #[error("is LLVM IR; compile it first: llc -march=nvptx64 FILE")]
    Llvm,
    /// A program that makes PTX when it is run.
    #[error(
        "is a Python file; write the PTX to a file first: open(\"kernel.ptx\", \"w\").write(kernel.asm[\"ptx\"])"
    )]
    Python,
    /// A folder where CUDA C++ is expected.
    #[error("is a folder; give a .cu file")]
    Folder,
    /// A folder that is not an entry of Triton's cache.
    #[error("is a folder without a .ptx file; give a PTX file")]
    NoPtxInFolder,
    /// A folder with several candidates.
    #[error("is a folder with {0} .ptx files; give one of them")]
    SeveralInFolder(usize),
    /// An object, library or program without device code.
    #[error("contains no PTX: it was not made by nvcc, or links it only at run time")]
    NoModule,
    /// A container with code for particular GPUs only.
    #[error(
        "contains machine code (SASS) and no PTX; compile with -gencode arch=compute_80,code=compute_80, or with -ptx"
    )]
    MachineCode,
    /// A container with PTX that is cut off or compressed in an unknown way.
    #[error("contains PTX that cannot be extracted; `cuobjdump -xptx all FILE` may help")]
    Damaged,
    /// One whose PTX is larger than the limit once it is decompressed.
    #[error(
        "contains more than 1 GiB of PTX once it is decompressed; extract one module with `cuobjdump -xptx NAME FILE`"
    )]
    TooMuch,
    /// A container with several matching modules.
    #[error("contains {0} PTX modules; name the kernel, as in FILE::NAME")]
    SeveralModules(usize),
    /// No compiler can make PTX of it.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// PTX with errors that must not be quoted.
    #[error("is not PTX without errors; {ELSEWHERE}")]
    PtxElsewhere,
    /// CUDA C++ with errors that must not be quoted.
    #[error("is not CUDA C++ that can be read; {ELSEWHERE}")]
    CudaElsewhere,
}

/// The message about a file whose errors would quote it.
const ELSEWHERE: &str =
    "the mistake is not shown, because the file is outside the folder that names it";

fn question(similar: &Option<String>) -> String {
    similar.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
