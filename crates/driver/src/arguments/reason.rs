//! Errors in flags and arguments that are found while parsing them, without a kernel. Each displays as a clause.

use super::{ElementType, IndexRange};
use equiv::FormulaError;
use thiserror::Error;

/// A number that a type cannot represent; displays as a clause that begins with the number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NumberError {
    /// It is not a number.
    #[error("{number} is not a number")]
    NotANumber {
        /// The number as written.
        number: String,
    },
    /// It rounds to infinity.
    #[error("{number} is too large for {format}")]
    TooLarge {
        /// The number as written.
        number: String,
        /// The name of the type.
        format: &'static str,
    },
    /// An infinity in a format that has none.
    #[error("{number}: {format} has no infinity")]
    NoInfinity {
        /// The number as written.
        number: String,
        /// The name of the type.
        format: &'static str,
    },
    /// A fraction.
    #[error("{number} is not an integer, as {element} needs")]
    NotAnInteger {
        /// The number as written.
        number: String,
        /// The type.
        element: ElementType,
    },
    /// An integer beyond its type.
    #[error("{value} does not fit {element} ({} to {})", .range.0, .range.1)]
    Range {
        /// The integer.
        value: i128,
        /// The type.
        element: ElementType,
        /// The least and the greatest integer of the type.
        range: (i128, i128),
    },
}

