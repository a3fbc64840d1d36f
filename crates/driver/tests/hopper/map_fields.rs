//! Fields of tensor maps, as `tensormap.replace` writes them on an H200 (`map_fields.json`; made by
//! `tools/record_map_fields.py`).

use super::{folder, number};
use ir::MapField;
use serde_json::Value;
use std::collections::BTreeSet;

fn field(recording: &Value) -> MapField {
    let dimension = recording["dimension"].as_u64().unwrap_or(0) as u8;
    match recording["field"].as_str().unwrap() {
        "global_address" => MapField::GlobalAddress,
        "rank" => MapField::Rank,
        "box_dim" => MapField::BoxDim(dimension),
        "global_dim" => MapField::GlobalDim(dimension),
        "global_stride" => MapField::GlobalStride(dimension),
        "element_stride" => MapField::ElementStride(dimension),
        "elemtype" => MapField::ElementType,
        "interleave_layout" => MapField::InterleaveLayout,
        "swizzle_mode" => MapField::SwizzleMode,
        "fill_mode" => MapField::FillMode,
        other => panic!("{other} is no field"),
    }
}

/// The 32-bit words of a map in hexadecimal.
fn words(hexadecimal: &str) -> Vec<u32> {
    let byte = |at: usize| u32::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap();
    let word = |at: usize| (0..4).map(|part| byte(8 * at + 2 * part) << (8 * part)).sum();
    (0..32).map(word).collect()
}

#[test]
fn fields_have_the_bits_that_the_hardware_writes() {
    let text = std::fs::read_to_string(folder().join("map_fields.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let mut seen = BTreeSet::new();
    for recording in all["changes"].as_array().unwrap() {
        let before = words(all["maps"][number(&recording["map"]) as usize].as_str().unwrap());
        let mut expected = before.clone();
        for change in recording["words"].as_array().unwrap() {
            expected[number(&change[0]) as usize] = number(&change[1]) as u32;
        }
        let mut found = before;
        for edit in field(recording).edits(recording["value"].as_u64().unwrap()).unwrap() {
            for (half, word) in found[2 * edit.word..][..2].iter_mut().enumerate() {
                let [mask, bits] = [edit.mask, edit.bits].map(|one| (one >> (32 * half)) as u32);
                *word = *word & !mask | bits;
            }
        }
        assert_eq!(found, expected, "{recording}");
        seen.insert(recording["field"].as_str().unwrap());
    }
    assert_eq!(seen.len(), 10, "{seen:?}");
}
