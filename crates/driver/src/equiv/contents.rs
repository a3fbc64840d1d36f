//! Checks that tensors of one name have the same contents at the start of all launches, on both sides.
//!
//! A tensor is an argument, or a module variable named by `--symbol`. After a launch that writes it, it holds that
//! launch's result, so no contents may be given for later ones.

mod variables;

use super::error::SidesError;
use crate::arguments::{Arguments, Direction, TensorSpec};
use crate::execute::{Execution, PreparedLaunch};
use exec::{Access, Contents};
use std::collections::{BTreeMap, BTreeSet};
use variables::{HeldContents, held_contents};

/// Checks that contents given for a tensor are given at every launch that reads it, and are equal.
///
/// # Errors
/// If they are not.
pub(super) fn check(
    executions: [&[Execution<'_>]; 2],
    prepared: &[Vec<PreparedLaunch<'_>>; 2],
) -> Result<(), SidesError> {
    let is_sequence = executions.iter().any(|side| side.len() > 1);
    let mut known: BTreeMap<&str, GivenContents<'_>> = BTreeMap::new();
    for (side, prepared) in executions.into_iter().zip(prepared) {
        let mut written: BTreeSet<&str> = BTreeSet::new();
        let mut is_scratch: BTreeMap<&str, bool> = BTreeMap::new();
        for (execution, prepared) in side.iter().zip(prepared) {
            let tensors = tensors(execution.arguments);
            for (name, tensor) in &tensors {
                let scratch = tensor.direction == Direction::Scratch;
                if *is_scratch.entry(name).or_insert(scratch) != scratch {
                    return Err(SidesError::ScratchInSequence { name: (*name).to_owned() });
                }
            }
            for (name, here) in reads(&tensors, prepared) {
                if written.contains(name) {
                    written_before(name, here)?;
                    continue;
                }
                let before = *known.entry(name).or_insert(here);
                before.check(here, name, is_sequence)?;
            }
            let out = tensors.iter().filter(|(_, tensor)| tensor.direction != Direction::In);
            written.extend(out.map(|(name, _)| *name));
        }
    }
    variables::check(prepared)
}

/// The given contents of a tensor, if any.
#[derive(Clone, Copy)]
struct GivenContents<'p> {
    is_given: bool,
    bytes: Option<&'p [u8]>,
    is_variable: bool,
}

impl GivenContents<'_> {
    fn check(self, other: Self, name: &str, is_sequence: bool) -> Result<(), SidesError> {
        let name = || name.to_owned();
        if self.is_given != other.is_given {
            let place = if is_sequence { "in one launch" } else { "on one side" };
            return Err(SidesError::GivenOnce { name: name(), place });
        }
        match (self.bytes, other.bytes) {
            (Some(one), Some(other)) if one != other => {
                let place = other_place(is_sequence);
                Err(SidesError::OtherContents { name: name(), place })
            }
            _ => Ok(()),
        }
    }
}

/// The place of the difference, for messages.
fn other_place(is_sequence: bool) -> &'static str {
    if is_sequence { "in another launch" } else { "on the other side" }
}

/// Refuses contents given for a tensor that holds the result of an earlier launch.
fn written_before(name: &str, here: GivenContents<'_>) -> Result<(), SidesError> {
    let name = name.to_owned();
    match here {
        // No launch writes constants, and a copy by the host between launches would have to be stated.
        GivenContents { is_variable: true, .. } => Err(SidesError::WrittenSymbol { name }),
        GivenContents { is_given: true, .. } => Err(SidesError::Overwritten { name }),
        GivenContents { .. } => Ok(()),
    }
}

/// Tensors among the arguments, each once: several maps may describe one.
fn tensors(arguments: &Arguments) -> Vec<(&str, &TensorSpec)> {
    let mut seen = BTreeSet::new();
    let all = arguments.specs.iter().flat_map(|spec| spec.tensors());
    all.filter(|(name, _)| seen.insert(*name)).collect()
}

/// Tensors that have contents at the start of a launch.
fn reads<'p>(
    tensors: &[(&'p str, &'p TensorSpec)],
    prepared: &'p PreparedLaunch<'_>,
) -> Vec<(&'p str, GivenContents<'p>)> {
    let is_read =
        |tensor: &TensorSpec| !matches!(tensor.direction, Direction::Out | Direction::Scratch);
    let arguments = tensors.iter().filter(|(_, tensor)| is_read(tensor)).map(|(name, tensor)| {
        let (is_given, bytes) = (tensor.initial.is_some(), contents(prepared, name));
        (*name, GivenContents { is_given, bytes, is_variable: false })
    });
    let variables = prepared.built.variables.iter().filter(|variable| {
        variable.is_given && !tensors.iter().any(|(name, _)| *name == variable.name.as_str())
    });
    let variables = variables.filter_map(|variable| {
        let (is_given, bytes) = match held_contents(prepared, variable) {
            HeldContents::Bytes(bytes) => (true, Some(bytes)),
            HeldContents::Input => (false, None),
            HeldContents::Anything | HeldContents::Initialiser(_) => return None,
        };
        Some((variable.name.as_str(), GivenContents { is_given, bytes, is_variable: true }))
    });
    arguments.chain(variables).collect()
}

/// Contents of an argument.
fn contents<'p>(prepared: &'p PreparedLaunch<'_>, name: &str) -> Option<&'p [u8]> {
    let mut buffers = prepared.built.launch.buffers.iter();
    let found = buffers.find(|buffer| buffer.name == name && buffer.access == Access::In);
    match &found?.contents {
        Contents::Known(bytes) => Some(bytes),
        _ => None,
    }
}
