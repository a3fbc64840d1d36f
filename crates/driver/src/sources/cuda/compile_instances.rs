//! Compiles the text of a file with NVRTC for comparison with another reading of it: chosen instances of its kernels,
//! with the library's math functions.
//!
//! Host headers that NVRTC lacks are replaced ([`super::host_headers`]).

use super::compile::{CompileOptions, architecture};
use super::error::CompileError;
use super::host_headers::{COMMON, common, missing, names_constant};
use super::includes::included;
use super::locate::Library;
use super::nvrtc::Nvrtc;
use std::path::Path;

/// The text and kernels to compile.
pub(crate) struct InstanceRequest<'w> {
    /// Its path, for headers beside it and messages.
    pub(crate) path: &'w Path,
    /// Its text.
    pub(crate) text: &'w str,
    /// Macros, as `NAME=VALUE`.
    pub(crate) defines: &'w [String],
    /// Kernels as expressions of C++: `k<float, 16>`.
    pub(crate) names: &'w [String],
    /// Architecture and folders of headers.
    pub(crate) options: &'w CompileOptions,
    /// The compiler may drop dead code.
    pub(crate) optimised: bool,
}

/// The result of a compilation.
pub(crate) struct CompiledInstances {
    pub(crate) ptx: String,
    /// Names in the PTX, in the order of the requested ones.
    pub(crate) names: Vec<String>,
}

/// Compiles the requested kernels; returns the compiler's first error if it rejects them.
pub(crate) fn compile_named(
    library: &Library,
    wanted: &InstanceRequest<'_>,
) -> Result<CompiledInstances, CompileError> {
    let mut words = words(library, wanted)?;
    let common = common();
    let nvrtc = Nvrtc::load(&library.path)?;
    let name = wanted.path.display().to_string();
    let mut headers: Vec<(&str, &str)> = Vec::new();
    loop {
        let given = (name.as_str(), &headers[..]);
        let compiled = nvrtc.compile_named(wanted.text, given, &words, wanted.names)?;
        if let Some(ptx) = compiled.ptx {
            return Ok(CompiledInstances { ptx, names: compiled.names });
        }
        let absent = missing(&compiled.log).filter(|one| !headers.contains(one));
        let common = (COMMON, common.as_str());
        match absent {
            Some(header) => headers.push(header),
            // nvcc includes headers by default that NVRTC does not.
            None if names_constant(&compiled.log) && !headers.contains(&common) => {
                headers.push(common);
                words.push(format!("--pre-include={COMMON}"));
            }
            None => return Err(CompileError::Complaint(complaint(&compiled.log))),
        }
    }
}

/// Key of the cache: everything the result depends on. `None` if that is unknown.
pub(crate) fn named_key(library: &Library, wanted: &InstanceRequest<'_>) -> Option<String> {
    let file = std::fs::metadata(&library.path).ok()?;
    let changed = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let words = words(library, wanted).ok()?;
    let (path, length) = (library.path.display(), file.len());
    let mut key = format!("{path} {length} {}\n{}\n", changed.as_nanos(), words.join("\n"));
    key.push_str(&format!("{} {}\n", wanted.path.display(), wanted.names.join("\n")));
    let files = included(wanted.path, wanted.text, &wanted.options.includes)?;
    let kernel_file = (wanted.path.to_path_buf(), wanted.text.to_owned());
    for (file, text) in std::iter::once(kernel_file).chain(files) {
        key.push_str(&format!("{} {}\n{text}\n", file.display(), text.len()));
    }
    Some(key)
}

fn words(library: &Library, wanted: &InstanceRequest<'_>) -> Result<Vec<String>, CompileError> {
    let architecture = architecture(&wanted.options.architecture)?;
    let folder = wanted.path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let kernel_folder = folder.unwrap_or(Path::new(".")).to_path_buf();
    let folders = wanted.options.includes.iter().chain(&library.includes).chain([&kernel_folder]);
    let lines = if wanted.optimised { "-lineinfo" } else { "--device-debug" };
    let mut words = vec!["-std=c++17".to_owned(), lines.to_owned()];
    words.push(format!("--gpu-architecture=compute_{architecture}"));
    words.extend(folders.map(|folder| format!("-I{}", folder.display())));
    words.extend(wanted.defines.iter().map(|one| format!("-D{one}")));
    Ok(words)
}

/// The first error of a log, on one line and not long.
fn complaint(log: &str) -> String {
    let is_error = |line: &&str| line.contains("error");
    let line = log.lines().find(is_error).or(log.lines().next()).unwrap_or("no reason given");
    let text = match line.split_once("error") {
        Some((_, rest)) => rest.split_once(": ").map_or(rest, |(_, text)| text),
        None => line,
    };
    text.trim().chars().take(160).collect()
}
