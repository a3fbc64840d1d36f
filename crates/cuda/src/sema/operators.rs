//! Built-in operators (\[expr.unary.op\], \[expr.mul\] to \[expr.log.or\], \[expr.ass\], \[expr.pre.incr\]).

use super::analyser::Analyser;
use super::operand::{Operand, place, value};
use super::types::{DIFFERENCE, is_arithmetic, is_integral, is_narrow_float};
use crate::syntax::ast;
use crate::tree::{Binary, Category, Compare, Expr, ExprKind, FloatKind, Type, Unary};
use crate::{Result, error, unsupported};
use base::Span;

/// The operator of a sign.
pub(crate) fn arithmetic(sign: &str) -> Option<Binary> {
    Some(match sign {
        "+" => Binary::Add,
        "-" => Binary::Sub,
        "*" => Binary::Mul,
        "/" => Binary::Div,
        "%" => Binary::Rem,
        "<<" => Binary::Shl,
        ">>" => Binary::Shr,
        "&" => Binary::BitAnd,
        "|" => Binary::BitOr,
        "^" => Binary::BitXor,
        _ => return None,
    })
}

pub(crate) fn comparison(sign: &str) -> Option<Compare> {
    Some(match sign {
        "==" => Compare::Eq,
        "!=" => Compare::Ne,
        "<" => Compare::Lt,
        "<=" => Compare::Le,
        ">" => Compare::Gt,
        ">=" => Compare::Ge,
        _ => return None,
    })
}

impl<'a> Analyser<'a> {
    pub(super) fn unary(
        &mut self,
        sign: &'static str,
        inner: &'a ast::Expr,
        span: Span,
    ) -> Result<Operand> {
        if sign == "&" {
            let operand = self.operand(inner)?;
            return self.address(operand, span);
        }
        let operand = self.operand(inner)?;
        if self.is_user(&operand.expr.ty) {
            return self.user_operator(sign, vec![operand], span);
        }
        if sign == "!" {
            let truth = self.truth(operand)?;
            let kind = ExprKind::Unary(Unary::Not, Box::new(truth));
            return Ok(Operand::new(value(kind, Type::Bool, span)));
        }
        let plain = self.rvalue(operand)?;
        if sign == "*" {
            return self.dereferenced(plain, span);
        }
        if sign == "+" && matches!(plain.ty, Type::Pointer(_)) {
            return Ok(Operand::new(plain));
        }
        let ty = self.promoted(&plain.ty);
        let fits = match sign {
            "~" => is_integral(&ty),
            _ => is_arithmetic(&ty) || is_narrow_float(&ty),
        };
        if !fits {
            return Err(error(span, format!("`{sign}` does not apply to this type")));
        }
        let plain = self.converted(plain, &ty, span)?;
        let op = match sign {
            "-" => Unary::Neg,
            "~" => Unary::Complement,
            _ => return Ok(Operand::new(Expr { span, ..plain })),
        };
        Ok(Operand::new(value(ExprKind::Unary(op, Box::new(plain)), ty, span)))
    }

    pub(super) fn binary(
        &mut self,
        sign: &'static str,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Result<Operand> {
        // Walks a chain that groups to the left in a loop, so that a long sum needs no stack here. Code that walks
        // the tree still does.
        let mut chain = vec![(sign, right, span)];
        let mut first = left;
        while let ast::ExprKind::Binary(sign, left, right) = &first.kind {
            chain.push((sign, right, first.span));
            first = left;
        }
        if chain.len() > self.longest_chain {
            let message = format!("this has more than {} operations in a row", self.longest_chain);
            return Err(crate::limit(span, message));
        }
        let mut made = self.operand(first)?;
        for (sign, right, span) in chain.into_iter().rev() {
            let right = self.operand(right)?;
            made = self.binary_operands(sign, made, right, span)?;
        }
        Ok(made)
    }

