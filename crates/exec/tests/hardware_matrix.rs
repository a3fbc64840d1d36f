//! Replays recordings of tensor cores: products, loads and stores of matrices.
//!
//! Integers, doubles, moved bits, and sums of small integers must agree to the bit. The rounding of other
//! sums of floats is up to the hardware (the manual leaves it open). They must agree up to [`single`] or
//! [`half`], the tolerance that `exec::concrete` states.

mod replaying;

use replaying::replay;
use std::collections::BTreeMap;

/// Products are below 16, and so are the summands C.
const LARGEST: f64 = 16.0;

/// Compares up to two units in the last place of the largest of summands and sum, in single precision.
fn single(ours: u64, theirs: u64) -> bool {
    let [ours, theirs] = [ours, theirs].map(|bits| f64::from(f32::from_bits(bits as u32)));
    (ours - theirs).abs() <= ours.abs().max(LARGEST) * 2f64.powi(-22)
}

/// Compares likewise, plus a unit in the last place of the result in half precision. The hardware sums bytes
/// in half precision on the way, so there the unit is that of the largest summand.
fn half(bytes: bool, ours: u64, theirs: u64) -> bool {
    let [ours, theirs] =
        [ours, theirs].map(|bits| exec::concrete::to_double(ir::Format::F16, bits));
    let largest = ours.abs().max(LARGEST);
    let result = if bytes { largest } else { ours.abs() };
    (ours - theirs).abs() <= largest * 2f64.powi(-22) + result * 2f64.powi(-10)
}

/// Returns `true` if D is in half precision: its type is named first.
fn is_half(text: &str) -> bool {
    let first = text.split(['.', ' ']).find(|word| matches!(*word, "f16" | "f32" | "f64" | "s32"));
    first == Some("f16")
}

fn close(text: &str, ours: u64, theirs: u64) -> bool {
    match is_half(text) {
        true => {
            let bytes = text.contains("e4m3") || text.contains("e5m2");
            let at = |word: u64, part: u32| word >> (16 * part) & 0xffff;
            (0..2).all(|part| half(bytes, at(ours, part), at(theirs, part)))
        }
        false => single(ours, theirs),
    }
}

#[test]
fn tensor_cores_do_what_the_engine_does() {
    let mut compared = 0;
    let mut failures: BTreeMap<String, String> = BTreeMap::new();
    let recordings = recordings::load().unwrap();
    for recording in recordings.filter(|one| matches!(one.case.family, "matrix" | "fragments")) {
        let Some(recorded) = recording.outputs() else { continue };
        let case = &recording.case;
        compared += 1;
        let rows = match replay(&recording) {
            Ok(rows) => rows,
            Err(reason) => {
                failures.insert(case.text.clone(), reason);
                continue;
            }
        };
        for (vector, (ours, theirs)) in rows.iter().zip(&recorded).enumerate() {
            let same = |(&ours, &theirs): (&u64, &u64)| {
                ours == theirs || vector >= case.exact_vectors() && close(&case.text, ours, theirs)
            };
            if !ours.iter().zip(theirs).all(same) {
                let text = format!("vector {vector} gives {ours:x?}, hardware {theirs:x?}");
                failures.insert(case.text.clone(), text);
                break;
            }
        }
    }
    assert!(compared > 340, "only {compared} cases were compared");
    assert!(failures.is_empty(), "{} of {compared}: {failures:#?}", failures.len());
}
