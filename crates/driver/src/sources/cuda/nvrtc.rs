//! NVRTC, NVIDIA's compiler as a library, loaded on demand.
//!
//! This is the one module with `unsafe`: it calls C functions of a library that is absent when Warpproof is built.
//! The reasons why it is sound:
//! - The signatures are those of `nvrtc.h`, which have not changed since CUDA 7.0: every function
//!   returns an `int` status, a program is an opaque pointer.
//! - Pointers given to the library point to NUL-terminated strings or buffers that live until the
//!   call returns; NVRTC keeps none of them.
//! - Buffers are as long as the library itself says (`…Size`, the final NUL included).
//! - A program is destroyed exactly once, by [`Drop`], before its library is unloaded.
//!
//! Loading a library executes its initialisers: it is the user's own CUDA, found as
//! `locate.rs` says. Reading a page behind the end of a mapped file kills the process (SIGBUS), so a file that was cut
//! off, such as by an interrupted download, is refused before (`elf.rs`).

use super::error::NvrtcError;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
type AddName = unsafe extern "C" fn(Program, *const c_char) -> c_int;
type LoweredName = unsafe extern "C" fn(Program, *const c_char, *mut *const c_char) -> c_int;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;

/// A loaded library.
pub(super) struct Nvrtc {
    library: Library,
}

/// A program of the library.
struct Source<'n> {
    nvrtc: &'n Nvrtc,
    handle: Program,
}

/// The result of a compilation.
pub(super) struct Compiled {
    /// The PTX, if there were no errors.
    pub(super) ptx: Option<String>,
    /// Warnings and errors.
    pub(super) log: String,
    /// The names in the PTX of the requested kernels, in order; empty if there were errors.
    pub(super) names: Vec<String>,
}

impl Nvrtc {
    /// Loads the library.
    pub(super) fn load(path: &Path) -> Result<Self, NvrtcError> {
        if super::elf::is_cut_off(path) {
            return Err(NvrtcError::CutOff);
        }
        // SAFETY: the initialisers of NVRTC only set up its own state.
        let library = unsafe { Library::new(path) };
        Ok(Self { library: library? })
    }

    /// The version, such as `13.4`.
    pub(super) fn version(&self) -> Result<String, NvrtcError> {
        let version = self.function::<Version>(c"nvrtcVersion")?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the signature of `nvrtc.h`; both pointers are to integers of ours.
        let status = unsafe { version(&raw mut major, &raw mut minor) };
        checked("nvrtcVersion", status)?;
        Ok(format!("{major}.{minor}"))
    }

    /// Compiles a text, which may include headers by these names. Errors in the text are in the log; an error of the
    /// library is an `Err`.
    #[cfg(test)]
    pub(super) fn compile(
        &self,
        text: &str,
        name: &str,
        headers: &[(&str, &str)],
        options: &[String],
    ) -> Result<Compiled, NvrtcError> {
        self.compile_named(text, (name, headers), options, &[])
    }

    /// Compiles with requested kernels, such as instances of templates: `k<float, 16>`.
    pub(super) fn compile_named(
        &self,
        text: &str,
        (name, headers): (&str, &[(&str, &str)]),
        options: &[String],
        wanted: &[String],
    ) -> Result<Compiled, NvrtcError> {
        let source = self.source(text, name, headers)?;
        for one in wanted {
            source.want(one)?;
        }
        let options: Result<Vec<CString>, _> =
            options.iter().map(|option| CString::new(option.as_str())).collect();
        let options = options.map_err(|_| NvrtcError::Nul("an option"))?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).map_err(|_| NvrtcError::TooMany("options"))?;
        let compile = self.function::<Compile>(c"nvrtcCompileProgram")?;
        // SAFETY: the handle is live, the pointers are `count` strings that outlive the call.
        let status = unsafe { compile(source.handle, count, pointers.as_ptr()) };
        let log = source.text(c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog")?;
        if status != 0 {
            return Ok(Compiled { ptx: None, log, names: Vec::new() });
        }
        let ptx = Some(source.text(c"nvrtcGetPTXSize", c"nvrtcGetPTX")?);
        let names: Result<_, NvrtcError> = wanted.iter().map(|one| source.lowered(one)).collect();
        Ok(Compiled { ptx, log, names: names? })
    }

    fn source(
        &self,
        text: &str,
        name: &str,
        headers: &[(&str, &str)],
    ) -> Result<Source<'_>, NvrtcError> {
        let text = CString::new(text).map_err(|_| NvrtcError::Nul("the source"))?;
        let name = CString::new(name).map_err(|_| NvrtcError::Nul("the name"))?;
        let create = self.function::<Create>(c"nvrtcCreateProgram")?;
        let mut handle: Program = ptr::null_mut();
        let string = |text: &str| CString::new(text).map_err(|_| NvrtcError::Nul("a header"));
        let mut strings = Vec::new();
        for (name, text) in headers {
            strings.push((string(name)?, string(text)?));
        }
        let names: Vec<*const c_char> = strings.iter().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<*const c_char> = strings.iter().map(|(_, text)| text.as_ptr()).collect();
        let count = c_int::try_from(names.len()).map_err(|_| NvrtcError::TooMany("headers"))?;
        let (text, name) = (text.as_ptr(), name.as_ptr());
        let (texts, names) = (texts.as_ptr(), names.as_ptr());
        // SAFETY: all strings live until the call returns, and both lists have `count` of them.
        let status = unsafe { create(&raw mut handle, text, name, count, texts, names) };
        checked("nvrtcCreateProgram", status)?;
        Ok(Source { nvrtc: self, handle })
    }

    /// A function of the library; `F` must be its type.
    fn function<F: Copy>(&self, name: &CStr) -> Result<F, NvrtcError> {
        // SAFETY: every call in this module names a function of `nvrtc.h` with its own type, and
        // uses the pointer only while `self` keeps the library loaded.
        let symbol = unsafe { self.library.get::<F>(name.to_bytes_with_nul()) };
        Ok(*symbol?)
    }
}

