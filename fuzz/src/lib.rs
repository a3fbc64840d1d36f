//! Fuzz targets: readers of every kind of file, message or text that comes from elsewhere. A target fails by a panic.
//!
//! `fuzz_targets/` has a program for each target, and `any.rs`, which runs the target named in `WARPPROOF_FUZZ`: one
//! program is smaller than eighteen, and can be copied to another machine.

pub mod arguments;
pub mod batch_job;
pub mod batch_results;
pub mod container;
pub mod cuda_read;
pub mod editor;
pub mod exec_generated;
pub mod exec_text;
pub mod formula_text;
pub mod inspect_text;
mod launch;
pub mod map_bits;
pub mod npy;
pub mod pages;
pub mod project;
pub mod prove_text;
pub mod ptx_lower;
pub mod ptx_roundtrip;
pub mod recorded;
mod scratch;
pub mod solver_answers;
pub mod triton_json;

/// A target: takes any bytes, and panics if it finds a bug.
pub type Target = fn(&[u8]);

/// All targets, by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("arguments", arguments::fuzz),
    ("batch_job", batch_job::fuzz),
    ("batch_results", batch_results::fuzz),
    ("container", container::fuzz),
    ("cuda_read", cuda_read::fuzz),
    ("editor", editor::fuzz),
    ("exec_generated", exec_generated::fuzz),
    ("exec_text", exec_text::fuzz),
    ("formula_text", formula_text::fuzz),
    ("inspect_text", inspect_text::fuzz),
    ("map_bits", map_bits::fuzz),
    ("npy", npy::fuzz),
    ("pages", pages::fuzz),
    ("project", project::fuzz),
    ("prove_text", prove_text::fuzz),
    ("ptx_lower", ptx_lower::fuzz),
    ("ptx_roundtrip", ptx_roundtrip::fuzz),
    ("recorded", recorded::fuzz),
    ("solver_answers", solver_answers::fuzz),
    ("triton_json", triton_json::fuzz),
];

/// Returns the target of a name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}

/// Takes bytes as text, up to the first byte that is not UTF-8.
fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}
