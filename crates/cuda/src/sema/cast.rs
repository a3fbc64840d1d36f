//! Casts (\[expr.static.cast\], \[expr.reinterpret.cast\], \[expr.const.cast\], \[expr.cast\]).

use super::analyser::Analyser;
use super::operand::{Operand, value};
use super::types::{QType, Reference, is_arithmetic, is_integral, is_narrow_float};
use crate::syntax::ast::CastKind;
use crate::tree::{Expr, ExprKind, Type};
use crate::{Result, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// `(T)e` and the named casts.
    pub(super) fn explicit_cast(
        &mut self,
        kind: CastKind,
        from: Operand,
        to: &QType,
        span: Span,
    ) -> Result<Operand> {
        if to.is_reference() {
            return self.reference_cast(kind, from, to, span);
        }
        if to.ty == Type::Void {
            let kind = ExprKind::Convert(Box::new(from.expr));
            return Ok(Operand::new(value(kind, Type::Void, span)));
        }
        let by_value = kind == CastKind::C || kind == CastKind::Static;
        let is_class = matches!(from.expr.ty, Type::Record(_)) || matches!(to.ty, Type::Record(_));
        if by_value && is_class {
            if let Type::Record(record) = to.ty {
                if from.expr.ty != to.ty {
                    let made = self.construct_record(record, vec![from], span)?;
                    return Ok(Operand::new(made));
                }
            } else {
                let made = self.convert_from_class(from, &to.ty, span)?;
                return Ok(Operand::new(made));
            }
        }
        let plain = self.rvalue(from)?;
        let numbers =
            |ty: &Type| is_arithmetic(ty) || is_narrow_float(ty) || matches!(ty, Type::Enum(_));
        let pointers = |ty: &Type| matches!(ty, Type::Pointer(_));
        let wide = |ty: &Type| matches!(ty, Type::Int(kind) if kind.bits() == 64);
        let (one, two) = (&plain.ty, &to.ty);
        let valid = match kind {
            _ if one == two => true,
            CastKind::Const => pointers(one) && pointers(two) && same_but_const(one, two),
            CastKind::Static => {
                numbers(one) && numbers(two)
                    || pointers(one) && (pointers(two) || *two == Type::Bool)
                    || matches!(plain.kind, ExprKind::Int(0)) && pointers(two)
            }
            CastKind::Reinterpret => {
                pointers(one) && (pointers(two) || wide(two)) || is_integral(one) && pointers(two)
            }
            CastKind::C => {
                numbers(one) && numbers(two)
                    || pointers(one) && (pointers(two) || wide(two) || *two == Type::Bool)
                    || (is_integral(one) || matches!(one, Type::Enum(_))) && pointers(two)
            }
        };
        if !valid {
            let message =
                format!("`{}` cannot be cast to `{}`", self.type_name(one), self.type_name(two));
            return Err(unsupported(span, message));
        }
        let made = self.converted(plain, &to.ty, span)?;
        Ok(Operand::new(Expr { span, ..made }))
    }

    fn reference_cast(
        &mut self,
        kind: CastKind,
        from: Operand,
        to: &QType,
        span: Span,
    ) -> Result<Operand> {
        let is_xvalue = to.reference == Reference::Rvalue;
        let flags = |operand: Operand| Operand {
            is_const: to.is_const,
            is_volatile: to.is_volatile,
            is_xvalue,
            constant: None,
            is_null: false,
            ..operand
        };
        let related = self.path_to_same_or_base(&from.expr.ty, &to.ty);
        if let (Some(path), true) = (related, from.is_place()) {
            return Ok(flags(self.walk_fields(from, &path, span)));
        }
        if kind != CastKind::Static && from.is_place() {
            let address = self.address(Operand { is_xvalue: false, ..from }, span)?;
            let ty = super::types::pointer(to.ty.clone(), to.is_const, to.is_volatile);
            let at = self.converted(address.expr, &ty, span)?;
            return Ok(flags(self.dereferenced(at, span)?));
        }
        let made = self.implicit(from, to, span)?;
        Ok(flags(Operand::new(made)))
    }
}

fn same_but_const(one: &Type, other: &Type) -> bool {
    matches!((one, other), (Type::Pointer(one), Type::Pointer(other)) if one.ty == other.ty)
}
