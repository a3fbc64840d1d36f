//! Floats of the optimised kernel that are infinite or NaN while the reference's are finite: as text, and as a
//! finding beside the verdict.

use super::FinishedComparison;
use crate::report::{FilledInput, OverflowWitness, Overflowing};
use equiv::{InputContents, Overflow};

/// Elements of a tensor that are listed.
const LISTED: usize = 1024;

/// Elements of a tensor that a sentence shows.
const SHOWN: usize = 4;

impl FinishedComparison<'_> {
    /// The finding, if there is one.
    pub(super) fn overflowing(&self) -> Option<Overflowing> {
        let overflow = self.compared.overflow.as_ref()?;
        let element = self.element(&overflow.position);
        let [finite, strange] = overflow.values.map(|value| value.to_string());
        let inputs: Vec<String> = overflow.inputs.iter().map(describe_input).collect();
        let note = match inputs.is_empty() {
            true => "whatever the inputs are".to_owned(),
            false => format!("with {}", inputs.join(", ")),
        };
        Some(Overflowing {
            message: format!("`{element}` is {strange} in floats, {finite} in the reference"),
            note,
            help: self.replay(overflow),
            witness: witness(overflow, [finite, strange]),
            is_error: self.strict,
        })
    }

    /// Arguments with which `simulate` shows it, if each tensor has one number in all elements.
    fn replay(&self, overflow: &Overflow) -> Option<String> {
        let [launch] = self.sides[1].as_slice() else { return None };
        let mut arguments = Vec::new();
        for InputContents { name, shape, numbers, .. } in &overflow.inputs {
            let [number] = numbers.as_slice() else { return None };
            if shape.is_none() {
                arguments.push(format!("--arg {name}={number}"));
                continue;
            }
            // The reference may have inputs that this kernel lacks.
            let Some(spec) = launch.built.inputs.iter().find(|spec| spec.name == *name) else {
                continue;
            };
            let sizes: Vec<String> = spec.shape.iter().map(u64::to_string).collect();
            let element = spec.element.name();
            arguments.push(format!("--arg {name}={element}[{}]={number}", sizes.join(",")));
        }
        (!arguments.is_empty())
            .then(|| format!("`warpproof simulate` shows it with {}", arguments.join(" ")))
    }
}

/// Describes an input: `x = 100 everywhere`
fn describe_input(filling: &InputContents) -> String {
    let InputContents { name, shape, numbers, .. } = filling;
    match (numbers.as_slice(), shape) {
        ([number], None) => format!("{name} = {number}"),
        ([number], Some(_)) => format!("{name} = {number} everywhere"),
        (numbers, _) => {
            let shown: Vec<String> = numbers.iter().take(SHOWN).map(f64::to_string).collect();
            let more = if numbers.len() > SHOWN { ", …" } else { "" };
            format!("{name} = [{}{more}]", shown.join(", "))
        }
    }
}

fn witness(overflow: &Overflow, values: [String; 2]) -> OverflowWitness {
    let input = |filling: &InputContents| FilledInput {
        name: filling.name.clone(),
        values: filling.numbers.iter().copied().take(LISTED).collect(),
        elements: filling.shape.as_ref().map_or(1, |shape| shape.iter().product()),
    };
    OverflowWitness {
        output: overflow.position.name.clone(),
        index: overflow.position.index,
        inputs: overflow.inputs.iter().map(input).collect(),
        values,
    }
}
