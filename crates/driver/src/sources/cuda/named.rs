//! Compiles the text of a file with NVRTC for comparison with another reading of it: chosen instances of its kernels, math
//! functions as the library has them.
//!
//! A host header that NVRTC does not have is replaced by one of our own with the constants that kernels use of it. What
//! then compiles is what the kernel means with the real header, because such headers hold nothing else for the device.

use super::compile::{CompileOptions, architecture};
use super::error::CompileError;
use super::includes::included;
use super::locate::Library;
use super::nvrtc::Nvrtc;
use std::path::Path;

/// What is wanted of a file.
pub(crate) struct Wanted<'w> {
    /// Its path, for headers beside it and messages.
    pub(crate) path: &'w Path,
    /// Its text.
    pub(crate) text: &'w str,
    /// `NAME=VALUE` of macros.
    pub(crate) defines: &'w [String],
    /// Kernels as expressions of C++: `k<float, 16>`.
    pub(crate) names: &'w [String],
    /// Architecture and folders of headers.
    pub(crate) options: &'w CompileOptions,
    /// Whether the compiler may leave out what nobody looks at.
    pub(crate) optimised: bool,
}

/// What came of it.
pub(crate) struct Named {
    pub(crate) ptx: String,
    /// Names in the PTX, in the order of the wanted ones.
    pub(crate) names: Vec<String>,
}

const FLOAT: &str = "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n\
                     #define FLT_EPSILON 1.192092896e-07f\n#define DBL_MAX 1.7976931348623158e+308\n\
                     #define DBL_MIN 2.2250738585072014e-308\n\
                     #define DBL_EPSILON 2.2204460492503131e-016\n";
const LIMITS: &str = "#define CHAR_BIT 8\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n\
                      #define SHRT_MAX 32767\n#define SHRT_MIN (-SHRT_MAX - 1)\n#define USHRT_MAX 65535\n\
                      #define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n\
                      #define UINT_MAX 4294967295u\n#define LONG_MAX 9223372036854775807l\n\
                      #define LONG_MIN (-LONG_MAX - 1)\n#define LLONG_MAX 9223372036854775807ll\n\
                      #define LLONG_MIN (-LLONG_MAX - 1)\n#define ULLONG_MAX 18446744073709551615ull\n";
const INTEGERS: &str = "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n\
                        typedef short int16_t;\ntypedef unsigned short uint16_t;\ntypedef int int32_t;\n\
                        typedef unsigned int uint32_t;\ntypedef long int64_t;\n\
                        typedef unsigned long uint64_t;\n";
const MATH: &str = "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n\
                    #ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n\
                    #ifndef M_PI\n#define M_PI 3.14159265358979323846\n#endif\n";

/// The header with everything that nvcc knows without being told.
const COMMON: &str = "warpproof_host_constants.h";

/// Host headers and what stands for them.
const HEADERS: [(&str, &str); 30] = [
    ("float.h", FLOAT),
    ("cfloat", FLOAT),
    ("limits.h", LIMITS),
    ("climits", LIMITS),
    ("stdint.h", INTEGERS),
    ("cstdint", INTEGERS),
    ("inttypes.h", INTEGERS),
    ("math.h", MATH),
    ("cmath", MATH),
    ("stdio.h", ""),
    ("cstdio", ""),
    ("stdlib.h", ""),
    ("cstdlib", ""),
    ("string.h", ""),
    ("cstring", ""),
    ("stddef.h", ""),
    ("cstddef", ""),
    ("assert.h", ""),
    ("cassert", ""),
    ("time.h", ""),
    ("iostream", ""),
    ("fstream", ""),
    ("vector", ""),
    ("string", ""),
    ("memory", ""),
    ("random", ""),
    ("chrono", ""),
    ("algorithm", ""),
    ("cuda_runtime.h", ""),
    ("device_launch_parameters.h", ""),
];

/// Compiles it; the compiler's first complaint if it refuses.
pub(crate) fn compile_named(library: &Library, wanted: &Wanted<'_>) -> Result<Named, CompileError> {
    let mut words = words(library, wanted)?;
    let common = [FLOAT, LIMITS, INTEGERS, MATH].concat();
    let nvrtc = Nvrtc::load(&library.path)?;
    let name = wanted.path.display().to_string();
    let mut headers: Vec<(&str, &str)> = Vec::new();
    loop {
        let given = (name.as_str(), &headers[..]);
        let compiled = nvrtc.compile_named(wanted.text, given, &words, wanted.names)?;
        if let Some(ptx) = compiled.ptx {
            return Ok(Named { ptx, names: compiled.names });
        }
        let absent = missing(&compiled.log).filter(|one| !headers.contains(one));
        let common = (COMMON, common.as_str());
        match absent {
            Some(header) => headers.push(header),
            // nvcc includes headers by itself that NVRTC does not.
            None if names_constant(&compiled.log) && !headers.contains(&common) => {
                headers.push(common);
                words.push(format!("--pre-include={COMMON}"));
            }
            None => return Err(CompileError::Complaint(complaint(&compiled.log))),
        }
    }
}

/// Whether the compiler misses a constant or type of host headers.
fn names_constant(log: &str) -> bool {
    let name = log.split_once("identifier \"").and_then(|(_, rest)| rest.split_once('"'));
    let known = [FLOAT, LIMITS, INTEGERS, MATH].concat();
    let mut words = known.split(|c: char| !c.is_alphanumeric() && c != '_');
    name.is_some_and(|(name, _)| words.any(|word| word == name))
}

/// Everything that the result depends on; nothing if that is not known.
pub(crate) fn named_key(library: &Library, wanted: &Wanted<'_>) -> Option<String> {
    let file = std::fs::metadata(&library.path).ok()?;
    let changed = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let words = words(library, wanted).ok()?;
    let (path, length) = (library.path.display(), file.len());
    let mut key = format!("{path} {length} {}\n{}\n", changed.as_nanos(), words.join("\n"));
    key.push_str(&format!("{} {}\n", wanted.path.display(), wanted.names.join("\n")));
    let files = included(wanted.path, wanted.text, &wanted.options.includes)?;
    let own = (wanted.path.to_path_buf(), wanted.text.to_owned());
    for (file, text) in std::iter::once(own).chain(files) {
        key.push_str(&format!("{} {}\n{text}\n", file.display(), text.len()));
    }
    Some(key)
}

fn words(library: &Library, wanted: &Wanted<'_>) -> Result<Vec<String>, CompileError> {
    let architecture = architecture(&wanted.options.architecture)?;
    let folder = wanted.path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let own = folder.unwrap_or(Path::new(".")).to_path_buf();
    let folders = wanted.options.includes.iter().chain(&library.includes).chain([&own]);
    let lines = if wanted.optimised { "-lineinfo" } else { "--device-debug" };
    let mut words = vec!["-std=c++17".to_owned(), lines.to_owned()];
    words.push(format!("--gpu-architecture=compute_{architecture}"));
    words.extend(folders.map(|folder| format!("-I{}", folder.display())));
    words.extend(wanted.defines.iter().map(|one| format!("-D{one}")));
    Ok(words)
}

/// The header of ours for one that the compiler does not find.
fn missing(log: &str) -> Option<(&'static str, &'static str)> {
    let (_, rest) = log.split_once("cannot open source file \"")?;
    let (name, _) = rest.split_once('"')?;
    HEADERS.iter().copied().find(|(own, _)| *own == name)
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