impl Source<'_> {
    /// Requests a kernel by an expression of C++.
    fn want(&self, expression: &str) -> Result<(), NvrtcError> {
        let expression = CString::new(expression).map_err(|_| NvrtcError::Nul("a name"))?;
        let add = self.nvrtc.function::<AddName>(c"nvrtcAddNameExpression")?;
        // SAFETY: the handle is live and not compiled yet; the string outlives the call, and NVRTC copies it.
        checked("nvrtcAddNameExpression", unsafe { add(self.handle, expression.as_ptr()) })
    }

    /// The name in the PTX of a requested expression.
    fn lowered(&self, expression: &str) -> Result<String, NvrtcError> {
        let expression = CString::new(expression).map_err(|_| NvrtcError::Nul("a name"))?;
        let get = self.nvrtc.function::<LoweredName>(c"nvrtcGetLoweredName")?;
        let mut name: *const c_char = ptr::null();
        // SAFETY: the handle is live and compiled; the pointers are to a string and a pointer of ours.
        let status = unsafe { get(self.handle, expression.as_ptr(), &raw mut name) };
        checked("nvrtcGetLoweredName", status)?;
        if name.is_null() {
            return Err(NvrtcError::NoName);
        }
        // SAFETY: on success it points to a NUL-terminated string that lives as long as the program.
        let name = unsafe { CStr::from_ptr(name) };
        Ok(name.to_string_lossy().into_owned())
    }

    /// Reads a text; one function returns its size, the other writes it.
    fn text(&self, size: &CStr, get: &CStr) -> Result<String, NvrtcError> {
        let get_size = self.nvrtc.function::<Size>(size)?;
        let get_text = self.nvrtc.function::<Text>(get)?;
        let mut length = 0_usize;
        // SAFETY: the handle is live; the pointer is to an integer of ours.
        checked("size", unsafe { get_size(self.handle, &raw mut length) })?;
        let mut buffer = vec![0_u8; length.max(1)];
        // SAFETY: the buffer has the length that the library asked for.
        checked("text", unsafe { get_text(self.handle, buffer.as_mut_ptr().cast()) })?;
        let text = buffer.split(|&byte| byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

impl Drop for Source<'_> {
    fn drop(&mut self) {
        if let Ok(destroy) = self.nvrtc.function::<Destroy>(c"nvrtcDestroyProgram") {
            // SAFETY: the handle came from `nvrtcCreateProgram` and is not used again.
            let _ = unsafe { destroy(&raw mut self.handle) };
        }
    }
}

fn checked(function: &'static str, status: c_int) -> Result<(), NvrtcError> {
    if status == 0 { Ok(()) } else { Err(NvrtcError::Status { function, status }) }
}

#[cfg(test)]
mod tests {
    use super::Nvrtc;
    use crate::cuda::locate::Environment;

    #[test]
    fn other_files_than_libraries_are_refused() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert!(Nvrtc::load(manifest.as_ref()).is_err());
        assert!(Nvrtc::load("no/such/library.so".as_ref()).is_err());
    }

    /// Runs every function of the module where NVRTC is installed; `.ci/run` installs it.
    #[test]
    fn a_kernel_is_compiled_and_an_error_is_told() {
        let Some(library) = Environment::of_process().nvrtc() else {
            assert!(std::env::var_os("WARPPROOF_REQUIRE_NVRTC").is_none(), "NVRTC is not found");
            return;
        };
        let nvrtc = Nvrtc::load(&library.path).unwrap();
        assert!(nvrtc.version().unwrap().contains('.'));
        let options = ["--gpu-architecture=compute_80".to_owned(), "-lineinfo".to_owned()];
        let text = "extern \"C\" __global__ void k(int* x) { x[threadIdx.x] = 1; }\n";
        let compiled = nvrtc.compile(text, "k.cu", &[], &options).unwrap();
        assert!(compiled.ptx.unwrap().contains(".entry k("));
        let compiled = nvrtc.compile("__global__ void k( {", "broken.cu", &[], &options).unwrap();
        assert!(
            compiled.ptx.is_none() && compiled.log.contains("broken.cu(1)"),
            "{}",
            compiled.log
        );
        assert!(nvrtc.compile("\0", "k.cu", &[], &options).is_err());
        let headers = [("a.h", "#define A 1\n"), ("b.h", "#define B 2\n")];
        let text =
            "#include \"a.h\"\n#include \"b.h\"\n__global__ void k(int* x) { *x = A + B; }\n";
        let compiled = nvrtc.compile(text, "k.cu", &headers, &options).unwrap();
        assert!(compiled.ptx.is_some(), "{}", compiled.log);
        assert!(nvrtc.compile(text, "k.cu", &[("a.h", "\0")], &options).is_err());
        let text = "template <int N> __global__ void k(int* x) { *x = N; }\n";
        let wanted = ["k<3>".to_owned(), "k<5>".to_owned()];
        let compiled = nvrtc.compile_named(text, ("k.cu", &[]), &options, &wanted).unwrap();
        let ptx = compiled.ptx.unwrap();
        assert_eq!(compiled.names.len(), 2);
        for name in compiled.names {
            assert!(ptx.contains(&format!(".entry {name}(")), "{name}: {ptx}");
        }
    }
}
