//! The two kernels of a comparison, and the inputs they have in common.
//!
//! Inputs with one name are the same on both sides. Elements of a tensor are numbered in the order
//! of its indices, whatever its strides; a side whose memory has another order says which element is
//! where. Memory between the elements of a strided tensor belongs to nobody: it is one input more
//! for each such place and each side, so that an output that depends on it differs.
//!
//! A tensor may have a structure, the same on both sides: elements that are zero, and elements that are the same as
//! others. Of these no term is made. Their inputs are numbered nevertheless, and nothing depends on them.

use crate::formula::Formula;
use exec::Launch;
use exec::domain::InputSource;
use ir::{Program, Scalar};
use std::collections::BTreeMap;
use std::sync::Arc;
use term::Number;

/// One of the two kernels, or several launched one after the other.
#[derive(Clone, Debug)]
pub struct Side<'s> {
    /// Its program, lifted: to be run on reals.
    pub program: &'s Program,
    /// Its program as written: to be run on bits.
    pub unlifted: &'s Program,
    /// Its launch.
    pub launch: &'s Launch,
    /// Inputs with a name: inputs of the two sides with one name are the same.
    pub inputs: Vec<Input>,
    /// Outputs with a name.
    pub outputs: Vec<Output>,
    /// Positive numbers that it has exactly as they are written, because it is a formula: `0.1` is a tenth.
    pub literals: Vec<Literal>,
    /// Launches that come before this one; they have none before themselves. A tensor that an earlier
    /// launch writes is the memory that a later one calls by the same name.
    pub before: Vec<Self>,
}

impl<'s> Side<'s> {
    /// The launches in their order.
    pub fn launches(&self) -> impl Iterator<Item = &Self> {
        self.before.iter().chain(std::iter::once(self))
    }

    /// How many launches there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.before.len() + 1
    }

    /// The launch before one of a number that was the last to write a tensor, and its output.
    #[must_use]
    pub fn writer(&self, before: usize, name: &str) -> Option<(usize, &Output)> {
        let launches = self.launches().take(before).enumerate();
        let written = launches
            .flat_map(|(number, launch)| launch.outputs.iter().map(move |output| (number, output)));
        written.filter(|(_, output)| output.name == name).last()
    }

    /// Inputs that no launch of the side leaves.
    pub fn own_inputs(&self) -> impl Iterator<Item = &Input> {
        self.launches().enumerate().flat_map(move |(number, launch)| {
            launch.inputs.iter().filter(move |input| self.writer(number, &input.name).is_none())
        })
    }

    /// What is written, each tensor once, with the launch that does so last.
    #[must_use]
    pub fn written(&self) -> BTreeMap<&str, (usize, &Output)> {
        let names = self.launches().flat_map(|launch| &launch.outputs).map(|one| one.name.as_str());
        names.filter_map(|name| Some((name, self.writer(self.count(), name)?))).collect()
    }

    /// Whether a launch reads what an earlier one wrote.
    #[must_use]
    pub fn hands_on(&self, name: &str) -> bool {
        self.launches().enumerate().any(|(number, launch)| {
            let reads = launch.inputs.iter().any(|input| input.name == name);
            reads && self.writer(number, name).is_some()
        })
    }
}

/// A number that is written in a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its value.
    pub number: Number,
    /// Its spelling.
    pub text: String,
}

/// A tensor or scalar whose values are symbols.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Where the launch has it.
    pub source: InputSource,
    /// What its elements are.
    pub scalar: Scalar,
    /// What it is.
    pub kind: InputKind,
}

/// What an input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A single number.
    Scalar,
    /// A number that depends on others.
    Related(Formula),
    /// Elements.
    Tensor {
        /// Sizes.
        shape: Vec<u64>,
        /// For each element of the memory, which element of the tensor it is; `None` if the memory
        /// has them in the order of the indices and nothing else.
        order: Option<Vec<Option<u32>>>,
        /// For each element of the tensor, what is known of it; `None` if nothing is. Only with an order.
        structure: Option<Arc<[Cell]>>,
    },
}

/// An element of a tensor with a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// It is zero.
    Zero,
    /// It is the element of this number, from 0 in the order of the indices, which is itself or one before it.
    Element(u32),
}

/// A tensor that is written.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The buffer.
    pub buffer: usize,
    /// What its elements are.
    pub scalar: Scalar,
    /// Sizes.
    pub shape: Vec<u64>,
    /// The first byte of each element, in the order of the indices.
    pub starts: Vec<usize>,
}

/// Something that was said about the inputs.
#[derive(Clone, Debug)]
pub struct Assumption {
    /// A condition on inputs, for all elements of tensors in it.
    pub condition: Formula,
}
