//! Reasons why two sides cannot be compared as given.

use crate::arguments::{NearestError, PartError};
use equiv::{FormulaError, Mismatch};
use thiserror::Error;

/// The reason why there is no comparison; displays as a sentence.
#[derive(Debug, Error)]
pub(crate) enum SidesError {
    #[error(transparent)]
    Formula(#[from] FormulaError),
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error("`{name}` is any number on one side, but not on the other")]
    AnyOnOneSide { name: String },
    #[error("`{name}`: {why}")]
    NotAFloat { name: String, why: NearestError },
    #[error("`{name}` is a constant in `{condition}`: give the argument another name")]
    ConstantName { name: &'static str, condition: String },
    #[error(
        "`{one}` and `{other}` are at one address and have different ranges; give both the same"
    )]
    AliasRanges { one: String, other: String },
    #[error(
        "`{one}` and `{other}` are at one address and have different structures; give both the same"
    )]
    AliasStructures { one: String, other: String },
    #[error("`{name}` depends on itself, or on too many others")]
    Circular { name: String },
    #[error(
        "the module variable `{name}` has the name of a result of an earlier launch, but no launch writes the variable"
    )]
    WrittenSymbol { name: String },
    #[error("`{name}` is the result of an earlier launch")]
    Overwritten { name: String },
    #[error("the contents of `{name}` are given only {place}")]
    GivenOnce { name: String, place: &'static str },
    #[error("`{name}` has different contents {place}")]
    OtherContents { name: String, place: &'static str },
    #[error(
        "the module variable `{name}` has different contents {place}: no contents are given there, so it \
        holds {held}; \
         give it the same contents everywhere"
    )]
    NothingGiven { name: String, place: &'static str, held: &'static str },
    #[error(
        "an earlier launch may have written the module variable `{name}`, so its contents at a later launch \
        cannot be given"
    )]
    WrittenVariable { name: String },
    #[error(
        "`{name}` is scratch in one launch of a side and not in another: data that a later launch reads must \
        be an output of the earlier one"
    )]
    ScratchInSequence { name: String },
    #[error("arguments at one address (alias) are not supported in a sequence")]
    AliasInSequence,
    #[error("a side has no launch")]
    NoLaunch,
    #[error(
        "launch {number} contains griddepcontrol.wait, but no thread executes it: the next launch may start \
        while earlier \
         ones run"
    )]
    NoThreadWaits { number: usize },
    #[error("launch {number} has too many accesses before griddepcontrol.wait")]
    TooManyEarlyAccesses { number: usize },
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
    #[error("--compare: the output has different sizes on the two sides, so the part differs")]
    PartShapes,
    #[error("--compare: parts of the results of a sequence cannot be compared")]
    PartOfSequence,
    /// No input satisfies the assumptions.
    #[error("{0}")]
    Impossible(String),
}
