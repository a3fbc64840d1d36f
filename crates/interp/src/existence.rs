//! Tests that the contract allows some initial contents on a launch, before an event of a run counts.
//!
//! A run draws an element when it is first read, so it may end on a launch on which an element that it never read has
//! no allowed value. The contract excludes that launch. So this module draws the elements that requirements constrain,
//! as the run itself does, in a separate memory, without the kernel's writes.
//!
//! It errs in both directions. Allowed contents may be missed, which loses an event. And some elements are not drawn:
//! - in an array with more than [`MAX_DRAWN`] elements, all but a sample;
//! - arrays of several dimensions, and arrays without a size and a range;
//! - elements that requirements relate to each other, if a single thread of a large launch runs and reads none of them.

use crate::contents::{TOO_MANY_RELATED, relates};
use crate::contract::{Contract, mentioned_arrays};
use crate::evaluate::truth;
use crate::machine::{Halt, Machine};
use crate::outcome::Event;
use crate::quantifiers::{BoundVariables, for_each_assignment};
use base::Index;
use kir::{ArrayId, Requirement};

/// Limit on the elements of an array that are all drawn.
const MAX_DRAWN: i128 = 4096;
/// Elements to draw at each end of a larger array.
const END: i128 = 256;
/// Elements to draw between the ends.
const BETWEEN: i128 = 256;

impl Machine<'_> {
    /// Keeps events only if the contract allows the launch's initial contents.
    pub(crate) fn allowed_events(&self, events: Vec<Event>) -> Vec<Event> {
        match events.is_empty() || self.has_allowed_contents() {
            true => events,
            false => Vec::new(),
        }
    }

    /// Returns `true` if allowed values were found for the elements that requirements constrain.
    pub(crate) fn has_allowed_contents(&self) -> bool {
        if !self.kernel.requires.iter().any(constrains_more_than_sizes) {
            return true;
        }
        let mut machine = Machine::new(self.kernel, self.launch, self.budget);
        match machine.draw_related_contents() {
            Ok(()) => {}
            // A run of one thread goes on without these contents.
            Err(Halt::Stopped(TOO_MANY_RELATED)) if !self.drew_constrained => {}
            Err(_) => return false,
        }
        self.kernel.requires.iter().all(|one| machine.draws_all(one))
    }

    /// Draws the elements that a requirement ranges over; `false` if one has no allowed value.
    fn draws_all(&mut self, requirement: &Requirement) -> bool {
        match mentioned_arrays(requirement)[..] {
            [] => self.holds_for_all(requirement),
            [array] if !relates(requirement) => {
                let places = self.places(requirement, array);
                places.into_iter().map(|at| (array, [at, 0, 0])).all(|cell| {
                    self.global.contains_key(&cell) || self.initial_value(&cell).is_ok()
                })
            }
            // Drawn before.
            _ => true,
        }
    }

    /// The places of an array to draw: by its size, else by the range of the requirement's variable.
    fn places(&self, requirement: &Requirement, array: ArrayId) -> Vec<i128> {
        match self.sizes[array.position()][..] {
            [Some(size)] if size <= MAX_DRAWN => (0..size).collect(),
            [Some(size)] => {
                let step = (size / BETWEEN).max(1);
                let between = (1..BETWEEN).map(|number| number * step);
                (0..END).chain(between).chain(size - END..size).collect()
            }
            [None] => {
                let env = Contract { launch: self.launch, bound: &[], elements: None };
                let mut places = Vec::new();
                let (vars, condition) = (&requirement.forall, &requirement.condition);
                // Without a range there is nothing to draw.
                let _ = for_each_assignment(vars, condition, false, &env, &mut |values| {
                    places.extend(values.iter().map(|(_, value)| *value));
                    Ok(true)
                });
                places
            }
            _ => Vec::new(),
        }
    }

    /// Returns `true` if a requirement without arrays is known to hold for all values of its variables.
    fn holds_for_all(&self, requirement: &Requirement) -> bool {
        if requirement.forall.is_empty() {
            return true;
        }
        let outer = Contract { launch: self.launch, bound: &[], elements: None };
        let (vars, condition) = (&requirement.forall, &requirement.condition);
        let holds = for_each_assignment(vars, condition, false, &outer, &mut |vars| {
            truth(condition, &BoundVariables { outer: &outer, vars })
        });
        holds == Ok(true)
    }
}

/// Returns `true` if a requirement is not only about the launch's sizes.
fn constrains_more_than_sizes(requirement: &Requirement) -> bool {
    !requirement.forall.is_empty() || !mentioned_arrays(requirement).is_empty()
}
