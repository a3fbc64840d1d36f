//! Tests the cases: each is unique, parses, lowers without diagnostics, and has usable inputs.

use recordings::{Case, InputKind, kernel};
use std::collections::BTreeSet;

fn failures(check: impl Fn(&Case) -> Result<(), String>) -> Vec<String> {
    let cases = recordings::cases();
    let failing =
        cases.iter().filter_map(|case| check(case).err().map(|why| format!("{case}: {why}")));
    failing.collect()
}

#[test]
fn every_case_is_listed_once() {
    let cases = recordings::cases();
    assert!(cases.len() > 6000, "{}", cases.len());
    let mut seen = BTreeSet::new();
    for case in &cases {
        assert!(seen.insert(case.to_string()), "{case} is listed twice");
        assert!(case.vectors.is_multiple_of(32) && case.vectors <= 1024, "{case}");
        assert!(!case.outputs.is_empty(), "{case}");
    }
}

#[test]
fn every_instruction_lowers() {
    let failures = failures(|case| recordings::lower(case).map(|_| ()));
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// The recorded kernels can also be run unchanged.
#[test]
fn every_kernel_lowers() {
    let check = |case: &Case| recordings::program(&kernel::module(case, "example")).map(|_| ());
    let failures = failures(check);
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn inputs_fit_their_registers() {
    let failures = failures(|case| {
        for vector in case.vectors() {
            for (value, input) in vector.iter().zip(&case.inputs) {
                let fits = value & (u64::MAX << (input.register.bits() - 1) << 1) == 0;
                if vector.len() != case.inputs.len() || !fits {
                    return Err(format!("{}: {value:#x}", input.name));
                }
            }
        }
        Ok(())
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A lane is in its own mask, lanes of a mask agree on it, and the whole warp is covered.
#[test]
fn member_masks_are_consistent() {
    let mut partial = 0;
    for case in recordings::cases() {
        let Some(at) = case.inputs.iter().position(|input| input.kind == InputKind::Mask) else {
            continue;
        };
        for warp in case.vectors().chunks(32) {
            for (lane, vector) in warp.iter().enumerate() {
                let mask = vector[at];
                assert_eq!(mask >> lane & 1, 1, "{case}");
                let agree = |other: usize| mask >> other & 1 == 0 || warp[other][at] == mask;
                assert!((0..32).all(agree), "{case}");
                partial += usize::from(mask != 0xffff_ffff);
            }
        }
    }
    assert!(partial > 10_000, "{partial}");
}

/// A shuffle reads only lanes of its mask; otherwise its result would be undefined (manual §9.7.9.6).
#[test]
fn shuffles_stay_inside_their_masks() {
    let shuffles =
        |case: &Case| case.inputs.iter().any(|input| input.kind == InputKind::ShuffleControl);
    for case in recordings::cases().iter().filter(|case| shuffles(case)) {
        for warp in case.vectors().chunks(32) {
            for (lane, vector) in warp.iter().enumerate() {
                let [_, b, c, mask] = vector[..] else { panic!("{case}") };
                let source = source_lane(&case.text, lane as u64, b, c);
                assert_eq!(mask >> source & 1, 1, "{case}: lane {lane} reads {source}");
            }
        }
    }
}

/// Follows the pseudo-code of the manual.
fn source_lane(text: &str, lane: u64, b: u64, c: u64) -> u64 {
    let (b, segments, clamp) = (b & 31, c >> 8 & 31, c & 31);
    let highest = lane & segments | clamp & !segments & 31;
    let lowest = lane & segments;
    let signed = |value: u64| value as i64;
    let (source, in_range) = match () {
        () if text.contains(".up.") => {
            (signed(lane) - signed(b), signed(lane) - signed(b) >= signed(highest))
        }
        () if text.contains(".down.") => (signed(lane + b), lane + b <= highest),
        () if text.contains(".bfly.") => (signed(lane ^ b), lane ^ b <= highest),
        () => (signed(lowest | b & !segments), (lowest | b & !segments) <= highest),
    };
    if in_range { source as u64 } else { lane }
}

#[test]
fn floats_reach_their_edges() {
    let cases = recordings::cases();
    let case = cases.iter().find(|case| case.text == "add.rn.f32 %out, %a, %b;").unwrap();
    let floats: Vec<f32> =
        case.vectors().iter().flatten().map(|&bits| f32::from_bits(bits as u32)).collect();
    assert!(floats.iter().filter(|x| x.is_nan()).count() > 20);
    assert!(floats.iter().filter(|x| x.is_infinite()).count() > 10);
    assert!(floats.iter().filter(|x| x.is_subnormal()).count() > 20);
    let cancel = case.vectors().iter().filter(|v| v[0] ^ v[1] == 0x8000_0000).count();
    assert!(cancel > 5, "{cancel}");
}