    pub(super) fn binary_operands(
        &mut self,
        sign: &'static str,
        left: Operand,
        right: Operand,
        span: Span,
    ) -> Result<Operand> {
        if self.is_user(&left.expr.ty) || self.is_user(&right.expr.ty) {
            return self.user_operator(sign, vec![left, right], span);
        }
        if sign == "&&" || sign == "||" {
            let (left, right) = (Box::new(self.truth(left)?), Box::new(self.truth(right)?));
            let kind =
                if sign == "&&" { ExprKind::And(left, right) } else { ExprKind::Or(left, right) };
            return Ok(Operand::new(value(kind, Type::Bool, span)));
        }
        if let Some(compare) = comparison(sign) {
            return self.compare(compare, left, right, span);
        }
        let Some(op) = arithmetic(sign) else {
            return Err(error(span, format!("`{sign}` belongs in an annotation")));
        };
        let (left, right) = (self.rvalue(left)?, self.rvalue(right)?);
        if let Some(made) = self.pointer_arithmetic(op, &left, &right, span)? {
            return Ok(Operand::new(made));
        }
        self.arithmetic(op, left, right, span).map(Operand::new)
    }

    /// An arithmetic operator.
    fn arithmetic(&mut self, op: Binary, left: Expr, right: Expr, span: Span) -> Result<Expr> {
        let (ty, right_ty) = self.operation_types(op, &left.ty, &right.ty, span)?;
        let left = self.converted(left, &ty, span)?;
        let right = self.converted(right, &right_ty, span)?;
        Ok(value(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span))
    }

