//! Translates a formula whose sizes are parameters into clauses of a contract, which `prove` then shows of a kernel.
//!
//! `C[i,j] = sum(k, A[i,k]*B[k,j])` of tensors `C[m,n]`, `A[m,p]`, `B[p,n]` becomes
//!
//! ```text
//! ensures \forall int i, j; (0 <= i && i < m) && (0 <= j && j < n) ==>
//!     C[i*n + j] == \fold(+, k, 0, p, \old(A[i*p + k])*\old(B[k*n + j]))
//! ```
//!
//! Elements are in row-major order of their indices. A formula reads the contents of a tensor before the launch. A
//! `let` is inlined at its uses, with new names for the indices inside. Sizes are expressions of scalar parameters.
//!
//! Differences from [`crate::compile`], which knows all sizes:
//!
//! - Literals are decimals with as many digits as a float of the tensors has, as in the kernel. One with more digits
//!   is rounded, and listed ([`Contract::rounded`]).
//! - Sizes decide if elements are inside of their tensors, and if ranges of `max`, `min` and `mean` are not empty.
//!   These conditions are claims of their own ([`Clause::is_about_formula`]): if one fails, the formula is wrong and
//!   not the kernel.
//! - An input keeps its contents: this is a claim for each tensor that the formula does not define, unless
//!   [`SizedTensor::may_change`].
//! - A definition that reads an output defined above it reads the final contents. The claim about that output equates
//!   them with its definition.
//!
//! An expression without counterpart in a contract is an [`Error`], never left out.

mod calls;
mod definitions;
mod element;
mod expressions;
mod numbers;
mod operators;
mod reductions;
mod term;

use crate::ast::{Expression, Formula};
use crate::error::Error;
use base::Span;
use ir::{Format, Scalar};

/// A tensor whose sizes are expressions of scalars.
#[derive(Clone, Debug)]
pub struct SizedTensor {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub scalar: Scalar,
    /// Its sizes.
    pub sizes: Vec<Expression>,
    /// Integers that bound its elements, upper end excluded, if stated.
    pub range: Option<(Expression, Expression)>,
    /// Set if the formula may not read its contents before the launch.
    pub is_output: bool,
    /// Set if the kernel may change it although the formula does not define it.
    pub may_change: bool,
}

/// A scalar parameter.
#[derive(Clone, Debug)]
pub struct SizedScalar {
    /// Its name.
    pub name: String,
    /// Set for an integer; otherwise it is a real.
    pub is_integer: bool,
    /// Set if it is never negative.
    pub is_unsigned: bool,
}

/// All names available to a formula for every size.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Tensors.
    pub tensors: Vec<SizedTensor>,
    /// Scalars.
    pub scalars: Vec<SizedScalar>,
}

impl Sizes {
    /// Returns the format that literals are rounded to.
    fn format(&self) -> Format {
        let is_double =
            |sized_tensor: &SizedTensor| sized_tensor.scalar == Scalar::Float(Format::F64);
        if self.tensors.iter().any(is_double) { Format::F64 } else { Format::F32 }
    }
}

/// A clause of a contract, without `//@` and `;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its text.
    pub text: String,
    /// The definition that it comes from, or the element.
    pub span: Span,
    /// Set for a claim that the formula has a value: if it fails, the formula is wrong.
    pub is_about_formula: bool,
}

/// The contract of a formula.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// One claim or more for each definition of a tensor, and one for each input: it keeps its contents.
    pub clauses: Vec<Clause>,
    /// Numbers of the formula, each with its replacement.
    pub rounded: Vec<(String, String)>,
}

/// Translates a formula.
///
/// # Errors
/// The first mistake, or the first expression without counterpart in a contract.
pub fn contract(formula: &Formula, sizes: &Sizes) -> Result<Contract, Error> {
    let mut translator = definitions::Translator::new(sizes)?;
    for definition in &formula.definitions {
        translator.define(definition)?;
    }
    let is_defined = |name: &str| {
        formula
            .definitions
            .iter()
            .any(|definition| !definition.is_let && definition.name.text == name)
    };
    let first = formula.definitions.iter().find(|definition| !definition.is_let);
    for tensor in &sizes.tensors {
        if let Some(first) = first.filter(|_| !is_defined(&tensor.name)) {
            translator.claim_unchanged(tensor, first);
        }
    }
    let missing = sizes.tensors.iter().find(|tensor| tensor.is_output && !is_defined(&tensor.name));
    let message = match missing {
        Some(tensor) => format!("nothing defines the output `{}`", tensor.name),
        None if formula.definitions.iter().all(|definition| definition.is_let) => {
            "the formula defines no tensor of the kernel".to_owned()
        }
        None => return Ok(translator.contract),
    };
    let span = formula.definitions.last().map_or(Span::default(), |last| last.name.span);
    Err(Error::new(span, message))
}

/// Translates the properties of tensors alone: sizes are not negative, arrays are as long as their sizes say,
/// elements are in their ranges. Arrays of `without` have a length already.
///
/// # Errors
/// The first mistake in a size or a range; its span is within that expression's own text.
pub fn shapes(sizes: &Sizes, without: &[&str]) -> Result<Vec<String>, Error> {
    definitions::Translator::new(sizes)?.shapes(without)
}
