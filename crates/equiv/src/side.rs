//! The two kernels of a comparison, and their common inputs.
//!
//! Inputs with the same name are the same on both sides. Elements of a tensor are numbered in index order,
//! for all strides; a side with another memory order maps its memory to elements. The gaps of a strided
//! tensor belong to no element: each such place is an extra input of its side, so an output that depends on
//! it differs.
//!
//! A tensor may have a structure, the same on both sides: elements that are zero, and elements equal to
//! others. These get no terms. Their inputs are numbered nevertheless, and nothing depends on them.

use crate::formula::Formula;
use exec::Launch;
use exec::domain::InputSource;
use ir::{Program, Scalar};
use std::collections::BTreeMap;
use std::sync::Arc;
use term::Number;

/// A side of a comparison: a kernel, or several launched in sequence.
#[derive(Clone, Debug)]
pub struct Side<'s> {
    /// Its lifted program, for runs on reals.
    pub program: &'s Program,
    /// Its program as written, for runs on bits.
    pub unlifted: &'s Program,
    /// Its launch.
    pub launch: &'s Launch,
    /// Its named inputs; inputs of the two sides with the same name are the same.
    pub inputs: Vec<Input>,
    /// Its named outputs.
    pub outputs: Vec<Output>,
    /// For a formula: positive numbers that it contains exactly as written. `0.1` is a tenth.
    pub literals: Vec<Literal>,
    /// Launches before this one; they have none themselves. A tensor written by an earlier launch is the
    /// memory of the same name in a later one.
    pub before: Vec<Self>,
}

impl<'s> Side<'s> {
    /// Returns the launches in order.
    pub fn launches(&self) -> impl Iterator<Item = &Self> {
        self.before.iter().chain(std::iter::once(self))
    }

    /// Returns the number of launches.
    #[must_use]
    pub fn count(&self) -> usize {
        self.before.len() + 1
    }

    /// Returns the last launch before number `before` that writes a tensor, with its output.
    #[must_use]
    pub fn writer(&self, before: usize, name: &str) -> Option<(usize, &Output)> {
        let launches = self.launches().take(before).enumerate();
        let written = launches
            .flat_map(|(number, launch)| launch.outputs.iter().map(move |output| (number, output)));
        written.filter(|(_, output)| output.name == name).last()
    }

    /// Returns the inputs that no earlier launch of the side writes.
    pub fn own_inputs(&self) -> impl Iterator<Item = &Input> {
        self.launches().enumerate().flat_map(move |(number, launch)| {
            launch.inputs.iter().filter(move |input| self.writer(number, &input.name).is_none())
        })
    }

    /// Returns the written tensors, each with the launch that writes it last.
    #[must_use]
    pub fn written(&self) -> BTreeMap<&str, (usize, &Output)> {
        let names = self.launches().flat_map(|launch| &launch.outputs).map(|one| one.name.as_str());
        names.filter_map(|name| Some((name, self.writer(self.count(), name)?))).collect()
    }

    /// Returns `true` if a launch reads a tensor written by an earlier one.
    #[must_use]
    pub fn hands_on(&self, name: &str) -> bool {
        self.launches().enumerate().any(|(number, launch)| {
            let reads = launch.inputs.iter().any(|input| input.name == name);
            reads && self.writer(number, name).is_some()
        })
    }
}

/// A number written in a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its value.
    pub number: Number,
    /// Its spelling.
    pub text: String,
}

/// A tensor or scalar with symbolic values.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its location in the launch.
    pub source: InputSource,
    /// The type of its elements.
    pub scalar: Scalar,
    /// Its kind.
    pub kind: InputKind,
}

/// The kind of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A single number.
    Scalar,
    /// A number that depends on others.
    Related(Formula),
    /// A tensor.
    Tensor {
        /// Dimensions.
        shape: Vec<u64>,
        /// For each element of the memory, the number of the tensor's element, or `None` for a gap. The whole
        /// field is `None` if the memory has exactly the elements in index order.
        order: Option<Vec<Option<u32>>>,
        /// The structure of each element of the tensor; `None` if nothing is known. Requires `order`.
        structure: Option<Arc<[StructuredElement]>>,
    },
}

/// An element of a tensor with a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructuredElement {
    /// Zero.
    Zero,
    /// Equal to the element of this number, from 0 in index order: itself or an earlier one.
    Element(u32),
}

/// A written tensor.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The buffer.
    pub buffer: usize,
    /// The type of its elements.
    pub scalar: Scalar,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// The first byte of each element, in index order.
    pub starts: Vec<usize>,
}

/// An assumption about the inputs.
#[derive(Clone, Debug)]
pub struct Assumption {
    /// A condition on inputs; it holds for all elements of its tensors.
    pub condition: Formula,
}
