//! Reasons why a claim is unsupported. Each is displayed as the end of the sentence "this claim: ...".

use thiserror::Error;

/// An unsupported part of a claim, which leaves the claim open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum NotFollowed {
    #[error("an integer that is made of elements")]
    IntegerOfElements,
    #[error("a number that is not followed")]
    Number,
    #[error("a value that is too large")]
    TooLarge,
    #[error("an operation on integers that are elements")]
    ElementIntegers,
    #[error("a choice by the contents of elements")]
    ChoiceByElements,
    #[error("an integer made of a real number")]
    IntegerOfReal,
    #[error("a conversion that may change a number")]
    Conversion,
    #[error("a value that is not followed")]
    Value,
    #[error("a variable without a value")]
    NoValue,
    #[error("an element of an array without a size")]
    NoSize,
    #[error("the contents of an element before a loop")]
    BeforeLoop,
    #[error("the contents of shared memory before the launch")]
    SharedBefore,
    #[error("a fold over numbers of another type")]
    Fold,
    #[error("only equations are followed here")]
    OnlyEquations,
    #[error("a fold or quantifier in a comparison")]
    FoldCompared,
    #[error("a comparison of real numbers")]
    RealsCompared,
    #[error("an element of an array of arrays")]
    ArrayOfArrays,
    #[error("an element before and after in a comparison")]
    BeforeAndAfter,
    #[error("a comparison of real numbers, of two threads or not")]
    RealsOfThreads,
    #[error("an array that other blocks may be writing")]
    OtherBlocks,
    #[error("an array that each thread has for itself")]
    OwnArray,
}