/// An error in a flag or argument; displays as a clause that does not quote all of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message says what each is, its fields what is quoted")]
pub enum ParseReason {
    #[error("expected NAME=TYPE or NAME=VALUE, such as {EXAMPLE}")]
    MissingEquals,
    #[error("`{0}` is not a name: letters, digits, `_`, `.` and `$`")]
    NotAName(String),
    #[error("`{0}` is not a name; expected NAME,NAME")]
    NotAnAliasName(String),
    #[error("expected two names or more, such as x,y")]
    OneAlias,
    #[error(transparent)]
    Condition(FormulaError),
    #[error("expected a type before `{text}`, such as {name}=f32[?]{}", assigned(.text))]
    MissingType { name: String, text: String },
    #[error("`{0}`: expected the address that the tensor had, such as A=0x7f3c00000000")]
    NotAnAddress(String),
    #[error("`{0}` is not a 64-bit integer")]
    NotAnInteger(String),
    #[error("`{0}` is not a number; expected one such as 512, 0x200, -1 or 0.125")]
    NotANumber(String),
    #[error("`{word}` is not a type; did you mean {meant}?")]
    MisspeltType { word: String, meant: String },
    #[error("`{0}` is neither a type nor a number; expected {EXAMPLE}")]
    UnknownType(String),
    #[error("a launch fixes every integer: expected a value ({0}=512), or a tensor ({0}[64])")]
    OpenInteger(ElementType),
    #[error("a scalar has no direction; a tensor of one is {element}[1]{rest}")]
    ScalarDirection { element: ElementType, rest: String },
    #[error("expected nothing, `[` or `=` after {element}, found `{rest}`")]
    AfterType { element: ElementType, rest: String },
    #[error("only a tensor can start as {1}, such as {0}[64]={1}")]
    ScalarFill(ElementType, String),
    /// A random fill with a malformed seed.
    #[error("`{0}` is not a random fill; expected random or random(SEED), with a seed such as 7")]
    Seed(String),
    #[error("`{0}` is not a number of at most 64 bits")]
    Not64Bits(String),
    #[error(transparent)]
    Number(#[from] NumberError),
    #[error("expected strides such as @[512,1] after `@`")]
    MissingStrides,
    #[error("expected `@[`, `:`, `=` or nothing, found `{0}`")]
    AfterShape(String),
    #[error("a tensor of unknown size [?] has no strides")]
    StridesOfUnknown,
    #[error("a tensor of unknown size [?] can only start with the contents of a list or file")]
    ContentsOfUnknown,
    #[error("{sizes} sizes need as many strides, {given} are given")]
    StrideCount { sizes: usize, given: usize },
    #[error("a stride of 0 makes elements overlap, which an output cannot")]
    OverlappingOutput,
    #[error("the tensor is larger than any memory (2^48 bytes)")]
    TensorTooLarge,
    #[error("the shape has {elements} elements, the list has {given}")]
    ListLength { elements: u64, given: usize },
    #[error(
        "`:{0}` is not a range of integers; expected one like :0..100, the upper end excluded, or :0..100|-1, with up to four more numbers"
    )]
    NotAnIndexRange(String),
    #[error("`:{range}`: ranges are for integers, but these are {element}; --assume is for floats")]
    RangeOfFloats { element: ElementType, range: String },
    #[error("`:{0}` is given for an output; ranges are for read-only tensors")]
    RangeOfOutput(Box<IndexRange>),
    #[error("`:distinct` is for integers, but these are {element}")]
    DistinctFloats { element: ElementType },
    #[error("`:distinct` is given for an output; it is for read-only tensors")]
    DistinctOutput,
    #[error("`:distinct`: strides make elements share their memory")]
    DistinctShared,
    #[error("`:distinct`: {elements} elements, but only {numbers} integers are possible")]
    DistinctTooMany { elements: u64, numbers: i128 },
    #[error("`:{0}` is given for an output; a structure is for tensors that are read")]
    StructureOfOutput(&'static str),
    #[error("`:{0}` and `:distinct`: elements that are zero or the same are not distinct")]
    StructureDistinct(&'static str),
    #[error("`:{0}`: a tensor of unknown size [?] has no structure")]
    StructureOfUnknown(&'static str),
    #[error("`:{0}`: strides make elements share their memory")]
    StructureShared(&'static str),
    #[error("`:{word}` is for at most {most} elements")]
    StructureTooLarge { word: &'static str, most: u64 },
    #[error("`:{word}` makes elements zero, which is not in {range}")]
    StructureRange { word: &'static str, range: Box<IndexRange> },
    #[error(
        "`:{word}` is for matrices, of two dimensions or more, but this tensor has {dimensions}"
    )]
    NotAMatrix { word: &'static str, dimensions: usize },
    #[error(
        "`:symmetric` is for square matrices, but these have {rows} rows and {columns} columns"
    )]
    NotSquare { rows: u64, columns: u64 },
    #[error("the shape has {elements} elements, the mask has {given}")]
    MaskLength { elements: u64, given: usize },
    #[error("expected a mask such as :mask=[1,0,1] or :mask=@mask.npy")]
    NotAMask,
    #[error("expected the name of a .npy file after `:mask=@`")]
    MissingMaskFile,
    #[error("`{0}` is not an element of a mask; expected 0 or 1")]
    NotAMaskElement(String),
    #[error("`:{0}`: a direction, a range, `distinct` and a structure may be given once each")]
    Twice(String),
    #[error("`:{word}` is not known here; did you mean :{meant}?")]
    Misspelt { word: String, meant: &'static str },
    #[error(
        "`:{0}` is not a direction; expected :in, :out, :inout or :scratch, a range like :0..100, :distinct, or a structure: :lower, :upper, :symmetric, :mask=[1,0,1]"
    )]
    NotADirection(String),
    #[error("expected the name of a .npy file after `=@`")]
    MissingFile,
    #[error("expected the name of a file after `@`, such as @params.bin{{A=0x7f3c00000000}}")]
    MissingRecording,
    #[error("expected nothing after the list, found `{0}`")]
    AfterList(String),
    #[error("expected a flat list, in row-major order")]
    NestedList,
    #[error("`{0}` is not initial contents; expected a number, iota, random, [3,1,2] or @FILE.npy")]
    NotContents(String),
    #[error("expected `}}` at the end of the structure")]
    UnclosedStructure,
    #[error("field `{field}`: {why}")]
    Field { field: String, why: Box<Self> },
    #[error("expected OFFSET:VALUE, such as 8:x")]
    MissingOffset,
    #[error("a tensor is an argument of its own: --arg NAME={0}, and the field its NAME")]
    TensorField(String),
    #[error("expected a number, a type with a value, an expression, or the name of an argument")]
    NotAFieldValue,
    #[error("`{text}`: {why}")]
    Expression { text: String, why: FormulaError },
    #[error(
        "`{0}` has no value: it is too large, divides by zero, or takes a root or logarithm of a number that has none"
    )]
    UndefinedExpression(String),
    #[error("tensor map: {0}")]
    TensorMap(String),
    #[error("`{0}` has no closing `]`")]
    Unclosed(String),
    #[error("{what} `{text}` is too large")]
    CountTooLarge { what: &'static str, text: String },
    #[error("only a whole shape can be unknown: {what} `?`")]
    UnknownCount { what: &'static str },
    #[error("{what} `{text}` is not a number from 0 up")]
    NotACount { what: &'static str, text: String },
    #[error("has {count} items; expected {expected}")]
    TooManyItems { count: usize, expected: &'static str },
    #[error("`{item}` is not a 32-bit number; expected {expected}")]
    Not32Bits { item: String, expected: &'static str },
    #[error("{BYTES}")]
    NotAByteCount,
    #[error("unknown unit `{0}`; {BYTES}")]
    UnknownUnit(String),
    #[error("is too large")]
    TooLarge,
    #[error("names no block; 0..4 names four")]
    EmptyBlockRange,
    #[error("expected numbers such as 0..4")]
    NotABlockRange,
    #[error("expected an output or a part of one, such as out, out[0] or out[2:6,:]")]
    NotAnOutputPart,
}

const EXAMPLE: &str = "x=f32[4,512], y=f32[4,512]:out, n=512 or scale=f32";
const BYTES: &str = "expected bytes such as 49152, 48KiB or 1MiB";

/// `=TEXT`, or nothing for an empty text.
fn assigned(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("={text}") }
}
