//! Makes the two sides of a comparison from their launches: common inputs, values of related scalars, and
//! assumptions.

use super::error::SidesError;
use crate::arguments::{AssumeSpec, InputSpec, OutputSpec, ScalarValue, nearest};
use crate::execute::{Execution, PreparedLaunch};
use equiv::{Assumption, Formula, Input, InputKind, Number, Output, Side};
use exec::domain::InputSource;
use std::collections::{BTreeMap, BTreeSet};

/// The depth to which relations may name each other.
const MAX_DEPTH: usize = 16;

/// Values of scalars that are not inputs, by name: a number, or an expression of inputs.
pub(super) type Meanings = BTreeMap<String, Formula>;

/// Collects the meanings of scalars with a value or a relation.
///
/// # Errors
/// If the sides contradict each other about a name, or relations are circular.
pub(super) fn meanings<'p>(
    launches: impl Iterator<Item = &'p PreparedLaunch<'p>>,
) -> Result<Meanings, SidesError> {
    let mut meanings = Meanings::new();
    let (mut free, mut ambiguous) = (BTreeSet::new(), BTreeSet::new());
    for scalar in launches.flat_map(|launch| &launch.built.scalars) {
        let name = &scalar.name;
        let meaning = match &scalar.value {
            ScalarValue::Any(_) => {
                free.insert(name.clone());
                continue;
            }
            ScalarValue::Integer(value) => {
                i64::try_from(*value).ok().map(|value| Formula::number(Number::from(value)))
            }
            ScalarValue::Float(value) => Number::from_f64(*value).map(Formula::number),
            ScalarValue::Related(_, expression) => Some(Formula::expression(expression)?),
        };
        let Some(meaning) = meaning else {
            ambiguous.insert(name.clone());
            continue;
        };
        let other = meanings.insert(name.clone(), meaning.clone());
        if other.is_some_and(|other| other != meaning && other.value() != meaning.value()) {
            ambiguous.insert(name.clone());
        }
    }
    // Sizes may differ between the launches; then an expression cannot name them.
    meanings.retain(|name, _| !ambiguous.contains(name));
    if let Some(name) = free.iter().find(|name| meanings.contains_key(*name)) {
        return Err(SidesError::AnyOnOneSide { name: name.clone() });
    }
    resolved(meanings)
}

/// `scale is exactly 1/sqrt(8)`: lists expressions whose values may not be floats.
///
/// # Errors
/// If the value of an expression is beyond its type, or its float would be zero.
pub(super) fn exact_scalars<'p>(
    launches: impl Iterator<Item = &'p PreparedLaunch<'p>>,
    meanings: &Meanings,
) -> Result<Vec<String>, SidesError> {
    let mut all = Vec::new();
    for scalar in launches.flat_map(|launch| &launch.built.scalars) {
        let ScalarValue::Related(element, expression) = &scalar.value else { continue };
        let formula = Formula::expression(expression)?.with(meanings);
        let name = &scalar.name;
        let nearest = nearest(&formula, *element)
            .map_err(|why| SidesError::NotAFloat { name: name.clone(), why })?;
        let sentence = format!("{name} is exactly {expression}");
        if !nearest.is_some_and(|nearest| nearest.is_exact) && !all.contains(&sentence) {
            all.push(sentence);
        }
    }
    Ok(all)
}

/// Substitutes relations into each other.
fn resolved(meanings: Meanings) -> Result<Meanings, SidesError> {
    let (mut done, mut open) = (Meanings::new(), meanings);
    for _ in 0..MAX_DEPTH {
        let (ready, rest): (Meanings, Meanings) = open
            .clone()
            .into_iter()
            .partition(|(_, one)| one.names().iter().all(|name| !open.contains_key(name)));
        let ready = ready.into_iter().map(|(name, formula)| (name, formula.with(&done)));
        let ready: Meanings = ready.collect();
        done.extend(ready);
        if rest.is_empty() {
            return Ok(done);
        }
        open = rest;
    }
    Err(SidesError::Circular { name: open.into_keys().next().unwrap_or_default() })
}

/// A side of several launches.
///
/// # Errors
/// As [`side`].
pub(super) fn sequence<'p>(
    executions: &[Execution<'_>],
    prepared: &'p [PreparedLaunch<'_>],
    meanings: &Meanings,
) -> Result<Side<'p>, SidesError> {
    let mut launches = Vec::new();
    for (execution, prepared) in executions.iter().zip(prepared) {
        launches.push(side(execution, prepared, meanings)?);
    }
    if launches.len() > 1
        && executions.iter().any(|execution| !execution.arguments.aliases.is_empty())
    {
        return Err(SidesError::AliasInSequence);
    }
    let last = launches.pop().ok_or(SidesError::NoLaunch)?;
    let side = Side { before: launches, ..last };
    side.check_sequence()?;
    Ok(side)
}

