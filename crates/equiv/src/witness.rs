//! A difference of terms, shown on the kernels themselves: both are run again on intervals at the
//! point where the terms differ.

use crate::compare::{Difference, InputKind, Output, Side};
use exec::Limits;
use exec::domain::InputSource;
use interval::{Enclosed, Given, enclose};
use ir::{Format, Scalar};
use rustc_hash::FxHashMap;

/// What inputs are that do not matter to either side.
const OTHERS: f64 = 1.0;

/// What both kernels make of the inputs of a difference.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The element in each run, reference first.
    pub elements: [Enclosed; 2],
}

impl Witness {
    /// Whether the runs show the difference: the elements are disjoint, or only the optimised one is
    /// undefined.
    #[must_use]
    pub fn shows_difference(&self) -> bool {
        let [reference, optimised] = &self.elements;
        let only_reference = matches!(reference, Enclosed::Between(..))
            && matches!(optimised, Enclosed::Undefined(_));
        reference.is_disjoint(optimised) || only_reference
    }

    /// Whether the runs contradict it: both are numbers and not disjoint.
    #[must_use]
    pub fn contradicts(&self) -> bool {
        let numbers = self.elements.iter().all(|one| matches!(one, Enclosed::Between(..)));
        numbers && !self.shows_difference()
    }
}

/// Runs both kernels where their terms differ.
#[must_use]
pub fn confirm(sides: [&Side<'_>; 2], difference: &Difference, limits: Limits) -> Option<Witness> {
    let numbers: FxHashMap<&str, f64> =
        difference.inputs.iter().map(|(name, number)| (name.as_str(), *number)).collect();
    let enclosed = |side: &Side<'_>| {
        let output = side.outputs.iter().find(|one| one.name == difference.position.name)?;
        let Scalar::Float(format) = output.scalar else { return None };
        element(side, output, format, difference.position.index, &numbers, limits)
    };
    let [reference, optimised] = sides;
    Some(Witness { elements: [enclosed(reference)?, enclosed(optimised)?] })
}

fn element(
    side: &Side<'_>,
    output: &Output,
    format: Format,
    index: usize,
    numbers: &FxHashMap<&str, f64>,
    limits: Limits,
) -> Option<Enclosed> {
    let mut given = Given::default();
    for input in &side.inputs {
        let number = |name: &str| numbers.get(name).copied().unwrap_or(OTHERS);
        let values: Vec<f64> = match input.kind {
            InputKind::Scalar => vec![number(&input.name)],
            InputKind::Tensor(length) => {
                (0..length).map(|at| number(&format!("{}[{at}]", input.name))).collect()
            }
        };
        match input.source {
            InputSource::Buffer(buffer) => given.buffer(buffer, values),
            InputSource::Argument(position, offset) => {
                values.first().iter().for_each(|first| given.argument(position, offset, **first));
            }
        }
    }
    let start = output.starts[index];
    enclose(side.program, side.launch, limits, &given, &mut |answers| {
        Some(answers.element(output.buffer, start, format))
    })
}
