//! Compiles CUDA C++ to PTX with an installed compiler, which is searched for on demand. PTX input needs none.

pub(crate) mod cache;
mod compile;
mod compile_instances;
mod cut;
mod elf;
mod error;
mod host;
mod host_headers;
mod includes;
mod instance;
pub mod locate;
#[cfg(test)]
mod macro_tests;
#[allow(unsafe_code, reason = "calls a C library; the module says what keeps it sound")]
mod nvrtc;
mod opaque;
mod quoting;
mod templates;

pub(crate) use compile::INSTALL;
pub use compile::{CompileOptions, Math};
pub(crate) use compile_instances::{CompiledInstances, InstanceRequest, compile_named, named_key};
pub use error::{CompileError, NvrtcError};
pub(crate) use host::without_host;
pub(crate) use instance::compile_for;
pub(crate) use templates::kernel_templates;

/// Returns the version of a library. Compiles a kernel first, which shows that the library and its dependencies can be
/// loaded.
pub(crate) fn version(library: &locate::Library) -> Result<String, NvrtcError> {
    let nvrtc = nvrtc::Nvrtc::load(&library.path)?;
    let version = nvrtc.version()?;
    let kernel = "extern \"C\" __global__ void kernel(int* x) { x[0] = 1; }\n";
    let compiled = nvrtc.compile_named(kernel, ("doctor.cu", &[]), &[], &[])?;
    match compiled.ptx {
        Some(_) => Ok(version),
        None => Err(NvrtcError::Broken(compiled.log.trim().to_owned())),
    }
}
