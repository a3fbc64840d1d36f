//! Checks that the given contents of a module variable agree over all launches that mention it.
//!
//! A module variable is in memory once, and copies made by the host between launches are unknown. So contents that
//! `--symbol` gives for one launch must hold at all others of its side. They must also hold on the other side, where
//! a variable of the same name is the same tensor, as for arguments. Variables without given contents may differ: two
//! files may have tables of one name, each with its own initialiser.

use super::super::error::SidesError;
use super::other_place;
use crate::arguments::VariableSpec;
use crate::execute::PreparedLaunch;
use exec::{Argument, Contents, VariableContents};
use ir::{Space, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// Contents of a module variable at a launch.
#[derive(Clone, Copy)]
pub(super) enum HeldContents<'p> {
    /// The bytes given by the user.
    Bytes(&'p [u8]),
    /// Any contents, the same wherever the name is an input.
    Input,
    /// Unknown contents that are not an input.
    Anything,
    /// The initialiser, or zeros.
    Initialiser(&'p Variable),
}

impl HeldContents<'_> {
    fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (Self::Bytes(one), Self::Bytes(other)) => one == other,
            (Self::Bytes(bytes), Self::Initialiser(variable))
            | (Self::Initialiser(variable), Self::Bytes(bytes)) => is_initial(variable, bytes),
            (Self::Input, Self::Input)
            | (Self::Anything, Self::Anything)
            | (Self::Initialiser(_), Self::Initialiser(_)) => true,
            (Self::Bytes(_) | Self::Input | Self::Anything | Self::Initialiser(_), _) => false,
        }
    }
}

/// Returns `true` if a variable that no launch writes holds these bytes.
fn is_initial(variable: &Variable, bytes: &[u8]) -> bool {
    let initial = &variable.initial;
    variable.relocations.is_empty()
        && variable.size == Some(bytes.len() as u64)
        && bytes.starts_with(initial)
        && bytes[initial.len()..].iter().all(|byte| *byte == 0)
}

/// Returns the contents of a variable at a launch.
pub(super) fn held_contents<'p>(
    prepared: &'p PreparedLaunch<'_>,
    variable: &VariableSpec,
) -> HeldContents<'p> {
    let mut symbols = prepared.built.launch.symbols.iter();
    match symbols.find(|(id, _)| *id == variable.id).map(|(_, held)| held) {
        None => HeldContents::Initialiser(&prepared.program().variables[variable.id]),
        Some(VariableContents::Contents(Contents::Known(bytes))) => HeldContents::Bytes(bytes),
        Some(_) if variable.is_input => HeldContents::Input,
        Some(_) => HeldContents::Anything,
    }
}

/// Checks that each variable with given contents has the same contents at all launches.
///
/// # Errors
/// If they do not.
pub(super) fn check(prepared: &[Vec<PreparedLaunch<'_>>; 2]) -> Result<(), SidesError> {
    prepared.iter().try_for_each(|side| check_written(side))?;
    let is_sequence = prepared.iter().any(|side| side.len() > 1);
    let mut all: BTreeMap<&str, Vec<(bool, HeldContents<'_>)>> = BTreeMap::new();
    for launch in prepared.iter().flatten() {
        for variable in &launch.built.variables {
            let held = (variable.is_given, held_contents(launch, variable));
            all.entry(&variable.name).or_default().push(held);
        }
    }
    for (name, launches) in all {
        let Some((_, given)) = launches.iter().find(|(is_given, _)| *is_given) else { continue };
        let is_other = |launch: &&PreparedLaunch<'_>| !has_variable(launch, name);
        let others = prepared.iter().flatten().filter(is_other);
        let scalars = others.flat_map(|launch| scalars(launch, name, *given));
        let launches = launches.iter().copied().chain(scalars.map(|scalar| (true, scalar)));
        for (is_given, other) in launches {
            if !given.agrees(other) {
                return Err(disagreement(name, is_given, other, other_place(is_sequence)));
            }
        }
    }
    Ok(())
}

fn has_variable(launch: &PreparedLaunch<'_>, name: &str) -> bool {
    launch.built.variables.iter().any(|variable| variable.name == name)
}

/// Returns the arguments of a launch that have the variable's name and size. Such an argument counts as the same
/// number, passed in another way.
fn scalars<'p>(
    launch: &'p PreparedLaunch<'_>,
    name: &str,
    given: HeldContents<'_>,
) -> impl Iterator<Item = HeldContents<'p>> {
    let length = match given {
        HeldContents::Bytes(bytes) => Some(bytes.len()),
        HeldContents::Input | HeldContents::Anything | HeldContents::Initialiser(_) => None,
    };
    let named = launch.built.names.iter().zip(&launch.built.launch.arguments);
    named.filter(move |(one, _)| *one == name).filter_map(move |(_, argument)| match argument {
        Argument::Bytes(bytes) if Some(bytes.len()) == length => Some(HeldContents::Bytes(bytes)),
        _ => None,
    })
}

fn disagreement(
    name: &str,
    is_given: bool,
    other: HeldContents<'_>,
    place: &'static str,
) -> SidesError {
    let name = name.to_owned();
    let held = match other {
        _ if is_given => return SidesError::OtherContents { name, place },
        HeldContents::Initialiser(variable) if variable.initial.is_empty() => "zeros",
        HeldContents::Initialiser(_) => "its initialiser",
        HeldContents::Bytes(_) | HeldContents::Input | HeldContents::Anything => "anything",
    };
    SidesError::NothingGiven { name, place, held }
}

/// Checks that no earlier launch of the side may write a variable with given contents: each of our runs starts from
/// the given contents.
fn check_written(side: &[PreparedLaunch<'_>]) -> Result<(), SidesError> {
    let mut mentioned: BTreeSet<&str> = BTreeSet::new();
    for launch in side {
        let variables = &launch.built.variables;
        for variable in
            variables.iter().filter(|variable| variable.is_given && variable.is_mentioned)
        {
            let is_writable = launch.program().variables[variable.id].space != Space::Const;
            let name = variable.name.as_str();
            if is_writable && mentioned.contains(name) {
                return Err(SidesError::WrittenVariable { name: name.to_owned() });
            }
        }
        let here = variables.iter().filter(|variable| variable.is_mentioned);
        mentioned.extend(here.map(|one| one.name.as_str()));
    }
    Ok(())
}
