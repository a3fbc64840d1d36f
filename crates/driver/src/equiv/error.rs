//! Why two sides cannot be compared as they are given.

use crate::arguments::{NearestError, PartError};
use equiv::{FormulaError, Mismatch};
use thiserror::Error;

/// Why there is no comparison; displays as a sentence.
#[derive(Debug, Error)]
pub(crate) enum SidesError {
    #[error(transparent)]
    Formula(#[from] FormulaError),
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error("`{name}` is any number on one side and not on the other")]
    AnyOnOneSide { name: String },
    #[error("`{name}`: {why}")]
    NoFloat { name: String, why: NearestError },
    #[error("`{name}` is a constant in `{condition}`: give the argument another name")]
    ConstantName { name: &'static str, condition: String },
    #[error(
        "`{one}` and `{other}` are at one address and have different ranges; say the same of both"
    )]
    AliasRanges { one: String, other: String },
    #[error(
        "`{one}` and `{other}` are at one address and have different structures; say the same of both"
    )]
    AliasStructures { one: String, other: String },
    #[error("`{name}` depends on itself, or on too many others")]
    Circle { name: String },
    #[error(
        "the module variable `{name}` has the name of what an earlier launch writes, and no launch writes it"
    )]
    WrittenSymbol { name: String },
    #[error("`{name}` is what an earlier launch leaves there")]
    Overwritten { name: String },
    #[error("the contents of `{name}` are given {place} alone")]
    GivenOnce { name: String, place: &'static str },
    #[error("`{name}` has other contents {place}")]
    OtherContents { name: String, place: &'static str },
    #[error(
        "the module variable `{name}` has other contents {place}: nothing says what it holds there, so that it holds {held}; \
         give it the same contents everywhere"
    )]
    NothingGiven { name: String, place: &'static str, held: &'static str },
    #[error(
        "an earlier launch may have written the module variable `{name}`, so that its contents at a later launch cannot be given"
    )]
    WrittenVariable { name: String },
    #[error(
        "`{name}` is scratch in one launch of a side and not in another: what a later launch reads is an output of the earlier"
    )]
    ScratchInSequence { name: String },
    #[error("arguments at one address (alias) are not supported in a sequence")]
    AliasInSequence,
    #[error("a side has no launch")]
    NoLaunch,
    #[error(
        "launch {number} contains griddepcontrol.wait and no thread executes it: the next launch may start while earlier \
         ones run"
    )]
    NobodyWaits { number: usize },
    #[error("launch {number} has too many accesses before griddepcontrol.wait to look at")]
    ManyEarly { number: usize },
    #[error(
        "`{one}` and `{other}` are at one address and have different strides, which is not supported"
    )]
    AliasStrides { one: String, other: String },
    #[error("--assume '{condition}': `{name}` is an output")]
    AssumedOutput { condition: String, name: String },
    #[error("--assume '{condition}': no input is called `{name}`; there is {}", .known.join(", "))]
    UnknownInput { condition: String, name: String, known: Vec<String> },
    #[error("--compare: {0}")]
    Part(#[from] PartError),
    #[error(
        "--compare: the output has other sizes on the other side, so that the part is another one"
    )]
    PartShapes,
    #[error("--compare: parts of what a sequence of launches leaves are not compared")]
    PartOfSequence,
    /// No input satisfies what is assumed.
    #[error("{0}")]
    Impossible(String),
}
