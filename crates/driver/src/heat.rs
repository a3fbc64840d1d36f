//! Runs two kernels on numbers to show the difference of their outputs. Input elements have the numbers of the witness;
//! those that it does not name have arbitrary ones. Only for pictures; no verdict depends on it.

use crate::report::HeatMap;
use equiv::{Difference, Input, InputKind, Side};
use exec::domain::InputSource;
use exec::{Argument, Contents, Limits};
use ir::{Format, Scalar};
use std::collections::BTreeMap;

/// The budget in instructions, counted for each lane.
const MAX_INSTRUCTIONS: u64 = 200_000_000;

/// The differing output of both sides; `None` if one of them cannot be run on numbers or has elements other than f32
/// and f64.
pub(crate) fn map(
    sides: [&Side<'_>; 2],
    difference: &Difference,
    shape: Vec<u64>,
    limits: Limits,
) -> Option<HeatMap> {
    let numbers: BTreeMap<&str, f64> =
        difference.inputs.iter().map(|(name, number)| (name.as_str(), *number)).collect();
    let name = &difference.position.name;
    let [reference, optimised] = sides;
    // Handing memory from launch to launch is not worth it for a picture.
    if sides.iter().any(|side| side.count() > 1) {
        return None;
    }
    let reference = output(reference, name, &numbers, limits)?;
    let optimised = output(optimised, name, &numbers, limits)?;
    let same = reference.len() == optimised.len();
    same.then(|| HeatMap { output: name.clone(), shape, values: [reference, optimised] })
}

fn output(
    side: &Side<'_>,
    name: &str,
    numbers: &BTreeMap<&str, f64>,
    limits: Limits,
) -> Option<Vec<f64>> {
    let mut launch = side.launch.clone();
    for input in &side.inputs {
        let bytes = bytes(input, numbers)?;
        match input.source {
            InputSource::Buffer(buffer) => {
                launch.buffers.get_mut(buffer)?.contents = Contents::Known(bytes);
            }
            InputSource::Argument(position, 0) => match launch.arguments.get_mut(position)? {
                argument @ Argument::Opaque(_) => *argument = Argument::Bytes(bytes),
                _ => return None,
            },
            InputSource::Argument(..) => return None,
        }
    }
    let lane_instructions = limits.lane_instructions.min(MAX_INSTRUCTIONS);
    let outcome = exec::run(side.unlifted, &launch, Limits { lane_instructions, ..limits });
    if outcome.gap.is_some() {
        return None;
    }
    let output = side.outputs.iter().find(|output| output.name == name)?;
    let memory = outcome.buffers.get(output.buffer)?;
    output.starts.iter().map(|&start| number(memory, start, output.scalar)).collect()
}

fn bytes(input: &Input, numbers: &BTreeMap<&str, f64>) -> Option<Vec<u8>> {
    // Different numbers, so that errors do not cancel.
    let other = |index: u32| f64::from(index.wrapping_mul(37) % 64) / 8.0 - 4.0;
    let given = |name: &str, index: u32| numbers.get(name).copied().unwrap_or_else(|| other(index));
    let values: Vec<f64> = match &input.kind {
        InputKind::Scalar => vec![given(&input.name, 1)],
        InputKind::Tensor { shape, order: None, .. } => {
            let count = u32::try_from(shape.iter().product::<u64>()).ok()?;
            let name = |index: u32| match shape.len() {
                0 | 1 => format!("{}[{index}]", input.name),
                _ => format!("{}[{}]", input.name, equiv::indices(index.into(), shape)),
            };
            (0..count).map(|index| given(&name(index), index)).collect()
        }
        // Working out the places of elements is not worth it for a picture.
        InputKind::Tensor { order: Some(_), .. } | InputKind::Related(_) => return None,
    };
    match input.scalar {
        Scalar::Float(Format::F32) => {
            Some(values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect())
        }
        Scalar::Float(Format::F64) => Some(values.iter().flat_map(|v| v.to_le_bytes()).collect()),
        _ => None,
    }
}

fn number(memory: &[u8], start: usize, scalar: Scalar) -> Option<f64> {
    match scalar {
        Scalar::Float(Format::F32) => {
            let bytes = memory.get(start..start + 4)?.try_into().ok()?;
            Some(f64::from(f32::from_le_bytes(bytes)))
        }
        Scalar::Float(Format::F64) => {
            Some(f64::from_le_bytes(memory.get(start..start + 8)?.try_into().ok()?))
        }
        _ => None,
    }
}