    /// The types of a binary operation: of the left side and result, and of the right side.
    fn operation_types(
        &mut self,
        op: Binary,
        left: &Type,
        right: &Type,
        span: Span,
    ) -> Result<(Type, Type)> {
        if is_narrow_float(left) || is_narrow_float(right) {
            let fits = left == right
                && matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div);
            if !fits {
                let message = "16-bit floats combine only with their own type; other operands would make the operator ambiguous";
                return Err(unsupported(span, message));
            }
            return Ok((left.clone(), left.clone()));
        }
        let number = |ty: &Type| is_arithmetic(ty) || self.is_unscoped_enum(ty);
        let is_integer = |ty: &Type| self.is_integer_like(ty);
        let fits = match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div => number(left) && number(right),
            _ => is_integer(left) && is_integer(right),
        };
        if !fits {
            let message = format!(
                "this operator does not apply to `{}` and `{}`",
                self.type_name(left),
                self.type_name(right)
            );
            return Err(error(span, message));
        }
        if matches!(op, Binary::Shl | Binary::Shr) {
            return Ok((self.promoted(left), self.promoted(right)));
        }
        let ty = self.usual_type(left, right);
        Ok((ty.clone(), ty))
    }

    fn pointer_arithmetic(
        &mut self,
        op: Binary,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Result<Option<Expr>> {
        match (&left.ty, &right.ty, op) {
            (Type::Pointer(one), Type::Pointer(other), Binary::Sub) => {
                if one.ty != other.ty || one.ty == Type::Void {
                    return Err(error(span, "these pointers cannot be subtracted"));
                }
                // The tree has both sides in one type.
                let left = self.without_qualifiers(left.clone());
                let right = self.without_qualifiers(right.clone());
                let kind = ExprKind::PointerDiff(Box::new(left), Box::new(right));
                Ok(Some(value(kind, DIFFERENCE, span)))
            }
            (Type::Pointer(_), _, Binary::Add | Binary::Sub) => {
                let add = op == Binary::Add;
                self.pointer_sum(add, left.clone(), right.clone(), span).map(Some)
            }
            (_, Type::Pointer(_), Binary::Add) => {
                self.pointer_sum(true, right.clone(), left.clone(), span).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn without_qualifiers(&mut self, from: Expr) -> Expr {
        match &from.ty {
            Type::Pointer(to) if to.is_const || to.is_volatile => {
                let (ty, span) = (super::types::pointer(to.ty.clone(), false, false), from.span);
                value(ExprKind::Convert(Box::new(from)), ty, span)
            }
            _ => from,
        }
    }

    /// `p + i` or `p - i`.
    pub(super) fn pointer_sum(
        &mut self,
        add: bool,
        base: Expr,
        offset: Expr,
        span: Span,
    ) -> Result<Expr> {
        let Type::Pointer(to) = &base.ty else {
            return Err(error(span, "this is not a pointer"));
        };
        if matches!(to.ty, Type::Void | Type::Function(_)) {
            return Err(error(span, "this pointer has no elements"));
        }
        if let Type::Record(id) = to.ty {
            self.complete(id, span)?;
        }
        let is_unbounded = offset.ty == Type::Whole;
        if !is_unbounded && !self.is_integer_like(&offset.ty) {
            return Err(error(offset.span, "an index must be an integer"));
        }
        let index = if is_unbounded { Type::Whole } else { self.promoted(&offset.ty) };
        let offset = self.converted(offset, &index, span)?;
        let ty = base.ty.clone();
        let (base, offset) = (Box::new(base), Box::new(offset));
        let kind = if add {
            ExprKind::PointerAdd(base, offset)
        } else {
            ExprKind::PointerSub(base, offset)
        };
        Ok(value(kind, ty, span))
    }

    fn compare(
        &mut self,
        compare: Compare,
        left: Operand,
        right: Operand,
        span: Span,
    ) -> Result<Operand> {
        let (one, other) =
            (super::types::decayed(&left.qtype()), super::types::decayed(&right.qtype()));
        let number = |ty: &Type| is_arithmetic(ty) || self.is_unscoped_enum(ty);
        let ty = if number(&one) && number(&other) {
            self.usual_type(&one, &other)
        } else if one == other
            && (matches!(one, Type::Enum(_) | Type::Pointer(_)) || is_narrow_float(&one))
        {
            one
        } else if matches!(one, Type::Pointer(_)) || matches!(other, Type::Pointer(_)) {
            self.common_type(&left, &right, span)?
        } else {
            let message = format!(
                "`{}` and `{}` cannot be compared",
                self.type_name(&one),
                self.type_name(&other)
            );
            return Err(unsupported(span, message));
        };
        let (left, right) = (self.rvalue(left)?, self.rvalue(right)?);
        let left = self.converted(left, &ty, span)?;
        let right = self.converted(right, &ty, span)?;
        let kind = ExprKind::Compare(compare, Box::new(left), Box::new(right));
        Ok(Operand::new(value(kind, Type::Bool, span)))
    }

    pub(super) fn assign(
        &mut self,
        sign: &'static str,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Result<Operand> {
        if let ast::ExprKind::Braces(parts) = &right.kind {
            let target = self.operand(left)?;
            let ty = target.qtype().ty;
            let made = self.list_value(&ty, parts, right.span)?;
            return self.assign_operands(sign, target, Operand::new(made), span);
        }
        let (target, from) = (self.operand(left)?, self.operand(right)?);
        self.assign_operands(sign, target, from, span)
    }

    fn assign_operands(
        &mut self,
        sign: &'static str,
        target: Operand,
        from: Operand,
        span: Span,
    ) -> Result<Operand> {
        if self.is_user(&target.expr.ty) || (sign != "=" && self.is_user(&from.expr.ty)) {
            return self.user_assignment(sign, target, from, span);
        }
        self.built_in_assignment(sign, target, from, span)
    }

    pub(super) fn built_in_assignment(
        &mut self,
        sign: &'static str,
        target: Operand,
        from: Operand,
        span: Span,
    ) -> Result<Operand> {
        self.check_writable(&target, span)?;
        let ty = target.qtype();
        let keep_volatile =
            |expr: Expr| Operand { is_volatile: ty.is_volatile, ..Operand::new(expr) };
        if sign == "=" {
            let to = super::types::QType::plain(ty.ty.clone());
            let from = self.implicit(from, &to, span)?;
            let kind = ExprKind::Assign(Box::new(target.expr), Box::new(from));
            return Ok(keep_volatile(place(kind, ty.ty.clone(), span)));
        }
        let Some(op) = sign.strip_suffix('=').and_then(arithmetic) else {
            return Err(error(span, format!("`{sign}` does not assign")));
        };
        let (computed, from) = self.compound_operands(op, &ty.ty, from, span)?;
        let kind = ExprKind::AssignOp {
            op,
            ty: computed,
            place: Box::new(target.expr),
            value: Box::new(from),
        };
        Ok(keep_volatile(place(kind, ty.ty.clone(), span)))
    }

    /// The type in which a compound assignment computes, and its right side, converted for that.
    fn compound_operands(
        &mut self,
        op: Binary,
        target: &Type,
        from: Operand,
        span: Span,
    ) -> Result<(Type, Expr)> {
        if let Type::Pointer(_) = target {
            let offset = self.rvalue(from)?;
            if !matches!(op, Binary::Add | Binary::Sub) || !self.is_integer_like(&offset.ty) {
                return Err(error(span, "only integers can be added to a pointer"));
            }
            let index = self.promoted(&offset.ty);
            let offset = self.converted(offset, &index, span)?;
            return Ok((target.clone(), offset));
        }
        if is_narrow_float(target) {
            let to = super::types::QType::plain(target.clone());
            let from = self.implicit(from, &to, span)?;
            self.operation_types(op, target, target, span)?;
            return Ok((target.clone(), from));
        }
        if !is_arithmetic(target) {
            return Err(error(span, "this is not a number"));
        }
        let from = self.rvalue(from)?;
        if is_narrow_float(&from.ty) {
            return Err(unsupported(span, "this operator would be ambiguous"));
        }
        let (ty, right) = self.operation_types(op, target, &from.ty, span)?;
        let from = self.converted(from, &right, span)?;
        Ok((ty, from))
    }

    /// Checks that an assigned operand is a place that is not `const`.
    pub(super) fn check_writable(&self, target: &Operand, span: Span) -> Result<()> {
        if !target.is_place()
            || matches!(target.expr.kind, ExprKind::Temporary(_)) && !target.is_const
        {
            return Err(error(span, "this cannot be assigned to"));
        }
        if target.is_const {
            return Err(error(span, "this is `const`"));
        }
        if let Type::Array(..) = target.expr.ty {
            return Err(error(span, "arrays are not assigned to"));
        }
        Ok(())
    }

    pub(super) fn step(
        &mut self,
        add: bool,
        is_prefix: bool,
        operand: &'a ast::Expr,
        span: Span,
    ) -> Result<Operand> {
        let target = self.operand(operand)?;
        if self.is_user(&target.expr.ty) {
            let sign = if add { "++" } else { "--" };
            let mut operands = vec![target];
            if !is_prefix {
                operands.push(Operand::new(super::operand::int(0, span)));
            }
            return self.user_operator(sign, operands, span);
        }
        self.check_writable(&target, span)?;
        let ty = target.expr.ty.clone();
        let fits = match &ty {
            Type::Pointer(to) => !matches!(to.ty, Type::Void | Type::Function(_)),
            Type::Int(_) => true,
            Type::Float(_) => true,
            _ => false,
        };
        if !fits {
            return Err(error(span, "this cannot be incremented"));
        }
        let is_volatile = target.is_volatile;
        let kind = ExprKind::Step { add, is_prefix, place: Box::new(target.expr) };
        let category = if is_prefix { Category::Place } else { Category::Value };
        let made = Expr { kind, ty, category, span };
        Ok(Operand { is_volatile: is_volatile && is_prefix, ..Operand::new(made) })
    }

    /// Returns `true` if operators of this type may be functions: for classes and enumerations
    /// (\[over.match.oper\]/1).
    pub(super) fn is_user(&self, ty: &Type) -> bool {
        match ty {
            Type::Record(_) => true,
            Type::Enum(_) | Type::Float(FloatKind::Half | FloatKind::Bfloat16) => {
                self.has_operators
            }
            _ => false,
        }
    }
}
