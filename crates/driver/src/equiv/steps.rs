//! The steps of a side: launches and formulas in sequence.
//!
//! A formula becomes a launch for each of its definitions, so that all later code works on a list of launches.

use super::formulas::{self, FormulaLaunch};
use super::{Options, answer, outcome_of, suggest};
use crate::arguments::{ArgumentSpec, Arguments, BuildError, MissingData};
use crate::execute::{Execution, PreparedLaunch, Refusal, prepare};
use crate::{Colour, Input, Limits, Outcome, report};

/// A step of a side.
#[derive(Clone, Copy, Debug)]
pub enum Step<'r> {
    /// A kernel and its launch.
    Launch(Execution<'r>),
    /// A formula, which defines tensors element by element.
    Formula(FormulaStep<'r>),
}

/// A formula.
#[derive(Clone, Copy, Debug)]
pub struct FormulaStep<'r> {
    /// Its text.
    pub input: &'r Input,
    /// Tensors and scalars of its own; the others are those of the launches.
    pub arguments: &'r Arguments,
    /// Limits of its evaluation.
    pub limits: Limits,
}

impl<'r> Step<'r> {
    fn input(&self) -> &'r Input {
        match self {
            Self::Launch(execution) => execution.input,
            Self::Formula(formula) => formula.input,
        }
    }

    pub(super) fn arguments(&self) -> &'r Arguments {
        match self {
            Self::Launch(execution) => execution.arguments,
            Self::Formula(formula) => formula.arguments,
        }
    }
}

/// Compares two sequences of launches. A launch reads from a tensor the result of earlier launches in the tensor of
/// the same name. The final outputs of both sequences are compared.
#[must_use]
pub fn run_sequences(
    sides: [&[Execution<'_>]; 2],
    options: &Options<'_>,
    colour: Colour,
) -> Outcome {
    let steps = sides.map(|side| side.iter().copied().map(Step::Launch).collect::<Vec<_>>());
    run_steps(steps.each_ref().map(Vec::as_slice), options, colour)
}

/// Compares two sequences of launches and formulas.
#[must_use]
pub fn run_steps(sides: [&[Step<'_>]; 2], options: &Options<'_>, colour: Colour) -> Outcome {
    let inputs = sides.into_iter().flatten().flat_map(|one| one.input().texts());
    let colour = colour.for_input(inputs);
    compare_steps(sides, options, colour).escaped(colour)
}

fn compare_steps(sides: [&[Step<'_>]; 2], options: &Options<'_>, colour: Colour) -> Outcome {
    let mut launches = [Vec::new(), Vec::new()];
    for (number, side) in sides.into_iter().enumerate() {
        for (position, step) in side.iter().enumerate() {
            let Step::Launch(execution) = step else {
                launches[number].push(None);
                continue;
            };
            let others = other_arguments(sides, (number, position));
            match prepare(execution, &others, "equiv", MissingData::Opaque) {
                Ok(ready) => launches[number].push(Some(ready.lifted())),
                Err(refusal) => {
                    let refusal = suggest::with_both_sides(refusal, sides, options);
                    return refusal_outcome(execution, &refusal, colour);
                }
            }
        }
    }
    if sides.iter().any(|side| side.is_empty()) {
        return Outcome::bad_input("two kernels are needed");
    }
    let expansions = match formulas::expand(sides, &launches, options.parts.is_empty()) {
        Ok(expansions) => expansions,
        Err((input, refusal)) => return formulas::refusal_outcome(input, &refusal, colour),
    };
    let (executions, prepared) = flatten(sides, launches, &expansions);
    let Some(last) = executions[1].last().copied() else {
        return Outcome::bad_input("two kernels are needed");
    };
    match answer(executions.each_ref().map(Vec::as_slice), prepared, options) {
        Err(error) => {
            let input = vec![error.to_string()];
            let refusal = Refusal::Launch(BuildError { input, ..BuildError::default() });
            refusal_outcome(&last, &refusal, colour)
        }
        Ok(answered) => outcome_of(&answered, colour),
    }
}

/// Executions and prepared launches of both sides.
type Flat<'r> = ([Vec<Execution<'r>>; 2], [Vec<PreparedLaunch<'r>>; 2]);

/// Inserts the launches of formulas at their places.
fn flatten<'r>(
    sides: [&[Step<'r>]; 2],
    launches: [Vec<Option<PreparedLaunch<'r>>>; 2],
    expansions: &'r [FormulaLaunch<'r>],
) -> Flat<'r> {
    let (mut executions, mut prepared) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for (number, ready) in launches.into_iter().enumerate() {
        for (position, (step, ready)) in sides[number].iter().zip(ready).enumerate() {
            match (step, ready) {
                (Step::Launch(execution), Some(ready)) => {
                    executions[number].push(*execution);
                    prepared[number].push(ready);
                }
                _ => {
                    let own =
                        expansions.iter().filter(|expansion| expansion.place == (number, position));
                    for expansion in own {
                        executions[number].push(expansion.execution());
                        prepared[number].push(expansion.prepared());
                    }
                }
            }
        }
    }
    (executions, prepared)
}

/// Arguments of all steps but one.
fn other_arguments(sides: [&[Step<'_>]; 2], but: (usize, usize)) -> Vec<ArgumentSpec> {
    let steps = sides.into_iter().enumerate().flat_map(|(number, side)| {
        side.iter().enumerate().map(move |(position, one)| ((number, position), one))
    });
    let others = steps.filter(|(place, _)| *place != but);
    others.flat_map(|(_, one)| one.arguments().specs.iter().cloned()).collect()
}

fn refusal_outcome(execution: &Execution<'_>, refusal: &Refusal, colour: Colour) -> Outcome {
    let mut outcome = refusal.outcome(execution.input, colour);
    outcome.report = Some(report::refusal("equiv", execution, refusal));
    let name = execution.input.name();
    outcome.messages = format!("{name}:\n{}", outcome.messages);
    outcome
}
