//! Replays recordings of a GPU: every recorded kernel runs in the engine, and every bit must agree.
//!
//! Three kinds are not compared bit by bit: the approximate functions (`approximate.rs`), products of
//! matrices (`hardware_matrix.rs`), and the payload of a NaN, which the manual leaves open for most
//! instructions. Other disagreements are listed in `DIFFERENT`.

mod floats;
mod replaying;

use floats::{format, is_nan};
use replaying::replay;
use std::collections::BTreeMap;

/// Instructions for which hardware contradicts the manual, and we follow the manual.
const DIFFERENT: &[(&str, &str)] = &[
    // By the manual, position and length are their low bytes; 64-bit hardware takes all bits.
    ("bfe.u64 ", "position or length above 255"),
    ("bfe.s64 ", "position or length above 255"),
    ("bfi.b64 ", "position or length above 255"),
    // A NaN with its payload in the dropped bits becomes infinite.
    ("cvt.rna.tf32.f32 ", "a NaN"),
    ("cvt.rna.satfinite.tf32.f32 ", "a NaN"),
    // `.ftz` concerns single-precision inputs, but these two roundings do not treat a subnormal one as zero.
    ("cvt.rm.ftz.f16.f32 ", "a subnormal input"),
    ("cvt.rp.ftz.f16.f32 ", "a subnormal input"),
    ("cvt.rp.ftz.sat.f16.f32 ", "a subnormal input"),
];

#[test]
fn the_engine_does_what_the_gpu_did() {
    let mut compared = 0;
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for recording in recordings::load().unwrap() {
        let Some(recorded) = recording.outputs() else { continue };
        let case = &recording.case;
        if case.is_approximate() || matches!(case.family, "matrix" | "fragments") {
            continue;
        }
        compared += 1;
        let replayed = replay(&recording);
        let problem = match &replayed {
            Err(reason) => Some(reason.clone()),
            Ok(rows) => {
                rows.iter().zip(&recorded).position(|(ours, theirs)| !same(case, ours, theirs)).map(
                    |vector| {
                        let inputs = &case.vectors()[vector];
                        format!(
                            "{inputs:x?} gives {:x?}, hardware {:x?}",
                            rows[vector], recorded[vector]
                        )
                    },
                )
            }
        };
        let different = DIFFERENT.iter().any(|(start, _)| case.text.starts_with(start));
        assert!(!different || problem.is_some(), "{} agrees by now", case.text);
        if let Some(problem) = problem.filter(|_| !different) {
            failures
                .entry(case.family.to_owned())
                .or_default()
                .push(format!("{}: {problem}", case.text));
        }
    }
    // Every form the recorder knows, not a sample: a shrunken recording must not pass unnoticed.
    assert!(compared > 6800, "only {compared} cases were compared");
    assert_eq!(failures, BTreeMap::new(), "of {compared} cases");
}

/// Compares two rows of outputs; NaNs are equal to each other.
fn same(case: &recordings::Case, ours: &[u64], theirs: &[u64]) -> bool {
    // The first type in an instruction's name is that of its result.
    let format = case.text.split(['.', ' ']).find_map(format);
    ours.iter().zip(theirs).all(|(&ours, &theirs)| {
        let nan = |bits: u64| format.is_some_and(|(width, infinity)| is_nan(bits, width, infinity));
        let halves = |bits: u64| [bits & 0xffff, bits >> 16 & 0xffff];
        let packed = case.text.contains("16x2");
        ours == theirs
            || nan(ours) && nan(theirs) && !packed
            || packed
                && halves(ours)
                    .into_iter()
                    .zip(halves(theirs))
                    .all(|(a, b)| a == b || nan(a) && nan(b))
    })
}
