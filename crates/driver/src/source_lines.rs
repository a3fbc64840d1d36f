//! Lines of the source that PTX was compiled from: the user's first, then those of inlined libraries.
//!
//! Files of libraries are recognised by their folders and, for headers of CUDA and for Triton, by their names. An
//! error only changes the order of lines; none is left out.

use crate::paths::relative;
use base::SourceLine;
use exec::Place;
use ir::Program;

/// File and line of a place; for inlined code, of the outermost call.
pub(crate) fn outermost_line(place: Place, program: &Program) -> Option<(&str, u32)> {
    let mut location = &program.locations[place.location?];
    while let Some((_, call)) = &location.inlined_at {
        location = &program.locations[*call];
    }
    // Line 0 is compiler-generated.
    if location.line == 0 {
        return None;
    }
    let file = location.file.map_or("?", |file| program.files[file].as_str());
    Some((file, location.line))
}

/// The lines of a place: the innermost of the user's first, then the call sites it was inlined at; finally those of
/// inlined libraries, the innermost first.
pub(crate) fn source_lines(place: Place, program: &Program) -> Vec<SourceLine> {
    let mut lines = Vec::new();
    let mut next = place.location;
    while let Some(location) = next.map(|location| &program.locations[location]) {
        let file = location.file.map(|file| program.files[file].clone());
        // Line 0 is compiler-generated.
        if location.line != 0 {
            lines.push(SourceLine { file, line: location.line, in_library: false });
        }
        next = location.inlined_at.as_ref().map(|(_, call)| *call);
    }
    let own = lines.iter().position(|line| !line.file.as_deref().is_some_and(is_library));
    let inner = own.unwrap_or(0);
    lines[..inner].iter_mut().for_each(|line| line.in_library = true);
    lines.rotate_left(inner);
    lines
}

/// Folders of Python's packages.
const PACKAGES: [&str; 2] = ["/site-packages/", "/dist-packages/"];

/// Parts of paths to libraries.
const FOLDERS: [&str; 9] = [
    PACKAGES[0],
    PACKAGES[1],
    "/usr/include/",
    "/usr/local/cuda",
    "/targets/x86_64-linux/include/",
    "/nvidia/cu",
    "/cccl/",
    "cooperative_groups/",
    "triton/language/",
];

/// Beginnings of names of CUDA's headers, of the file with Triton's functions, and of our own header.
const FILES: [&str; 19] = [
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp8.h",
    "cuda_fp6.h",
    "cuda_fp4.h",
    "mma.h",
    "device_functions.h",
    "device_double_functions.h",
    "device_atomic_functions.h",
    "math_functions.h",
    "sm_20_",
    "sm_30_",
    "sm_32_",
    "sm_60_",
    "cooperative_groups",
    "cuda_pipeline",
    "cuda_awbarrier",
    "standard.py",
    "warpproof_math.h",
];

/// Returns `true` for a file of a library.
fn is_library(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    FOLDERS.iter().any(|folder| file.contains(folder))
        || FILES.iter().any(|beginning| name.starts_with(beginning))
}

/// The origin of a place: `, from kernel.cu:12, inlined at kernel.cu:30, in cuda_bf16.hpp:1820`
pub(crate) fn origin_text(lines: &[SourceLine]) -> String {
    let Some((first, rest)) = lines.split_first() else { return String::new() };
    format!(", from {}{}", line_text(first), outer_text(rest))
}

/// The outer lines of a place: `, inlined at kernel.cu:30, in cuda_bf16.hpp:1820`
pub(crate) fn outer_text(lines: &[SourceLine]) -> String {
    let text = |line: &SourceLine| match line.in_library {
        true => format!(", in {}", line_text(line)),
        false => format!(", inlined at {}", line_text(line)),
    };
    lines.iter().map(text).collect()
}

/// `kernel.cu:12`. The path is relative to the working folder, or to the folder of Python's packages.
fn line_text(line: &SourceLine) -> String {
    let file = line.file.as_deref().unwrap_or("?");
    let in_package =
        PACKAGES.iter().find_map(|folder| file.rsplit_once(folder)).map(|(_, inside)| inside);
    let file = in_package.map_or_else(|| relative(file), str::to_owned);
    format!("{file}:{}", line.line)
}

#[cfg(test)]
mod tests {
    use super::{is_library, line_text};
    use base::SourceLine;

    #[test]
    fn paths_are_short() {
        let shown = |file: &str| {
            line_text(&SourceLine { file: Some(file.to_owned()), line: 7, in_library: false })
        };
        let folder = std::env::current_dir().unwrap();
        assert_eq!(shown(&format!("{}/src/k.cu", folder.display())), "src/k.cu:7");
        assert_eq!(
            shown("/x/lib/python3.11/site-packages/triton/language/standard.py"),
            "triton/language/standard.py:7"
        );
        assert_eq!(shown("/elsewhere/k.cu"), "/elsewhere/k.cu:7");
    }

    #[test]
    fn libraries_are_told_by_folder_and_name() {
        for file in [
            "/x/lib/python3.11/site-packages/nvidia/cuda_runtime/include/cuda_bf16.hpp",
            "/usr/local/cuda-13.0/include/cuda/std/array",
            "cuda_fp16.hpp",
            "/a/triton/language/standard.py",
        ] {
            assert!(is_library(file), "{file}");
        }
        for file in ["k.cu", "/x/include/tile.cuh", "src/mma_tile.cuh", "kernels/standard.cu"] {
            assert!(!is_library(file), "{file}");
        }
    }
}
