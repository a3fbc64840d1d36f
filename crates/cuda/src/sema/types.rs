//! Types with their qualifiers (\[basic.type.qualifier\]).
//!
//! `const` of an array is stored on the array and applies to its elements (\[basic.type.qualifier\]).

use crate::tree::{FloatKind, IntKind, Qualified, Type};
use std::sync::Arc;

/// The kind of a reference, if the type is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    None,
    Lvalue,
    Rvalue,
}

/// A type with `const`, `volatile` and reference at its top; qualifiers of a reference are those of its target.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QType {
    pub ty: Type,
    pub is_const: bool,
    pub is_volatile: bool,
    pub reference: Reference,
}

impl QType {
    pub(crate) fn plain(ty: Type) -> Self {
        Self { ty, is_const: false, is_volatile: false, reference: Reference::None }
    }

    pub(crate) fn is_reference(&self) -> bool {
        self.reference != Reference::None
    }

    /// The type without reference.
    pub(crate) fn referred(&self) -> Self {
        Self { reference: Reference::None, ..self.clone() }
    }

    pub(crate) fn qualified(&self) -> Qualified {
        Qualified { ty: self.ty.clone(), is_const: self.is_const, is_volatile: self.is_volatile }
    }

    pub(crate) fn of(qualified: &Qualified) -> Self {
        Self {
            ty: qualified.ty.clone(),
            is_const: qualified.is_const,
            is_volatile: qualified.is_volatile,
            reference: Reference::None,
        }
    }
}

pub(crate) const INT: Type = Type::Int(IntKind::Int);
pub(crate) const UNSIGNED: Type = Type::Int(IntKind::UnsignedInt);
pub(crate) const SIZE: Type = Type::Int(IntKind::UnsignedLong);
pub(crate) const DIFFERENCE: Type = Type::Int(IntKind::Long);
pub(crate) const FLOAT: Type = Type::Float(FloatKind::Float);
pub(crate) const DOUBLE: Type = Type::Float(FloatKind::Double);

pub(crate) fn pointer(ty: Type, is_const: bool, is_volatile: bool) -> Type {
    Type::Pointer(Arc::new(Qualified { ty, is_const, is_volatile }))
}

/// `half` and `__nv_bfloat16` are classes in C++.
pub(crate) fn is_narrow_float(ty: &Type) -> bool {
    matches!(ty, Type::Float(FloatKind::Half | FloatKind::Bfloat16))
}

/// Arithmetic types of the language (\[basic.fundamental\]).
pub(crate) fn is_arithmetic(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Int(_) => true,
        Type::Float(_) => !is_narrow_float(ty),
        _ => false,
    }
}

pub(crate) fn is_integral(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int(_))
}

/// The type after array-to-pointer conversion and without qualifiers, as for a parameter or deduced argument.
pub(crate) fn decayed(from: &QType) -> Type {
    match &from.ty {
        Type::Array(element, _) => {
            pointer(element.as_ref().clone(), from.is_const, from.is_volatile)
        }
        other => other.clone(),
    }
}
