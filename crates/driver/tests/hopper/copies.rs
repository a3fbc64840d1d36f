//! Tensor copies and reducing bulk copies.

use super::{folder, lower, number, recordings};
use exec::{Access, Argument, Buffer, Contents, Fault, Launch, Limits, TensorFault};
use ir::TensorMap;
use serde_json::Value;
use std::collections::BTreeMap;

/// Bytes of shared memory that the kernels use.
const ROOM: usize = 8192;

/// The bytes of a buffer before a kernel runs.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 167 + 13 + (i >> 8) * 59 + seed * 101) as u8).collect()
}

/// A part of `data.bin`.
fn bytes<'d>(data: &'d [u8], range: &Value) -> &'d [u8] {
    let [start, length] = [&range[0], &range[1]].map(|one| number(one) as usize);
    &data[start..start + length]
}

fn buffer(name: &str, contents: Vec<u8>) -> Buffer {
    Buffer {
        name: name.to_owned(),
        access: Access::InOut,
        contents: Contents::Known(contents),
        element_bytes: 1,
        element: None,
    }
}

fn word(value: &Value) -> Argument {
    Argument::Bytes((number(value) as u32).to_le_bytes().to_vec())
}

/// The map of a recording; we must encode it as the driver did.
fn map(encoded: &[u8]) -> TensorMap {
    let encoded: &[u8; 128] = encoded.try_into().unwrap();
    let decoded = TensorMap::decode(encoded).unwrap();
    assert_eq!(decoded.map.check(), Ok(()), "{:?}", decoded.map);
    assert_eq!(&decoded.map.encode(decoded.address)[..64], &encoded[..64], "{:?}", decoded.map);
    decoded.map
}

/// Runs the kernel of a recording; returns the buffer that it changes, and if a store goes beyond the end of a row.
fn run(program: &ir::Program, recording: &Value, data: &[u8]) -> (Vec<u8>, bool) {
    let name = recording["kernel"].as_str().unwrap();
    let kernel = program.functions.enumerate().find(|(_, one)| one.name == name).unwrap().0;
    let seed = number(&recording["seed"]) as usize;
    let mut buffers = vec![buffer("before", pattern(ROOM, seed))];
    let mut arguments = vec![Argument::Pointer(0), Argument::Pointer(1)];
    arguments.extend([&recording["at"], &recording["bytes"]].map(word));
    let is_load = recording.get("from").is_some();
    match recording["length"].as_u64() {
        None => buffers.push(buffer("out", pattern(ROOM, seed + 1))),
        Some(length) => {
            buffers.push(buffer("out", vec![0; ROOM]));
            let map = Box::new(map(bytes(data, &recording["encoded"])));
            let tensor = buffer("tensor", pattern(length as usize, seed + 1));
            buffers.push(Buffer { element: Some(map.element.scalar()), ..tensor });
            arguments.insert(0, Argument::TensorMap { buffer: 2, offset: 0, map });
            arguments.extend(recording["coords"].as_array().unwrap().iter().map(word));
            let offsets = recording["offsets"].as_array().into_iter().flatten();
            let half = |one| Argument::Bytes((number(one) as u16).to_le_bytes().to_vec());
            arguments.extend(offsets.map(half));
        }
    }
    let changed = if is_load || buffers.len() == 2 { 1 } else { 2 };
    let launch = Launch {
        kernel,
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        buffers,
        arguments,
        symbols: Vec::new(),
        selected: Vec::new(),
    };
    let outcome = exec::run(program, &launch, Limits::default());
    assert!(outcome.gap.is_none(), "{:?}\n{recording}", outcome.gap);
    let clips = |fault: &Fault| matches!(fault, Fault::Tensor(fault) if matches!(**fault, TensorFault::Clip { .. }));
    let clipped = outcome.findings.iter().any(|finding| clips(&finding.fault));
    (outcome.buffers[changed].clone(), clipped)
}

#[test]
fn copies_leave_the_bytes_that_the_hardware_left() {
    let program = lower(&std::fs::read_to_string(folder().join("kernels.ptx")).unwrap());
    let data = std::fs::read(folder().join("data.bin")).unwrap();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for recording in recordings("copies") {
        if recording.get("refused").is_some() {
            continue;
        }
        let (found, clipped) = run(&program, &recording, &data);
        let result = bytes(&data, &recording["result"]);
        let expected = match recording["from"].as_u64() {
            None => result.to_vec(),
            Some(first) => {
                let mut all = pattern(ROOM, number(&recording["seed"]) as usize);
                all[first as usize..first as usize + result.len()].copy_from_slice(result);
                all
            }
        };
        let differs = (0..expected.len()).filter(|&at| found[at] != expected[at]);
        let differs: Vec<usize> = differs.collect();
        // The hardware writes behind a row; we report this and do not write.
        let before = pattern(expected.len(), number(&recording["seed"]) as usize + 1);
        let left = differs.iter().all(|&at| found[at] == before[at]);
        let right = differs.is_empty() || clipped && left;
        // A maximum may leave the old contents behind a row.
        let reduces = recording["kernel"].as_str().unwrap().starts_with("reduce");
        let shows = differs.is_empty() != clipped || reduces && clipped;
        assert!(right && shows, "{recording}\nat {differs:?}, {clipped}");

        *seen.entry(recording["kernel"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert!(seen.len() > 30, "{seen:?}");
}
