//! Warpgroup products, against results of an H200 (`wgmma.json`, `wgmma.bin`; made by `tools/record_wgmma.py`, which
//! has the same functions for contents). Elements are small integers, so every sum is exact in any order.

use super::{folder, lower, number};
use exec::{Access, Argument, Buffer, Contents, Launch, Limits};
use serde_json::Value;
use std::collections::BTreeMap;

const ROOM_A: usize = 16384;
const ROOM_B: usize = 32768;
const THREADS: usize = 128;

/// Mixes two numbers into a pseudorandom one.
fn mix(index: u32, seed: u32) -> u32 {
    let word = index.wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(40_503));
    let word = (word ^ word >> 15).wrapping_mul(0x85EB_CA6B);
    word ^ word >> 13
}

/// The bytes of an element: an integer from -4 to 4 if it is a float, else bits.
fn code(kind: &str, word: u32) -> Vec<u8> {
    match kind {
        "s8" | "u8" => return vec![word as u8],
        "b1" => return word.to_le_bytes().to_vec(),
        "s32" => return ((word % 2001) as i32 - 1000).to_le_bytes().to_vec(),
        _ => {}
    }
    let value = (word % 9) as i32 - 4;
    let single = (value as f32).to_le_bytes();
    let small = |codes: [u8; 5]| vec![codes[value.unsigned_abs() as usize] | if value < 0 { 0x80 } else { 0 }];
    match kind {
        "f32" | "tf32" => single.to_vec(),
        "bf16" => single[2..].to_vec(),
        "f16" => {
            let bits = [0_u16, 0x3C00, 0x4000, 0x4200, 0x4400][value.unsigned_abs() as usize];
            (bits | if value < 0 { 0x8000 } else { 0 }).to_le_bytes().to_vec()
        }
        "e4m3" => small([0, 0x38, 0x40, 0x44, 0x48]),
        "e5m2" => small([0, 0x3C, 0x40, 0x42, 0x44]),
        other => panic!("{other} is no type of an element"),
    }
}

/// Bytes full of elements.
fn elements(kind: &str, length: usize, seed: u32) -> Vec<u8> {
    let count = length / code(kind, 0).len();
    (0..count).flat_map(|index| code(kind, mix(index as u32, seed))).collect()
}

/// The metadata of one lane: eight entries that the manual allows.
fn metadata(kind: &str, seed: u32) -> u32 {
    let entries: &[u32] = if kind == "tf32" { &[0b1110, 0b0100] } else { &[0x4, 0x8, 0xC, 0x9, 0xD, 0xE] };
    (0..8).map(|i| entries[mix(i, seed) as usize % entries.len()] << (4 * i)).sum()
}

/// The 64 bits of FNV-1a.
fn digest(data: &[u8]) -> u64 {
    data.iter().fold(0xCBF2_9CE4_8422_2325, |value, &byte| {
        (value ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    })
}

/// Contents of each thread's registers: accumulators, A, metadata; then 12 unused bytes.
fn registers(types: [&str; 3], words: usize, seed: u32) -> Vec<u8> {
    let mut data = Vec::new();
    for thread in 0..THREADS as u32 {
        let seed = seed + 3 * thread;
        data.extend(elements(types[0], 4 * words, seed + 1000));
        data.extend(elements(types[1], 16, seed + 1001));
        data.extend(metadata(types[1], seed + 1002).to_le_bytes());
        data.extend([0; 12]);
    }
    data
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

/// Runs the kernel of a recording; returns the accumulators.
fn run(program: &ir::Program, recording: &Value) -> Vec<u8> {
    let name = recording["kernel"].as_str().unwrap();
    let kernel = program.functions.enumerate().find(|(_, one)| one.name == name).unwrap().0;
    let seed = number(&recording["seed"]) as u32;
    let words = number(&recording["words"]) as usize;
    let types = [0, 1, 2].map(|at| recording["types"][at].as_str().unwrap());
    let mut room = elements(types[1], ROOM_A, seed);
    room.extend(elements(types[2], ROOM_B, seed + 1));
    let descriptor = |key: &str| Argument::Bytes(recording[key].as_u64().unwrap().to_le_bytes().to_vec());
    let add = (number(&recording["add"]) as u32).to_le_bytes().to_vec();
    let launch = Launch {
        kernel,
        grid: [1; 3],
        block: [THREADS as u32, 1, 1],
        dynamic_shared: 0,
        buffers: vec![
            buffer("room", room),
            buffer("registers", registers(types, words, seed)),
            buffer("out", vec![0; THREADS * 4 * words]),
        ],
        arguments: vec![
            Argument::Pointer(0),
            Argument::Pointer(1),
            Argument::Pointer(2),
            descriptor("da"),
            descriptor("db"),
            Argument::Bytes(add),
        ],
        symbols: Vec::new(),
        selected: Vec::new(),
    };
    let outcome = exec::run(program, &launch, Limits::default());
    assert!(outcome.gap.is_none(), "{:?}\n{recording}", outcome.gap);
    assert!(outcome.findings.is_empty(), "{:?}\n{recording}", outcome.findings);
    outcome.buffers[2].clone()
}

#[test]
fn products_are_those_of_the_hardware() {
    let program = lower(&std::fs::read_to_string(folder().join("wgmma.ptx")).unwrap());
    let data = std::fs::read(folder().join("wgmma.bin")).unwrap();
    let text = std::fs::read_to_string(folder().join("wgmma.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let mut wrong: BTreeMap<String, u32> = BTreeMap::new();
    let mut seen = 0;
    for recording in all["products"].as_array().unwrap() {
        let found = run(&program, recording);
        let expected = recording["digest"].as_str().unwrap();
        let kept = recording.get("result").map(|range| {
            let [start, length] = [0, 1].map(|at| number(&range[at]) as usize);
            &data[start..start + length]
        });
        let right = format!("{:016x}", digest(&found)) == expected && kept.is_none_or(|kept| kept == found);
        if !right {
            let key = format!("{} sparse {} registers {}", recording["types"], recording["sparse"], recording["registers"]);
            *wrong.entry(key).or_default() += 1;
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen > 800, "{seen}");
}
