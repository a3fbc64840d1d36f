//! Calling convention of a kernel: its parameters in C++'s memory layout, the template's parameters in order, and the
//! variables outside of functions that it shares with the host.
//!
//! The engines need none of this. It serves to run the same text compiled by another compiler, on the same launch.

use crate::{ArrayId, VarId};
use thiserror::Error;

/// A scalar type of C++, with its width on CUDA's 64-bit platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Scalar {
    Bool,
    Int { bits: u8, signed: bool },
    Float { bits: u8 },
    Bfloat16,
}

impl Scalar {
    /// The scalar's size in bytes, which is its alignment too.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bool => 1,
            Self::Bfloat16 => 2,
            Self::Int { bits, .. } | Self::Float { bits } => u64::from(bits / 8),
        }
    }
}

/// Consecutive records: one scalar each if they are not structs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records {
    /// Bytes from one record to the next.
    pub stride: u64,
    /// The offset of each scalar in a record, and the kernel's array of these scalars.
    pub fields: Vec<(u64, ArrayId, Scalar)>,
}

/// A scalar of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A number.
    Number(VarId, Scalar),
    /// The address of records.
    Pointer(Records),
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its scalars with their offsets.
    pub parts: Vec<(u64, Part)>,
}

/// A parameter of the kernel's template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateParameter {
    /// A type or a number fixed by the text, or a type assumed to be `float`.
    Fixed(String),
    /// A number that is a scalar of the launch.
    Number(VarId),
}

/// The calling convention of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The kernel's name with its namespaces.
    pub name: String,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Parameters of its template in order.
    pub template: Vec<TemplateParameter>,
    /// Symbolic macros, each with its scalar of the launch.
    pub macros: Vec<(String, VarId)>,
    /// Arrays and scalars outside of functions.
    pub variables: Vec<(String, Records)>,
    /// The shared array whose size the launch gives.
    pub dynamic: Option<Records>,
}

/// The reason why a signature is unknown; displays as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SignatureError {
    /// A symbolic macro that the kernel has no variable for.
    #[error("`{0}` has no scalar")]
    NoScalar(String),
    /// A variable of the file whose initialiser is unsupported.
    #[error("the initial value of `{0}` is not known")]
    Initialiser(String),
    /// An unsupported type, such as one with arrays inside structs.
    #[error("the layout of `{0}` is not known")]
    Layout(String),
}
