//! Launch flags and arguments: from the command line to an [`exec::Launch`].
//!
//! Three steps, each usable alone:
//! 1. text to data: [`ArgumentSpec`], [`AliasSpec`], [`Dimensions`], [`ByteCount`], [`BlockSelection`] and
//!    [`KernelPath`] parse with [`str::parse`] and print as they are written;
//! 2. choice of the kernel: [`select_kernel`];
//! 3. data and program to a launch: [`build_launch`], which also lists the outputs ([`OutputSpec`]) and its
//!    assumptions (notes).
//!
//! Text that does not parse and arguments that do not fit the kernel are bad input. A launch that no GPU accepts is a
//! fault of the launch; [`BuildError`] keeps the two apart.

mod blocks;
mod build;
mod command;
mod contents;
mod declared;
mod element;
mod fills;
mod float;
mod index_range;
mod input;
mod launch_spec;
mod limits;
mod map_layout;
mod maps;
mod memory;
mod misfit;
mod named;
mod output;
mod parameter;
mod parse;
mod part;
mod reason;
mod recorded;
mod request;
mod scalar;
mod select;
mod signature;
mod spec;
mod statements;
mod structure;
mod structured;
mod symbols;
mod tensor_map;
mod tensor_structure;

pub use blocks::BlockSelection;
pub use build::build_launch;
pub(crate) use command::{
    LaunchFlags, append, comparison_line, formula_line, launch_flags, shell_quoted,
};
pub use command::{Suggestion, command_line, suggestion};
pub(crate) use declared::declared;
pub use element::ElementType;
pub use input::{InputSpec, ScalarSpec, ScalarValue};
pub use launch_spec::{BlockPosition, ByteCount, Dimensions, LaunchSpec};
pub(crate) use misfit::NearestError;
pub use output::OutputSpec;
pub(crate) use part::PartError;
pub use part::PartSpec;
pub use reason::{NumberError, ParseReason};
pub use request::{
    Arguments, BuildError, BuiltLaunch, Invocation, MissingData, Request, VariableSpec,
};
pub(crate) use scalar::nearest;
pub use select::{KernelPath, SelectError, kernels, select_kernel};
pub(crate) use select::{extends_instance, is_instance, source_name};
pub use signature::DeclaredParameter;
pub use spec::{
    AliasSpec, ArgumentSpec, ArgumentValue, AssumeSpec, Direction, Field, FieldValue, IndexRange,
    Initial, Number, RecordedSpec, RecordedTensor, TensorMapSpec, TensorSpec,
};
pub use tensor_map::{MapKeys, MapShape};
pub use tensor_structure::{Mask, TensorStructure};

use thiserror::Error;

/// A flag or argument that cannot be read; displays as one line that quotes it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}`: {reason}")]
pub struct ParseError {
    text: String,
    reason: ParseReason,
}

impl ParseError {
    fn new(text: &str, reason: ParseReason) -> Self {
        Self { text: text.to_owned(), reason }
    }

    /// The error and the expected form, without the quotation, for callers that quote it themselves.
    #[must_use]
    pub fn reason(&self) -> &ParseReason {
        &self.reason
    }
}

/// The most likely intended candidate for a misspelt word, if one is close.
pub(crate) fn closest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // One typing error in a short word, two in a longer one; more make another word.
    let tolerated = if word.chars().count() <= 4 { 1 } else { 2 };
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|&(distance, _)| distance <= tolerated)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}
