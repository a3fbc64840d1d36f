//! Compares parts of outputs (`--compare out[0]`): other elements are removed before the comparison, and positions
//! are translated back to the whole output afterwards.

use super::error::SidesError;
use crate::arguments::{PartError, PartSpec};
use crate::unwritten::Parts;
use equiv::{Answer, Compared, Output, Side};

/// Restricts the outputs of both sides to these parts.
///
/// # Errors
/// If an output or an element does not exist, or a side has several launches. Those of a formula count as one.
pub(super) fn select(
    sides: [&mut Side<'_>; 2],
    of_formula: [bool; 2],
    specs: &[PartSpec],
) -> Result<Parts, SidesError> {
    if specs.is_empty() {
        return Ok(Parts::new());
    }
    let one = parts(sides[0], of_formula[0], specs)?;
    let other = parts(sides[1], of_formula[1], specs)?;
    if one != other {
        return Err(SidesError::PartShapes);
    }
    for side in sides {
        restrict_side(side, &one);
    }
    Ok(one)
}

/// The selected elements of a side.
fn parts(side: &Side<'_>, of_formula: bool, specs: &[PartSpec]) -> Result<Parts, SidesError> {
    let is_handed_on = |spec: &PartSpec| side.hands_on(&spec.name);
    if side.count() > 1 && (!of_formula || specs.iter().any(is_handed_on)) {
        return Err(SidesError::PartOfSequence);
    }
    let mut parts = Parts::new();
    for spec in specs {
        let output = side.writer(side.count(), &spec.name).map(|(_, output)| output);
        let output = output.ok_or_else(|| PartError::UnknownOutput(spec.name.clone()))?;
        parts.entry(spec.name.clone()).or_default().extend(spec.elements(&output.shape)?);
    }
    for numbers in parts.values_mut() {
        numbers.sort_unstable();
        numbers.dedup();
    }
    Ok(parts)
}

/// Restricts the outputs of a side to these elements.
fn restrict_side(side: &mut Side<'_>, parts: &Parts) {
    let launches = side.launches().flat_map(|launch| &launch.outputs);
    let inner: Vec<String> =
        launches.map(|launch| launch.name.clone()).filter(|one| side.hands_on(one)).collect();
    for launch in &mut side.before {
        restrict_launch(&mut launch.outputs, parts, &inner);
    }
    restrict_launch(&mut side.outputs, parts, &inner);
}

/// Restricts the outputs of a launch, except `inner`, which later launches of the side read.
fn restrict_launch(outputs: &mut Vec<Output>, parts: &Parts, inner: &[String]) {
    outputs.retain(|output| parts.contains_key(&output.name) || inner.contains(&output.name));
    for output in outputs {
        let Some(numbers) = parts.get(&output.name) else { continue };
        let start = |number: &u64| output.starts.get(usize::try_from(*number).ok()?).copied();
        output.starts = numbers.iter().filter_map(start).collect();
        output.shape = vec![output.starts.len() as u64];
    }
}

/// Translates positions back to the whole outputs.
pub(super) fn restore(compared: &mut Compared, parts: &Parts) {
    let restore = |position: &mut equiv::Position| {
        let numbers = parts.get(&position.name);
        if let Some(number) = numbers.and_then(|all| all.get(position.index)) {
            position.index = usize::try_from(*number).unwrap_or(position.index);
        }
    };
    match &mut compared.answer {
        Some(Answer::Different(difference)) => restore(&mut difference.position),
        Some(Answer::Unknown(at, _) | Answer::Contradicted(at)) => restore(&mut at.position),
        Some(Answer::Constants(hidden)) => restore(&mut hidden.position),
        _ => {}
    }
    if let Some(overflow) = &mut compared.overflow {
        restore(&mut overflow.position);
    }
}

/// The note on a partial comparison: ``only `out[0]` is compared (--compare)``
pub(super) fn note(specs: &[PartSpec]) -> Option<String> {
    let names: Vec<String> = specs.iter().map(|spec| format!("`{spec}`")).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("only {} {verb} compared (--compare)", names.join(", ")))
}
