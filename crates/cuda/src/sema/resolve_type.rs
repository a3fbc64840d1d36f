//! Resolves written types (\[dcl.type\], \[dcl.meaning\]).

use super::analyser::Analyser;
use super::types::{DOUBLE, FLOAT, QType, Reference, decayed, is_integral};
use crate::syntax::ast::{self, TypeKind, TypeSyntax};
use crate::tree::{Extent, IntKind, Type};
use crate::{Result, error, limit, unsupported};
use base::Span;
use std::sync::Arc;

/// The most levels of pointers, arrays and functions in a type, with those behind names (the 256 of \[implimits\]).
const MAX_LEVELS: usize = 256;
/// The most types inside a type, with those of parameters.
const MAX_INNER: usize = 4096;

/// Refuses a type that is nested too deeply: code that walks it would exhaust the stack, or run for ever.
fn check_depth(ty: &Type, span: Span) -> Result<()> {
    let mut inner = MAX_INNER;
    match is_small(ty, MAX_LEVELS, &mut inner) {
        true => Ok(()),
        false => Err(limit(span, "this type is nested too deeply")),
    }
}

fn is_small(ty: &Type, levels: usize, inner: &mut usize) -> bool {
    let (Some(levels), Some(left)) = (levels.checked_sub(1), inner.checked_sub(1)) else {
        return false;
    };
    *inner = left;
    match ty {
        Type::Pointer(to) => is_small(&to.ty, levels, inner),
        Type::Array(element, _) => is_small(element, levels, inner),
        Type::Function(function) => {
            let (returns, parameters) = &**function;
            is_small(returns, levels, inner)
                && parameters.iter().all(|parameter| is_small(parameter, levels, inner))
        }
        _ => true,
    }
}

impl<'a> Analyser<'a> {
    /// Resolves a written type.
    pub(super) fn resolve_type(&mut self, syntax: &'a TypeSyntax) -> Result<QType> {
        let mut found = match &syntax.kind {
            TypeKind::Words(words) => QType::plain(words_type(words, syntax.span)?),
            TypeKind::Named(name) => self.named_type(name, syntax.span)?,
            TypeKind::Auto => {
                return Err(unsupported(syntax.span, "`auto` is not supported here"));
            }
            TypeKind::Decltype(inner) => self.decltype(inner)?,
            TypeKind::Defined(declaration) => self.defined_type(declaration)?,
            TypeKind::Pointer(inner) => {
                let inner = self.resolve_type(inner)?;
                if inner.is_reference() {
                    return Err(error(syntax.span, "a pointer to a reference does not exist"));
                }
                QType::plain(Type::Pointer(Arc::new(inner.qualified())))
            }
            TypeKind::Reference(inner) => {
                let inner = self.resolve_type(inner)?;
                return Ok(QType { reference: Reference::Lvalue, ..inner });
            }
            TypeKind::RvalueReference(inner) => {
                let inner = self.resolve_type(inner)?;
                // Reference collapsing ([dcl.ref]/6).
                let reference = match inner.reference {
                    Reference::Lvalue => Reference::Lvalue,
                    _ => Reference::Rvalue,
                };
                return Ok(QType { reference, ..inner });
            }
            TypeKind::Array(element, size) => self.array_type(element, size.as_deref())?,
            TypeKind::Function(returns, parameters) => {
                let returns = self.resolve_type(returns)?;
                let mut types = Vec::new();
                for parameter in parameters {
                    let ty = self.resolve_type(&parameter.ty)?;
                    if ty.is_reference() || returns.is_reference() {
                        let message = "not supported here: pointers to functions with references";
                        return Err(unsupported(syntax.span, message));
                    }
                    types.push(decayed(&ty));
                }
                QType::plain(Type::Function(Arc::new((returns.ty, types))))
            }
        };
        check_depth(&found.ty, syntax.span)?;
        // `const` on a reference through a typedef is ignored ([dcl.ref]/1).
        if !found.is_reference() {
            found.is_const |= syntax.is_const;
            found.is_volatile |= syntax.is_volatile;
        }
        Ok(found)
    }

