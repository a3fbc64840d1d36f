//! Reasons why two sides cannot be compared: they do not fit each other or the assumptions. Each displays as
//! a clause.

use crate::formula::FormulaError;
use std::fmt;
use thiserror::Error;

/// The reason why two sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// More inputs than can be numbered.
    #[error("there are too many inputs")]
    TooManyInputs,
    /// An input or output of both sides that differs between them.
    #[error("`{name}` has {property} on the other side")]
    Different {
        /// Its name.
        name: String,
        /// The property that differs.
        property: DifferingProperty,
    },
    /// A tensor with different strides in different launches of a side.
    #[error("`{name}` has different strides in another launch")]
    Strides {
        /// Its name.
        name: String,
    },
    /// A relation or assumption that makes no sense for these inputs.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// An assumption about tensors of different sizes.
    #[error("`{formula}` relates tensors of different sizes")]
    Sizes {
        /// The assumption as written.
        formula: String,
    },
    /// A tensor with `distinct` that is too large.
    #[error(
        "`distinct({name})`: comparisons support it for at most {most} elements; `check` supports any number"
    )]
    Distinct {
        /// The tensor.
        name: String,
        /// The largest supported number of elements.
        most: usize,
    },
    /// No input satisfies the assumptions; every two kernels would be equal.
    #[error("no input was found that satisfies the assumptions")]
    NoInput,
    /// A launch that cannot follow the earlier ones.
    #[error("launch {number} of a side: {why}")]
    Launch {
        /// The number of the launch, from 1.
        number: usize,
        /// The obstacle.
        why: Box<Self>,
    },
    /// A module variable read by a later launch. Our runs initialise it for each launch; a GPU keeps the contents.
    #[error(
        "launch {number} of a side reads the module variable `{name}`, which an earlier launch may have changed"
    )]
    ModuleVariable {
        /// The number of the launch, from 1.
        number: usize,
        /// The name of the variable.
        name: String,
    },
    /// A launch expects a scalar, but an earlier launch left a tensor with this name.
    #[error("`{name}` is not a tensor in launch {number}")]
    NoTensor {
        /// Its name.
        name: String,
        /// The number of the launch, from 1.
        number: usize,
    },
    /// Memory that two launches interpret differently.
    #[error("`{name}` has a different type, size or strides where it is written")]
    Layout {
        /// Its name.
        name: String,
    },
    /// A declared structure on memory written by an earlier launch.
    #[error("`{name}` is the result of an earlier launch: it can have no structure")]
    HandedOn {
        /// Its name.
        name: String,
    },
    /// An element handed to a later launch that is not always written.
    #[error("`{name}[{at}]` is written only under a condition")]
    Conditional {
        /// The name of the tensor.
        name: String,
        /// The number of the element.
        at: usize,
    },
    /// An element handed to a later launch whose value is not known.
    #[error("`{name}[{at}]` is a value {reason}")]
    Lost {
        /// The name of the tensor.
        name: String,
        /// The number of the element.
        at: usize,
        /// Continues "a value".
        reason: &'static str,
    },
    /// An element handed to a later launch that was never written.
    #[error("`{name}[{at}]` was not written")]
    Unwritten {
        /// The name of the tensor.
        name: String,
        /// The number of the element.
        at: usize,
    },
    /// An output that the other side lacks.
    #[error("`{name}` is an output of only one side")]
    OneSided {
        /// Its name.
        name: String,
    },
    /// No output elements to compare, so nothing would be proved.
    #[error("there is no output to compare")]
    NoOutput,
    /// The store of terms is full.
    #[error("the kernels compute more values than fit in memory")]
    TooManyValues,
    /// A function known only in a range, where the range cannot be proved.
    #[error(
        "a function is known only for some of its arguments, and its result is unknown for the others"
    )]
    Unfollowed,
}

/// The property in which an input or output differs from that of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferingProperty {
    /// The number of elements.
    Size,
    /// The elements that share memory.
    Sharing,
    /// The elements that are zero or equal to others.
    Structure,
    /// Its defining expression.
    Relation,
    /// A scalar on one side, a tensor on the other.
    Kind,
    /// The type of its elements.
    Type,
}

impl fmt::Display for DifferingProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "a different size",
            Self::Sharing => "elements that share memory in a different way",
            Self::Structure => "a different structure",
            Self::Relation => "a different defining expression",
            Self::Kind => "a different kind (scalar or tensor)",
            Self::Type => "a different type",
        })
    }
}
