//! The flags that say how CUDA C++ is compiled.

use crate::write_err;
use driver::arguments::KernelPath;
use driver::cuda::locate::Environment;
use driver::cuda::{CompileOptions, Math};
use driver::{Input, InputError, escape};
use std::path::PathBuf;

/// For `.cu` files, and for programs and libraries with PTX for several architectures.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Input that is not PTX")]
pub(crate) struct CompileArgs {
    /// The architecture to compile for.
    #[arg(long, value_name = "SM", default_value = "sm_80")]
    arch: String,

    /// A folder with header files.
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    includes: Vec<PathBuf>,

    /// Inline the math library as a build does, instead of leaving its functions calls.
    #[arg(long)]
    inline_math: bool,

    /// Read nothing from the cache of compiled files and write nothing to it.
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// Show how the compiler was called.
    #[arg(short, long)]
    verbose: bool,
}

impl CompileArgs {
    /// Reads a file, or makes PTX of it.
    pub(crate) fn open(&self, path: &KernelPath) -> Result<Input, InputError> {
        self.open_with(path, if self.inline_math { Math::Inlined } else { Math::Opaque })
    }

    /// Reads a file, or makes PTX of it that can be run.
    pub(crate) fn open_to_run(&self, path: &KernelPath) -> Result<Input, InputError> {
        self.open_with(path, Math::Inlined)
    }

    /// How a file is compiled.
    pub(crate) fn options(&self, math: Math) -> CompileOptions {
        CompileOptions {
            architecture: self.arch.clone(),
            includes: self.includes.clone(),
            math,
            environment: Environment::of_process().without_cache(self.no_cache),
            ..CompileOptions::default()
        }
    }

    fn open_with(&self, path: &KernelPath, math: Math) -> Result<Input, InputError> {
        let options = self.options(math);
        let input = Input::open(path.file.as_ref(), path.kernel.as_deref(), &options)?;
        if let (true, Some(command)) = (self.verbose, input.made_by()) {
            write_err(&format!("note: compiled with {}\n", escape::plain(command)));
        }
        Ok(input)
    }
}
