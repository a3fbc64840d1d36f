//! Inputs that are terms of others: related scalars, and tensors whose memory has another order.

use super::Symbolic;
use crate::ranges;
use exec::domain::{InputSource, Inputs, Value};
use ir::Scalar;
use rustc_hash::FxHashMap;
use term::{Node, Term};

/// The elements of an input that are terms of others.
#[derive(Debug)]
pub(super) enum Elements {
    /// Nobody has asked for them yet.
    Terms(Vec<Term>),
    /// Handles were made: how many elements there are, and the handle of the first.
    Handles(u64, Option<Value>),
}

impl Symbolic {
    /// Says that the elements of an input are these terms of this store.
    pub(crate) fn give(&mut self, source: InputSource, terms: Vec<Term>) {
        self.given.insert(source, Elements::Terms(terms));
    }

    /// The handle of the first element of an input that is given; the same whenever a launch is run again.
    pub(super) fn given_handle(&mut self, inputs: &Inputs) -> Option<Option<Value>> {
        let handle = match self.given.remove(&inputs.source)? {
            Elements::Terms(terms) => self.handles_of(terms, inputs),
            Elements::Handles(count, handle) => handle.filter(|_| count == inputs.count),
        };
        self.given.insert(inputs.source, Elements::Handles(inputs.count, handle));
        Some(handle)
    }

    /// The handle of the first element of an input that is one of all inputs.
    pub(super) fn own_handle(&mut self, inputs: &Inputs) -> Option<Value> {
        let first = *self.sources.get(&inputs.source)?;
        if let Scalar::Integer { width, signed } = inputs.scalar {
            let positions = first..first + usize::try_from(inputs.count).ok()?;
            self.integers.push((positions, ranges::of_type(width.bits(), signed)));
        }
        Value::try_from(first + 1).ok()
    }

    /// Another launch begins, whose inputs are at these positions of all inputs.
    pub(crate) fn begin(&mut self, sources: FxHashMap<InputSource, usize>) {
        self.sources = sources;
        self.given.clear();
        self.relied.begin();
    }

    /// The handle of the first of some terms; the others follow it.
    fn handles_of(&mut self, given: Vec<Term>, inputs: &Inputs) -> Option<Value> {
        let whole = given.len() as u64 == inputs.count;
        if let Scalar::Integer { width, signed } = inputs.scalar {
            let range = ranges::of_type(width.bits(), signed);
            for node in given.iter().map(|term| self.terms.node(*term)) {
                if let Node::Input(input) = node {
                    self.integers.push((input.position()..input.position() + 1, range));
                }
            }
        }
        // Handles of single terms follow each other.
        let handles: Vec<Value> = given.into_iter().map(|term| self.handles.handle(term)).collect();
        handles.first().copied().filter(|_| whole && !self.handles.exhausted)
    }
}