    fn array_type(
        &mut self,
        element: &'a TypeSyntax,
        size: Option<&'a ast::Expr>,
    ) -> Result<QType> {
        let element_type = self.resolve_type(element)?;
        if element_type.is_reference() || element_type.ty == Type::Void {
            return Err(error(element.span, "arrays of this type do not exist"));
        }
        let extent = match size {
            None => Extent::Unknown,
            Some(size) => self.extent(size)?,
        };
        Ok(QType { ty: Type::Array(Arc::new(element_type.ty.clone()), extent), ..element_type })
    }

    /// The size of an array: a constant, converted to `size_t`, or made of symbols (\[dcl.array\]).
    fn extent(&mut self, size: &'a ast::Expr) -> Result<Extent> {
        let value = self.constant_operand(size)?;
        if !is_integral(&value.ty) && !matches!(value.ty, Type::Enum(_)) {
            return Err(error(size.span, "the size of an array must be an integer"));
        }
        match self.integer_constant(&value) {
            Ok(Some(number)) if number < 0 => {
                Err(error(size.span, "the size of an array must not be negative"))
            }
            Ok(Some(0)) => Err(unsupported(size.span, "arrays without elements are not supported")),
            Ok(Some(number)) => {
                let number = u64::try_from(number);
                let number = number.map_err(|_| error(size.span, "this array is too large"))?;
                Ok(Extent::Known(number))
            }
            Ok(None) => Ok(Extent::Symbolic(Arc::new(value))),
            Err(why) => Err(why),
        }
    }

    /// `decltype(e)`: of a name, its declared type; of other places, a reference (\[dcl.type.decltype\]).
    fn decltype(&mut self, inner: &'a ast::Expr) -> Result<QType> {
        let is_name = matches!(inner.kind, ast::ExprKind::Name(_) | ast::ExprKind::Member { .. });
        let operand = self.unevaluated(inner)?;
        let mut ty = operand.qtype();
        if !is_name {
            ty.reference = match (operand.is_place(), operand.is_xvalue) {
                (true, false) => Reference::Lvalue,
                (true, true) => Reference::Rvalue,
                (false, _) => Reference::None,
            };
        } else if let Some(declared) = self.declared_reference(inner) {
            ty.reference = declared;
        }
        Ok(ty)
    }
}

/// `unsigned long long int` and similar, in any order (\[dcl.type.simple\], table 10).
fn words_type(words: &[Box<str>], span: Span) -> Result<Type> {
    let count = |word: &str| words.iter().filter(|one| one.as_ref() == word).count();
    let has = |word: &str| count(word) > 0;
    let known =
        ["void", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double"];
    if let Some(other) = words.iter().find(|word| !known.contains(&word.as_ref())) {
        return Err(unsupported(span, format!("the type `{other}` is not supported")));
    }
    let unsigned = has("unsigned");
    let single = |ty: Type| {
        if words.len() == 1 { Ok(ty) } else { Err(error(span, "this is not a type")) }
    };
    if has("double") && has("long") {
        return Err(unsupported(span, "`long double` is not supported"));
    }
    if has("void") {
        return single(Type::Void);
    } else if has("bool") {
        return single(Type::Bool);
    } else if has("float") {
        return single(FLOAT);
    } else if has("double") {
        return single(DOUBLE);
    }
    if unsigned && has("signed") || count("long") > 2 || has("long") && has("short") {
        return Err(error(span, "this is not a type"));
    }
    let kind = if has("char") {
        match (has("signed"), unsigned) {
            (true, _) => IntKind::SignedChar,
            (_, true) => IntKind::UnsignedChar,
            _ => IntKind::Char,
        }
    } else {
        match (has("short"), count("long"), unsigned) {
            (true, _, false) => IntKind::Short,
            (true, _, true) => IntKind::UnsignedShort,
            (_, 0, false) => IntKind::Int,
            (_, 0, true) => IntKind::UnsignedInt,
            (_, 1, false) => IntKind::Long,
            (_, 1, true) => IntKind::UnsignedLong,
            (_, _, false) => IntKind::LongLong,
            (_, _, true) => IntKind::UnsignedLongLong,
        }
    };
    Ok(Type::Int(kind))
}
