//! The flags for compiling CUDA C++.

use crate::console::Console;
use driver::arguments::KernelPath;
use driver::cuda::{CompileOptions, Math};
use driver::prove::reading::Reading;
use driver::{Input, InputError, escape};
use std::path::PathBuf;

/// How `.cu` files are compiled, and which PTX of a program or library is taken.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "CUDA C++, programs and libraries")]
pub(crate) struct CompileArgs {
    /// The architecture to compile for, and whose PTX is taken from a program or library.
    #[arg(long, value_name = "SM", default_value = "sm_80")]
    arch: String,

    /// Search this folder for header files.
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    includes: Vec<PathBuf>,

    /// Inline the math library, as a normal build does, instead of keeping its functions as calls.
    #[arg(long)]
    inline_math: bool,

    /// Neither read nor write the cache of compiled files.
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// Print the command that compiled the file.
    #[arg(short, long)]
    verbose: bool,
}

/// How `prove` reads CUDA C++.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Reading CUDA C++")]
pub(crate) struct ReadingArgs {
    /// The architecture that `__CUDA_ARCH__` stands for.
    #[arg(long, value_name = "SM", default_value = "sm_80")]
    arch: String,

    /// Search this folder for header files.
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    includes: Vec<PathBuf>,

    /// Define a macro, as `#define NAME VALUE` does; without a value, as 1.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    defines: Vec<String>,
}

impl ReadingArgs {
    /// Converts the flags for the driver.
    pub(crate) fn reading(&self) -> Reading {
        let Self { arch, includes, defines } = self.clone();
        Reading { defines, includes, arch }
    }
}

impl CompileArgs {
    /// Options for reading CUDA C++ with the same flags.
    pub(crate) fn reading(&self, defines: &[String]) -> Reading {
        let (arch, includes) = (self.arch.clone(), self.includes.clone());
        Reading { defines: defines.to_vec(), includes, arch }
    }

    /// Reads a file, or compiles it to PTX.
    pub(crate) fn open(&self, path: &KernelPath, console: &Console) -> Result<Input, InputError> {
        let math = if self.inline_math { Math::Inlined } else { Math::Opaque };
        self.open_with(path, math, console)
    }

    /// Reads a file, or compiles it to PTX that can be run.
    pub(crate) fn open_to_run(
        &self,
        path: &KernelPath,
        console: &Console,
    ) -> Result<Input, InputError> {
        self.open_with(path, Math::Inlined, console)
    }

    /// Options for compiling a file.
    pub(crate) fn options(&self, math: Math, console: &Console) -> CompileOptions {
        CompileOptions {
            architecture: self.arch.clone(),
            includes: self.includes.clone(),
            math,
            environment: console.environment().without_cache(self.no_cache),
            ..CompileOptions::default()
        }
    }

    fn open_with(
        &self,
        path: &KernelPath,
        math: Math,
        console: &Console,
    ) -> Result<Input, InputError> {
        let options = self.options(math, console);
        let kernel = path.kernel.as_deref();
        let input = match console.memory_file(&path.file) {
            Some(bytes) => {
                let input = Input::of_memory(&path.file, bytes.to_vec(), kernel, options)?;
                console.with_sources(input, &path.file)
            }
            None => Input::open(path.file.as_ref(), kernel, &options)?,
        };
        if let (true, Some(command)) = (self.verbose, input.made_by()) {
            console.write_err(&format!("note: compiled with {}\n", escape::plain(command)));
        }
        Ok(input)
    }
}

/// Reads CUDA C++ source.
pub(crate) fn read_cuda(path: &KernelPath, console: &Console) -> Result<Input, InputError> {
    match console.memory_file(&path.file) {
        Some(bytes) => Input::cuda_of_memory(&path.file, bytes.to_vec()),
        None => Input::read_cuda(path.file.as_ref()),
    }
}
