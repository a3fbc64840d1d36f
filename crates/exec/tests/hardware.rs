//! Replays what a GPU did: every recorded kernel runs in the engine, and every bit must agree.
//!
//! Not compared to the bit are the functions the manual calls approximate, and the payload of a NaN,
//! which it leaves open for most instructions. What else disagrees is listed in `DIFFERENT`.

use exec::{Access, Argument, Buffer, Contents, Launch, Limits};
use recordings::Recording;
use std::collections::BTreeMap;

/// Where hardware does something else than the manual says, and we follow the manual.
const DIFFERENT: &[(&str, &str)] = &[
    // Position and length are their low bytes by the manual; what runs for 64 bits takes all bits.
    ("bfe.u64 ", "position or length above 255"),
    ("bfe.s64 ", "position or length above 255"),
    ("bfi.b64 ", "position or length above 255"),
    // A NaN whose payload is in the bits dropped becomes infinite.
    ("cvt.rna.tf32.f32 ", "a NaN"),
    ("cvt.rna.satfinite.tf32.f32 ", "a NaN"),
    // `.ftz` concerns single-precision inputs, but these two roundings see a subnormal one.
    ("cvt.rm.ftz.f16.f32 ", "a subnormal input"),
    ("cvt.rp.ftz.f16.f32 ", "a subnormal input"),
    ("cvt.rp.ftz.sat.f16.f32 ", "a subnormal input"),
];

/// Runs the recorded kernel; the outputs, one row for each vector.
fn replay(recording: &Recording) -> Result<Vec<Vec<u64>>, String> {
    let case = &recording.case;
    let text = recordings::kernel::module(case, "k");
    let parsed = ptx::syntax::parse(&text);
    let lowered = ptx::lower(&parsed.module);
    if let Some(diagnostic) = parsed.errors.iter().chain(&lowered.diagnostics).next() {
        return Err(diagnostic.message.clone());
    }
    let program = lowered.program;
    let (kernel, _) = program.functions.enumerate().next().ok_or("no kernel")?;
    let cells = recordings::kernel::CELL_BYTES * case.vectors;
    let room = (case.output_length().next_multiple_of(16) + cells) as u64;
    let buffer = |name: &str, contents, access| Buffer {
        name: name.to_owned(),
        element_bytes: 1,
        element: None,
        contents,
        access,
    };
    let launch = Launch {
        kernel,
        grid: [1, 1, 1],
        block: [case.vectors as u32, 1, 1],
        dynamic_shared: 0,
        buffers: vec![
            buffer("inputs", Contents::Known(case.input_bytes()), Access::In),
            buffer("outputs", Contents::Undefined(room), Access::Out),
        ],
        arguments: vec![Argument::Pointer(0), Argument::Pointer(1)],
    };
    let outcome = exec::run(&program, &launch, Limits::default());
    if let Some(gap) = outcome.gap {
        return Err(gap.reason);
    }
    if let Some(finding) = outcome.findings.first() {
        return Err(format!("{:?}", finding.fault));
    }
    case.split_outputs(&outcome.buffers[1][..case.output_length()]).ok_or("no outputs".to_owned())
}

#[test]
fn the_engine_does_what_the_gpu_did() {
    let mut compared = 0;
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for recording in recordings::load().unwrap() {
        let Some(recorded) = recording.outputs() else { continue };
        let case = &recording.case;
        if case.is_approximate() {
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

/// Whether two rows of outputs are equal, NaNs being equal to each other.
fn same(case: &recordings::Case, ours: &[u64], theirs: &[u64]) -> bool {
    // The first type an instruction names is that of its result.
    let format = case.text.split(['.', ' ']).find_map(format);
    ours.iter().zip(theirs).all(|(&ours, &theirs)| {
        let nan = |bits: u64| format.is_some_and(|(width, infinity)| is_nan(bits, width, infinity));
        let halves = |bits: u64| [bits & 0xffff, bits >> 16 & 0xffff];
        let packed = case.text.contains("x2");
        ours == theirs
            || nan(ours) && nan(theirs) && !packed
            || packed
                && halves(ours)
                    .into_iter()
                    .zip(halves(theirs))
                    .all(|(a, b)| a == b || nan(a) && nan(b))
    })
}

/// Width of a floating-point type and the bits of its infinity.
fn format(name: &str) -> Option<(u32, u64)> {
    Some(match name {
        "f64" => (64, 0x7ff0_0000_0000_0000),
        "f32" | "tf32" => (32, 0x7f80_0000),
        "f16" | "f16x2" => (16, 0x7c00),
        "bf16" | "bf16x2" => (16, 0x7f80),
        _ => return None,
    })
}

fn is_nan(bits: u64, width: u32, infinity: u64) -> bool {
    bits & (u64::MAX >> (65 - width)) > infinity
}
