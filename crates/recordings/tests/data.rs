//! Checks that the recordings fit the cases: each case has one or a reason for its absence, none is stale,
//! and together they are small.

use recordings::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// Size limit of all recordings; the rest of 8 MB is for tensor cores.
const MAX_BYTES: u64 = 6 << 20;

#[test]
fn every_case_has_a_recording_or_a_reason() {
    for recording in recordings::load().expect("data files") {
        let case = &recording.case;
        match &recording.outcome {
            Outcome::Recorded(_) => {
                let outputs = recording.outputs().unwrap_or_else(|| panic!("{case}: wrong length"));
                assert_eq!(outputs.len(), case.vectors, "{case}");
            }
            Outcome::NotRecorded(reason) => {
                assert!(!reason.is_empty(), "{case}");
                let stale = reason.contains("since the recording");
                assert!(!stale, "{case}: {reason}; record again (see `recordings`)");
            }
        }
    }
}

#[test]
fn no_recording_is_without_its_case() {
    let mut expected: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    let cases = recordings::cases();
    for case in &cases {
        expected.entry(case.family).or_default().push(case.fingerprint());
    }
    let fingerprints: BTreeSet<u64> = expected.values().flatten().copied().collect();
    assert_eq!(fingerprints.len(), cases.len(), "two cases have one fingerprint");
    for (family, expected) in expected {
        let file = recordings::read(family).expect("a whole file").expect("a file");
        let found: Vec<u64> = file.outcomes.iter().map(|(fingerprint, _)| *fingerprint).collect();
        assert!(found == expected, "{family}.bin belongs to other cases: record again");
    }
}

/// The GPU's results for a few undisputed cases, if they are recorded.
#[test]
fn the_recordings_are_plausible() {
    for recording in recordings::load().expect("data files") {
        let Some(outputs) = recording.outputs() else { continue };
        let vectors = recording.case.vectors();
        let expected: fn(&[u64]) -> u64 = match recording.case.text.as_str() {
            "add.s32 %out, %a, %b;" => |v| v[0].wrapping_add(v[1]) & 0xffff_ffff,
            "xor.b64 %out, %a, %b;" => |v| v[0] ^ v[1],
            "mov.f32 %out, %a;" => |v| v[0],
            "setp.lt.u16 %q, %a, %b;" => |v| u64::from(v[0] < v[1]),
            "popc.b32 %out, %a;" => |v| v[0].count_ones().into(),
            "atom.global.exch.b32 %out, [%cell], %a;" => |v| v[1],
            _ => continue,
        };
        for (inputs, outputs) in vectors.iter().zip(&outputs) {
            assert_eq!(outputs[0], expected(inputs), "{}: {inputs:x?}", recording.case);
        }
    }
}

#[test]
fn the_recordings_are_small() {
    let folder = std::fs::read_dir(recordings::data_folder()).expect("a data folder");
    let bytes: u64 = folder.flatten().map(|entry| entry.metadata().map_or(0, |m| m.len())).sum();
    assert!(bytes <= MAX_BYTES, "{bytes} bytes");
}
