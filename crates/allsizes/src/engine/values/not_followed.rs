//! Reasons why a claim is unsupported. Each is displayed as the end of the sentence "this claim: ...".

use thiserror::Error;

/// An unsupported part of a claim, which leaves the claim open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum NotFollowed {
    #[error("an integer computed from array elements")]
    IntegerOfElements,
    #[error("a number that is not supported")]
    Number,
    #[error("a value that is too large")]
    TooLarge,
    #[error("an operation on integer elements of arrays")]
    ElementIntegers,
    #[error("a choice that depends on array elements")]
    ChoiceByElements,
    #[error("a real number converted to an integer")]
    IntegerOfReal,
    #[error("a conversion that may change the number")]
    Conversion,
    #[error("a value that is not supported")]
    Value,
    #[error("a variable without a value")]
    NoValue,
    #[error("an element of an array without a size")]
    NoSize,
    #[error("the contents of an element before a loop")]
    BeforeLoop,
    #[error("the contents of shared memory before the launch")]
    SharedBefore,
    #[error("a fold over numbers of a different type")]
    Fold,
    #[error("only equations are supported here")]
    OnlyEquations,
    #[error("a fold or quantifier in a comparison")]
    FoldCompared,
    #[error("a comparison of real numbers")]
    RealsCompared,
    #[error("an element of an array of arrays")]
    ArrayOfArrays,
    #[error("a comparison of an element's values before and after")]
    BeforeAndAfter,
    #[error("a comparison of real numbers")]
    RealsOfThreads,
    #[error("an array that other blocks may be writing")]
    OtherBlocks,
    #[error("an array that is private to each thread")]
    OwnArray,
}
