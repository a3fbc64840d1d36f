//! How a kernel is called: its parameters as C++ lays them out in memory, the template's parameters in their order, and the
//! variables outside of functions that it shares with the host.
//!
//! The engines need none of this. It is for whoever runs the same text compiled by somebody else, on the same launch.

use super::{ArrayId, VarId};
use thiserror::Error;

/// A scalar type of C++, as wide as on CUDA's 64-bit platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Scalar {
    Bool,
    Int { bits: u8, signed: bool },
    Float { bits: u8 },
    Bfloat16,
}

impl Scalar {
    /// Its size, which is its alignment, too.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bool => 1,
            Self::Bfloat16 => 2,
            Self::Int { bits, .. } | Self::Float { bits } => u64::from(bits / 8),
        }
    }
}

/// Records in a row: one scalar each if they are not structs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records {
    /// Bytes from one record to the next.
    pub stride: u64,
    /// Where in a record each scalar lies, and the array of the kernel that all of them are.
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
    /// A type or a number that the text fixes, or a type that is read as `float`.
    Fixed(String),
    /// A number that is a scalar of the launch.
    Number(VarId),
}

/// How a kernel is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The kernel's name with the namespaces around it.
    pub name: String,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Parameters of its template in order.
    pub template: Vec<TemplateParameter>,
    /// Macros that stand for any number, with the scalar of the launch that each is.
    pub macros: Vec<(String, VarId)>,
    /// Arrays and scalars outside of functions.
    pub variables: Vec<(String, Records)>,
    /// The shared array whose size the launch gives.
    pub dynamic: Option<Records>,
}

/// Why it is not known how a kernel is called; displays as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SignatureError {
    /// A symbolic macro that the kernel has no variable for.
    #[error("`{0}` has no scalar")]
    NoScalar(String),
    /// A variable of the file whose initialiser is not followed.
    #[error("what `{0}` is initialised with is not known")]
    Initialiser(String),
    /// A type with arrays inside of structs and the like.
    #[error("the layout of `{0}` is not known")]
    Layout(String),
}
