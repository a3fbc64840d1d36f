//! Reasons why an argument does not fit its kernel or the launch. Each displays as a clause.

use super::{Dimensions, ElementType, IndexRange, NumberError};
use crate::npy::{Dtype, NpyError, shape_text};
use thiserror::Error;

/// The reason why a tensor has no contents.
#[derive(Debug, Error)]
pub(super) enum ContentsError {
    #[error("the size is unknown")]
    UnknownSize,
    #[error("stated contents have at most 8 GiB")]
    TooLarge,
    #[error(transparent)]
    Fill(#[from] NumberError),
    #[error("element {position}: {why}")]
    Element { position: usize, why: NumberError },
    #[error(transparent)]
    File(#[from] NpyError),
    #[error("`{path}` holds {found}, {element} needs {}", .element.dtype())]
    Type { path: String, found: Dtype, element: ElementType },
    #[error("`{path}` has shape {}, the argument {}", shape_text(.found), shape_text(.expected))]
    Shape { path: String, found: Vec<u64>, expected: Vec<u64> },
    #[error("`{path}` holds truth values other than 0 and 1")]
    Truth { path: String },
    #[error("elements that the strides put at one place differ")]
    Overlap,
    #[error("element {position} is {number}, which is not in {range}")]
    OutOfRange { position: usize, number: i128, range: Box<IndexRange> },
    #[error("elements {first} and {position} are the same, but `:distinct` says that no two are")]
    Repeated { first: usize, position: usize },
    #[error("element {position} is not zero, but `:{word}` says that it is")]
    NotZero { position: usize, word: &'static str },
    #[error("elements {first} and {position} differ, but `:symmetric` says that they are the same")]
    NotSame { first: usize, position: usize },
    #[error("the mask `{path}` holds {found}; expected truth values or integers")]
    MaskType { path: String, found: Dtype },
    #[error("the mask `{path}` has {found} elements, the tensor {count}")]
    MaskSize { path: String, found: usize, count: usize },
}

/// The reason why there is no buffer for an argument.
#[derive(Debug, Error)]
pub(super) enum BufferError {
    #[error("`{argument}`: {why}")]
    Contents { argument: String, why: ContentsError },
    #[error("`{name}` needs {what}: --arg {name}={example}")]
    Needs { name: String, what: &'static str, example: String },
    #[error("--alias {group}: {why}")]
    Alias { group: String, why: AliasError },
}

/// The reason why two arguments cannot be at one address.
#[derive(Debug, Error)]
pub(super) enum AliasError {
    #[error(
        "`{}` and `{}` have {} and {} bytes; different sizes are not supported yet",
        .names[0], .names[1], .bytes[0], .bytes[1]
    )]
    Sizes { names: [String; 2], bytes: [u64; 2] },
    #[error("`{}` and `{}` have different initial contents or structures", .names[0], .names[1])]
    Contents { names: [String; 2] },
}

/// The reason why a structure has no bytes: an error in a field.
#[derive(Debug, Error)]
#[error("field `{field}`: {why}")]
pub(super) struct StructureError {
    pub(super) field: String,
    pub(super) why: FieldError,
}

/// The reason why a recorded structure cannot be used.
#[derive(Debug, Error)]
pub(super) enum RecordedError {
    #[error("{path}: {why}")]
    File { path: String, why: std::io::Error },
    #[error("{path} has {size} bytes; the parameter has {bytes}")]
    Size { path: String, size: u64, bytes: u64 },
    #[error("`{name}` is not a tensor; expected --arg {name}=f16[…] beside it")]
    NotATensor { name: String },
    #[error(
        "`{name}` cannot begin at {address:#x}: tensors begin at multiples of 256 bytes; name the allocation that it lies in"
    )]
    Address { name: String, address: u64 },
    #[error("`{}` and `{}` lie at the same addresses", .names[0], .names[1])]
    Overlap { names: [String; 2] },
    #[error(transparent)]
    Field(#[from] StructureError),
}

/// An error in a field.
#[derive(Debug, Error)]
pub(super) enum FieldError {
    #[error("overlaps the field before it")]
    Overlap,
    #[error("{size} bytes there exceed the {most} of the parameter")]
    Beyond { size: u64, most: u64 },
    #[error("no argument is called `{name}`; expected --arg {name}=… beside it")]
    UnknownArgument { name: String },
    #[error("a tensor map lies at a multiple of 64 bytes")]
    MapAlignment,
    #[error("a structure within a structure")]
    Nested,
    #[error("`{expression}`: no float has {bytes} bytes there")]
    NotAFloat { expression: String, bytes: u64 },
    #[error("the type of {number} is not clear; give it, as in f16={number}")]
    UnclearType { number: String },
    #[error("{number} does not fit {bytes} bytes")]
    Number { number: String, bytes: u64 },
    #[error(transparent)]
    Typed(#[from] NumberError),
}

/// The reason why a module variable has no contents.
#[derive(Debug, Error)]
pub(super) enum SymbolError {
    #[error("the module has no variable of that name")]
    Unknown,
    #[error("the module has no variable of that name; did you mean {meant}?")]
    Misspelt { meant: String },
    #[error("expected an array such as f32[4], a number, or ?")]
    NotContents,
    #[error("the variable has {size} bytes, this {given}")]
    Size { size: u64, given: u64 },
    #[error("a simulation needs data")]
    NeedsData,
    #[error("module variables have no direction")]
    Direction,
    #[error("a variable that kernels may write has no structure; give contents")]
    Structure,
    #[error("the variable is an array; expected one such as f32[4]")]
    Array,
    #[error(transparent)]
    Number(#[from] NumberError),
    #[error(transparent)]
    Tensor(#[from] ContentsError),
}

/// The reason why blocks are not in a grid.
#[derive(Debug, Error)]
pub(super) enum BlocksError {
    #[error("the grid is {grid}; positions count from 0")]
    Position { grid: Dimensions },
    #[error("the grid {grid} has {count} blocks")]
    Number { grid: Dimensions, count: u64 },
}

/// The reason why no float can stand in for an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum NearestError {
    #[error("{formula} is too large for {element}")]
    TooLarge { formula: String, element: ElementType },
    #[error("{formula} rounds to zero in {element}")]
    Vanishes { formula: String, element: ElementType },
}