/// A side of the comparison.
///
/// # Errors
/// If a relation cannot be read, or arguments at one address do not fit together.
pub(super) fn side<'p>(
    execution: &Execution<'_>,
    prepared: &'p PreparedLaunch<'_>,
    meanings: &Meanings,
) -> Result<Side<'p>, SidesError> {
    let mut inputs = Vec::new();
    for input in own_inputs(execution, prepared)? {
        inputs.push(Input {
            name: input.name.clone(),
            source: InputSource::Buffer(input.buffer),
            scalar: input.element.scalar(),
            kind: InputKind::Tensor {
                shape: input.shape.clone(),
                order: input.order(),
                structure: input.cells.clone(),
            },
        });
    }
    for scalar in &prepared.built.scalars {
        let (element, kind) = match &scalar.value {
            ScalarValue::Any(element) => (*element, InputKind::Scalar),
            ScalarValue::Related(element, expression) => {
                let formula = Formula::expression(expression)?.with(meanings);
                (*element, InputKind::Related(formula))
            }
            ScalarValue::Integer(_) | ScalarValue::Float(_) => continue,
        };
        inputs.push(Input {
            name: scalar.name.clone(),
            source: InputSource::Argument(scalar.argument, scalar.offset),
            scalar: element.scalar(),
            kind,
        });
    }
    let output = |output: &OutputSpec| {
        let bytes = output.element.bytes() as usize;
        Output {
            name: output.name.clone(),
            buffer: output.buffer,
            scalar: output.element.scalar(),
            shape: output.shape.clone(),
            starts: output.offsets().map(|offset| offset as usize * bytes).collect(),
        }
    };
    let outputs = prepared.built.outputs.iter().map(output).collect();
    let (program, launch) = (prepared.program(), &prepared.built.launch);
    let unlifted = prepared.unlifted();
    let (literals, before) = (prepared.literals.clone(), Vec::new());
    Ok(Side { program, unlifted, launch, inputs, outputs, literals, before })
}

/// The inputs of a side, one for each buffer: of several at one address, the first in `--alias`.
fn own_inputs<'p>(
    execution: &Execution<'_>,
    prepared: &'p PreparedLaunch<'_>,
) -> Result<Vec<&'p InputSpec>, SidesError> {
    let rank = |input: &InputSpec| {
        let groups = execution.arguments.aliases.iter();
        let rank = |names: &[String]| names.iter().position(|name| *name == input.name);
        groups.filter_map(|alias| rank(&alias.names)).next()
    };
    let mut chosen: Vec<&InputSpec> = Vec::new();
    for input in &prepared.built.inputs {
        let Some(known) = chosen.iter_mut().find(|one| one.buffer == input.buffer) else {
            chosen.push(input);
            continue;
        };
        if known.cells != input.cells {
            let (one, other) = (known.name.clone(), input.name.clone());
            return Err(SidesError::AliasStructures { one, other });
        }
        if known.order() != input.order() {
            let (one, other) = (known.name.clone(), input.name.clone());
            return Err(SidesError::AliasStrides { one, other });
        }
        if (known.range, known.is_distinct) != (input.range, input.is_distinct) {
            let (one, other) = (known.name.clone(), input.name.clone());
            return Err(SidesError::AliasRanges { one, other });
        }
        if rank(input) < rank(known) {
            *known = input;
        }
    }
    Ok(chosen)
}

/// The assumptions, with numbers and relations substituted for their names.
///
/// # Errors
/// If a name is not an input.
pub(super) fn assumptions(
    specs: &[AssumeSpec],
    sides: [&Side<'_>; 2],
    meanings: &Meanings,
) -> Result<Vec<Assumption>, SidesError> {
    let inputs = sides.iter().flat_map(|side| side.own_inputs()).map(|input| input.name.as_str());
    let inputs: BTreeSet<&str> = inputs.collect();
    let outputs: BTreeSet<&str> =
        sides.iter().flat_map(|side| side.written().into_keys()).collect();
    let mut assumptions = Vec::new();
    for spec in specs {
        let condition = spec.condition.with(meanings);
        let is_input = |name: &&&str| inputs.contains(**name) || outputs.contains(**name);
        if let Some(name) = spec.condition.constants().iter().find(is_input) {
            return Err(SidesError::ConstantName { name, condition: spec.to_string() });
        }
        let names = condition.names();
        if let Some(name) = names.iter().find(|name| !inputs.contains(name.as_str())) {
            let (condition, name) = (spec.to_string(), name.clone());
            return Err(match outputs.contains(name.as_str()) {
                true => SidesError::AssumedOutput { condition, name },
                false => {
                    let known = inputs.iter().map(|&input| input.to_owned()).collect();
                    SidesError::UnknownInput { condition, name, known }
                }
            });
        }
        assumptions.push(Assumption { condition });
    }
    Ok(assumptions)
}

/// Stated ranges of inputs of both sides, each once: `0 <= idx < 100`.
///
/// # Errors
/// If a name cannot be used in a condition.
pub(crate) fn ranges<'p>(
    launches: impl Iterator<Item = &'p PreparedLaunch<'p>>,
    sides: [&Side<'_>; 2],
) -> Result<Vec<AssumeSpec>, SidesError> {
    let inputs: BTreeSet<&str> =
        sides.iter().flat_map(|side| side.own_inputs()).map(|input| input.name.as_str()).collect();
    let mut all: Vec<AssumeSpec> = Vec::new();
    for input in launches.flat_map(|launch| &launch.built.inputs) {
        if !inputs.contains(input.name.as_str()) {
            continue;
        }
        let range = input.range.map(|range| range.condition(&input.name));
        let distinct = input.is_distinct.then(|| format!("distinct({})", input.name));
        for condition in range.into_iter().chain(distinct) {
            let spec = AssumeSpec { condition: Formula::condition(&condition)? };
            if let Some(name) = spec.condition.constants().into_iter().next() {
                return Err(SidesError::ConstantName { name, condition });
            }
            if !all.contains(&spec) {
                all.push(spec);
            }
        }
    }
    Ok(all)
}

/// A kernel outside of a comparison: all its inputs are symbols.
///
/// # Errors
/// If relations are circular.
pub(crate) fn single_side<'s>(
    execution: &Execution<'_>,
    prepared: &'s PreparedLaunch<'_>,
) -> Result<Side<'s>, SidesError> {
    side(execution, prepared, &meanings(std::iter::once(prepared))?)
}
