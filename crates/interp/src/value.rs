//! Values of one thread, the reasons why an expression has none, and the environment of an evaluation.
//!
//! An integer carries, beside its value, its exact value without wrapping. If the two differ and the value is *used*
//! (compared, divided, shifted right, widened, used as an index), unbounded integers no longer model it: that is the
//! overflow which proofs show to be absent (`allsizes`).

use crate::arithmetic::Arithmetic;
use crate::real::Real;
use crate::rounding::Rounding;
use base::Span;
use kir::{ArrayId, Builtin, Expr, Precision, Type, VarId, When};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer or truth value, and its exact value without wrapping.
    Int {
        /// The machine's value.
        value: i128,
        /// The exact value; `None` if it is too large to represent.
        exact: Option<i128>,
    },
    /// A floating-point number.
    Float(Real),
    /// No value was assigned, or the run does not know it.
    Undefined,
}

impl Value {
    /// An integer.
    pub fn int(value: i128) -> Self {
        Self::Int { value, exact: Some(value) }
    }

    /// A float that is exact.
    #[must_use]
    pub fn float(value: f64) -> Self {
        Self::Float(Real::exact(value))
    }

    /// The machine's integer.
    #[must_use]
    pub fn number(self) -> Option<i128> {
        match self {
            Self::Int { value, .. } => Some(value),
            Self::Float(_) | Self::Undefined => None,
        }
    }
}

/// The reason why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvaluationError {
    /// The result is out of its type, or it wrapped and was used.
    Overflow {
        /// The operation.
        span: Span,
        /// The type of its result.
        ty: Type,
        /// Its result as an integer without bounds, if it fits here.
        exact: Option<i128>,
    },
    /// A division by zero at this place.
    DivisionByZero(Span),
    /// It depends on an undefined value.
    Undefined,
    /// Rounding may decide it.
    Rounded,
    /// A shift by a negative amount or by more than the width.
    Shift(Span),
}

/// The environment in which expressions are evaluated.
pub trait Environment {
    /// The value of a variable.
    fn var(&self, var: VarId) -> Value;
    /// The value of a built-in; `None` if the environment has no thread.
    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128>;
    /// An element, in annotations.
    fn element(&self, array: ArrayId, when: When, index: [i128; 3]) -> Value;
    /// Returns `true` for claims: equations of integers compare the machine's values, and a constant of six digits
    /// may stand for a longer one.
    fn tests_claims(&self) -> bool {
        false
    }
    /// The precision of operations. In annotations they are those of real numbers, for which doubles stand.
    fn precision(&self) -> Precision {
        Precision::DOUBLE
    }
    /// The arithmetic of compiled code, if it is modelled.
    fn compiled(&self) -> Option<&Arithmetic> {
        None
    }
    /// Returns `true` if conversions between types of integers give the machine's number, so that it is exact.
    fn conversions_wrap(&self) -> bool {
        false
    }
    /// The notes of a run, which goes on where rounding decides. Without them, such a decision is undefined.
    fn rounding(&self) -> Option<&Rounding> {
        None
    }
    /// The environment of the other thread of a pair.
    fn other(&self) -> Option<&dyn Environment> {
        None
    }
    /// Variables of enclosing quantifiers and folds, which all threads share.
    fn bound(&self) -> Vec<(VarId, i128)> {
        Vec::new()
    }
    /// Returns this environment as a trait object, so that environments can be nested.
    fn as_dyn(&self) -> &dyn Environment;
}

/// Returns the integer of a value that is *used* (see the header); `expr` is the place of an overflow.
pub(crate) fn used_integer(value: Value, expr: &Expr) -> Result<i128, EvaluationError> {
    match value {
        Value::Int { value, exact } if exact == Some(value) => Ok(value),
        Value::Int { exact, .. } => {
            Err(EvaluationError::Overflow { span: expr.span, ty: expr.ty, exact })
        }
        Value::Float(_) | Value::Undefined => Err(EvaluationError::Undefined),
    }
}
