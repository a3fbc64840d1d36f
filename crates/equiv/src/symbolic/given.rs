//! Inputs defined by terms: related scalars, tensors in another memory order, and results of earlier launches.

use super::Symbolic;
use crate::ranges;
use exec::domain::{InputSource, Inputs, Value};
use ir::Scalar;
use rustc_hash::FxHashMap;
use term::{Node, Term};

/// The elements of an input that is defined by terms.
#[derive(Debug)]
pub(super) enum Elements {
    /// Not requested yet.
    Terms(Vec<Term>),
    /// Handles exist: the number of elements, and the handle of the first.
    Handles(u64, Option<Value>),
}

impl Symbolic {
    /// Defines the elements of an input as terms of this store.
    pub(crate) fn define_input(&mut self, source: InputSource, terms: Vec<Term>) {
        self.given.insert(source, Elements::Terms(terms));
    }

    /// Returns the handle of the first element of an input that is defined by terms. It stays the same when a
    /// launch runs again. The outer `None` says that the input is not defined by terms, the inner `None` that it
    /// has no handles.
    pub(super) fn given_handle(&mut self, inputs: &Inputs) -> Option<Option<Value>> {
        let handle = match self.given.remove(&inputs.source)? {
            Elements::Terms(terms) => self.handles_of(terms, inputs),
            Elements::Handles(count, handle) => handle.filter(|_| count == inputs.count),
        };
        self.given.insert(inputs.source, Elements::Handles(inputs.count, handle));
        Some(handle)
    }

    /// Returns the handle of the first element of an ordinary input.
    pub(super) fn own_handle(&mut self, inputs: &Inputs) -> Option<Value> {
        let first = *self.sources.get(&inputs.source)?;
        if let Scalar::Integer { width, signed } = inputs.scalar {
            let positions = first..first + usize::try_from(inputs.count).ok()?;
            self.integers.push((positions, ranges::of_type(width.bits(), signed)));
        }
        Value::try_from(first + 1).ok()
    }

    /// Starts another launch, with inputs at these positions of all inputs.
    pub(crate) fn begin(&mut self, sources: FxHashMap<InputSource, usize>) {
        self.sources = sources;
        self.given.clear();
        self.assumed_properties.begin();
    }

    /// Creates consecutive handles for some terms and returns the first.
    fn handles_of(&mut self, given: Vec<Term>, inputs: &Inputs) -> Option<Value> {
        let is_complete = given.len() as u64 == inputs.count;
        if let Scalar::Integer { width, signed } = inputs.scalar {
            let range = ranges::of_type(width.bits(), signed);
            for node in given.iter().map(|term| self.terms.node(*term)) {
                if let Node::Input(input) = node {
                    self.integers.push((input.position()..input.position() + 1, range));
                }
            }
        }
        // Handles of single terms are consecutive.
        let handles: Vec<Value> = given.into_iter().map(|term| self.handles.handle(term)).collect();
        handles.first().copied().filter(|_| is_complete && !self.handles.exhausted)
    }
}
