//! Tensor copies and mbarriers, against recordings from an H200 (`cases.json`, `data.bin`; made by
//! `tools/record_hopper.py`).
//!
//! Maps were encoded by the driver. Their bytes are decoded here, must equal our own encoding, and the copy through
//! them must leave the same bytes. Sequences of mbarrier operations by one thread: after each of them a wait must
//! block exactly when the phase was open on the hardware.

mod copies;
mod map_fields;
mod mbarriers;

use serde_json::Value;
use std::path::PathBuf;

fn folder() -> PathBuf {
    testing::corpus::root().join("crates/driver/tests/hopper")
}

/// The recordings of a kind.
fn recordings(kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("cases.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all[kind].as_array().unwrap().clone()
}

/// A number of a recording.
fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn lower(ptx: &str) -> ir::Program {
    let parsed = ptx::syntax::parse(ptx);
    assert!(parsed.errors.is_empty(), "{:?}\n{ptx}", parsed.errors);
    let lowered = ptx::lower(&parsed.module);
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    lowered.program
}
