//! Why two sides are not compared: they do not fit together, or not with what is assumed. Each displays as a clause.

use crate::formula::FormulaError;
use std::fmt;
use thiserror::Error;

/// Why two sides are not compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// More than can be numbered.
    #[error("there are too many inputs")]
    TooManyInputs,
    /// An input or output that both sides have, and not alike.
    #[error("`{name}` is {how} on the other side")]
    Unlike {
        /// Which.
        name: String,
        /// In what.
        how: Unlike,
    },
    /// A tensor whose strides change between launches of a side.
    #[error("`{name}` has other strides in another launch")]
    Strides {
        /// Which.
        name: String,
    },
    /// A relation or an assumption that makes no sense for these inputs.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// An assumption about tensors that have no elements in common.
    #[error("`{formula}` is about tensors of different sizes")]
    Sizes {
        /// The assumption as it is written.
        formula: String,
    },
    /// A tensor that is said to have no two equal elements is too large.
    #[error(
        "`distinct({name})`: comparisons follow it for at most {most} elements; `check` for any number"
    )]
    Distinct {
        /// The tensor.
        name: String,
        /// The largest number.
        most: usize,
    },
    /// Under assumptions that nothing satisfies everything is equal.
    #[error("no input was found that satisfies the assumptions")]
    NoInput,
    /// A launch that cannot follow those before it.
    #[error("launch {number} of a side: {why}")]
    Launch {
        /// From 1.
        number: usize,
        /// The obstacle.
        why: Box<Self>,
    },
    /// A variable that starts anew in each of our runs, and would not on a GPU.
    #[error(
        "launch {number} of a side reads the module variable `{name}`, in which an earlier one may have left something"
    )]
    ModuleVariable {
        /// From 1.
        number: usize,
        /// Which.
        name: String,
    },
    /// A launch takes a number where an earlier one left a tensor.
    #[error("`{name}` is no tensor in launch {number}")]
    NoTensor {
        /// Which.
        name: String,
        /// From 1.
        number: usize,
    },
    /// Memory that two launches see in different ways.
    #[error("`{name}` has another type, size or strides than where it is written")]
    Layout {
        /// Which.
        name: String,
    },
    /// A structure that is said of memory which an earlier launch wrote.
    #[error("`{name}` is what an earlier launch leaves there: no structure can be said of it")]
    HandedOn {
        /// Which.
        name: String,
    },
    /// An element that is handed on and not always written.
    #[error("`{name}[{at}]` is written only under a condition")]
    Conditional {
        /// Which tensor.
        name: String,
        /// Which element.
        at: usize,
    },
    /// An element that is handed on and not known.
    #[error("`{name}[{at}]` is a value {reason}")]
    Lost {
        /// Which tensor.
        name: String,
        /// Which element.
        at: usize,
        /// Words that follow "a value".
        reason: &'static str,
    },
    /// An element that is handed on and was never written.
    #[error("`{name}[{at}]` was not written")]
    Unwritten {
        /// Which tensor.
        name: String,
        /// Which element.
        at: usize,
    },
    /// An output without a counterpart.
    #[error("`{name}` is an output of one side alone")]
    OneSided {
        /// Which.
        name: String,
    },
    /// Nothing compared is nothing proved.
    #[error("there is no output to compare")]
    NoOutput,
    /// The store of terms is full.
    #[error("the kernels compute more values than can be kept")]
    TooManyValues,
    /// A function that is known in a range, which cannot be shown.
    #[error(
        "a function is known for some of its arguments only, and what it computes cannot be followed apart from them"
    )]
    Unfollowed,
}

/// In what an input or output is unlike that of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlike {
    /// The number of elements.
    Size,
    /// Which elements share their memory.
    Sharing,
    /// Which elements are zero or the same.
    Structure,
    /// The expression that it is.
    Relation,
    /// A scalar here, a tensor there.
    Kind,
    /// The type of its elements.
    Type,
}

impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "of another size",
            Self::Sharing => "a tensor whose elements share memory in another way",
            Self::Structure => "a tensor of another structure",
            Self::Relation => "related otherwise",
            Self::Kind => "of another kind",
            Self::Type => "of another type",
        })
    }
}
