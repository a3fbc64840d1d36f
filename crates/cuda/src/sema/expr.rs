//! Expressions (\[expr\]): their meaning, their type and their value category.

use super::analyser::Analyser;
use super::operand::{Operand, literal, place, value};
use super::types::{SIZE, is_arithmetic, is_integral, pointer};
use crate::syntax::ast::{self, CastKind, ExprKind as Ast};
use crate::tree::{Binary, Category, Expr, ExprKind, Extent, IntKind, Type};
use crate::{Result, error, unsupported};
use base::Span;
use std::sync::Arc;

/// The deepest nesting of expressions.
pub(super) const MAX_EXPRESSION_DEPTH: u32 = 400;

impl<'a> Analyser<'a> {
    /// An expression.
    pub(super) fn operand(&mut self, expr: &'a ast::Expr) -> Result<Operand> {
        self.with_nesting_limit(expr.span, |one| one.operand_unguarded(expr))
    }

    /// Runs `inner` one level deeper; refuses deep nesting, which would exhaust the stack.
    pub(super) fn with_nesting_limit<T>(
        &mut self,
        span: Span,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.expression_depth >= MAX_EXPRESSION_DEPTH {
            return Err(crate::limit(span, "this expression is nested too deeply"));
        }
        self.expression_depth += 1;
        let result = inner(self);
        self.expression_depth -= 1;
        result
    }

    /// Types an expression outside of clauses, without the limit on nesting. Long: one arm for each kind of expression.
    fn operand_unguarded(&mut self, expr: &'a ast::Expr) -> Result<Operand> {
        let span = expr.span;
        match &expr.kind {
            Ast::Int { value: number, decimal, unsigned, long } => {
                let ty = integer_type(*number, *decimal, *unsigned, *long);
                let Some(ty) = ty else {
                    return Err(error(span, "no integer type holds this number"));
                };
                let number = i128::try_from(*number).unwrap_or(i128::MAX);
                let is_null = number == 0;
                let made = value(ExprKind::Int(number), Type::Int(ty), span);
                Ok(Operand { is_null, ..Operand::new(made) })
            }
            Ast::Float { value: number, single } => {
                let ty = if *single { super::types::FLOAT } else { super::types::DOUBLE };
                Ok(Operand::new(value(ExprKind::Float(*number), ty, span)))
            }
            Ast::Character(code) => {
                let kind = ExprKind::Int(i128::from(*code));
                Ok(Operand::new(value(kind, Type::Int(IntKind::Char), span)))
            }
            Ast::Bool(truth) => {
                Ok(Operand::new(value(ExprKind::Int(i128::from(*truth)), Type::Bool, span)))
            }
            Ast::Text(bytes) => {
                let element = Arc::new(Type::Int(IntKind::Char));
                let ty = Type::Array(element, Extent::Known(bytes.len() as u64 + 1));
                let made = place(ExprKind::Text(bytes.clone()), ty, span);
                Ok(Operand { is_const: true, ..Operand::new(made) })
            }
            Ast::Null => {
                let made = value(ExprKind::Null, pointer(Type::Void, false, false), span);
                Ok(Operand { is_null: true, ..Operand::new(made) })
            }
            Ast::This => self.this_pointer(span),
            Ast::Name(name) => self.name_operand(name, span),
            Ast::Unary(sign, inner) => self.unary(sign, inner, span),
            Ast::Binary(sign, left, right) => self.binary(sign, left, right, span),
            Ast::Assign(sign, left, right) => self.assign(sign, left, right, span),
            Ast::Step { add, is_prefix, operand } => self.step(*add, *is_prefix, operand, span),
            Ast::Ternary(condition, then, otherwise) => {
                self.ternary(condition, then, otherwise, span)
            }
            Ast::Index(array, index) => self.index(array, index, span),
            Ast::Member { object, member, arrow } => self.member(object, member, *arrow, span),
            Ast::Call(callee, arguments) => self.call(callee, arguments, span),
            Ast::Cast(kind, ty, inner) => self.cast(*kind, ty, inner, span),
            Ast::Construct { ty, arguments, is_list } => {
                self.construct_syntax(ty, arguments, *is_list, span)
            }
            Ast::SizeOfType(word, ty) => {
                let ty = self.resolve_type(ty)?;
                self.size_operand(word, &ty.ty, span)
            }
            Ast::SizeOf(inner) => {
                let ty = self.unevaluated(inner)?.expr.ty;
                self.size_operand("sizeof", &ty, span)
            }
            Ast::Comma(left, right) => {
                let left = self.discarded(left)?;
                let right = self.operand(right)?;
                Ok(Operand {
                    expr: Expr {
                        ty: right.expr.ty.clone(),
                        category: right.expr.category,
                        kind: ExprKind::Comma(Box::new(left), Box::new(right.expr)),
                        span,
                    },
                    constant: None,
                    is_null: false,
                    ..right
                })
            }
            Ast::Braces(_) => Err(unsupported(span, "braces are not supported here")),
            Ast::Lambda => Err(unsupported(span, "lambdas are not supported")),
            Ast::Pack(_) => Err(unsupported(span, "template packs are not supported")),
            Ast::Quantified(..) | Ast::Fold(_) | Ast::Range(..) => {
                Err(error(span, "this belongs in an annotation"))
            }
        }
    }

    /// The value of an expression.
    pub(super) fn value_of(&mut self, expr: &'a ast::Expr) -> Result<Expr> {
        let operand = self.operand(expr)?;
        self.rvalue(operand)
    }

    /// An expression with a discarded value (\[expr.context\]): places are not read.
    pub(super) fn discarded(&mut self, expr: &'a ast::Expr) -> Result<Expr> {
        Ok(self.operand(expr)?.expr)
    }

    /// An expression of which only the type is used.
    pub(super) fn unevaluated(&mut self, expr: &'a ast::Expr) -> Result<Operand> {
        self.operand(expr)
    }

    fn this_pointer(&mut self, span: Span) -> Result<Operand> {
        let Some((this, is_const)) = self.body.this else {
            return Err(error(span, "there is no object here"));
        };
        if self.body.is_constructor {
            let message = "the address of an object in its constructor is not supported";
            return Err(unsupported(span, message));
        }
        let object = self.local_operand(this, span)?;
        let ty = pointer(object.expr.ty.clone(), is_const, false);
        Ok(Operand::new(value(ExprKind::AddressOf(Box::new(object.expr)), ty, span)))
    }

    /// `a\[i\]` is `*(a + i)`, whichever of them is the pointer (\[expr.sub\]).
    fn index(&mut self, array: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Result<Operand> {
        let array = self.operand(array)?;
        if let Type::Record(_) = array.expr.ty {
            let index = self.operand(index)?;
            return self.user_operator("[]", vec![array, index], span);
        }
        let index = self.operand(index)?;
        let (left, right) = (self.rvalue(array)?, self.rvalue(index)?);
        let (base, offset) = match (&left.ty, &right.ty) {
            (Type::Pointer(_), _) => (left, right),
            (_, Type::Pointer(_)) => (right, left),
            _ => return Err(error(span, "this is neither an array nor a pointer")),
        };
        let sum = self.pointer_sum(true, base, offset, span)?;
        self.dereferenced(sum, span)
    }

    /// `*p`.
    pub(super) fn dereferenced(&mut self, at: Expr, span: Span) -> Result<Operand> {
        let Type::Pointer(to) = &at.ty else {
            return Err(error(span, "this is not a pointer"));
        };
        let to = to.as_ref().clone();
        if matches!(to.ty, Type::Void) {
            return Err(error(span, "a `void` pointer points to nothing that has a value"));
        }
        // A function that is not called becomes a pointer again.
        if let Type::Function(_) = to.ty {
            return Ok(Operand::new(Expr { span, ..at }));
        }
        let made = match at.kind {
            // `*&x` is `x`.
            ExprKind::AddressOf(inner) => Expr { span, ..*inner },
            _ => place(ExprKind::Deref(Box::new(at)), to.ty, span),
        };
        Ok(Operand { is_const: to.is_const, is_volatile: to.is_volatile, ..Operand::new(made) })
    }

    /// `&x`.
    pub(super) fn address(&mut self, operand: Operand, span: Span) -> Result<Operand> {
        if let ExprKind::Function(_) = operand.expr.kind {
            return Ok(operand);
        }
        if !operand.is_place() || operand.is_xvalue {
            return Err(error(span, "only stored values have an address"));
        }
        let ty = pointer(operand.expr.ty.clone(), operand.is_const, operand.is_volatile);
        let made = match operand.expr.kind {
            ExprKind::Deref(inner) if inner.ty == ty => Expr { span, ..*inner },
            _ => value(ExprKind::AddressOf(Box::new(operand.expr)), ty, span),
        };
        Ok(Operand::new(made))
    }

    /// The object of a `.` or `->`.
    pub(super) fn object(&mut self, object: &'a ast::Expr, arrow: bool) -> Result<Operand> {
        if let (Ast::This, true) = (&object.kind, arrow) {
            let Some((this, is_const)) = self.body.this else {
                return Err(error(object.span, "there is no object here"));
            };
            let found = self.local_operand(this, object.span)?;
            return Ok(Operand { is_const: found.is_const || is_const, ..found });
        }
        let operand = self.operand(object)?;
        if !arrow {
            return Ok(operand);
        }
        if let Type::Record(_) = operand.expr.ty {
            return Err(unsupported(object.span, "`->` of a class is not supported"));
        }
        let at = self.rvalue(operand)?;
        self.dereferenced(at, object.span)
    }

    fn member(
        &mut self,
        object: &'a ast::Expr,
        member: &'a ast::NamePart,
        arrow: bool,
        span: Span,
    ) -> Result<Operand> {
        let object = self.object(object, arrow)?;
        let word: &str = &member.name.text;
        let Type::Record(record) = object.expr.ty else {
            return Err(error(span, format!("there is no member `{word}`: this is not a class")));
        };
        self.complete(record, span)?;
        if let Some(path) = self.field_path(record, word) {
            return Ok(self.walk_fields(object, &path, span));
        }
        let scope = self.class_scope(record);
        let found = scope.map(|one| self.names_in(one, word)).unwrap_or_default();
        match found.first() {
            Some(super::scope::Entity::Function(_)) => {
                Err(unsupported(span, "a member function as a value is not supported"))
            }
            Some(
                entity @ (super::scope::Entity::Variable(_)
                | super::scope::Entity::Global(_)
                | super::scope::Entity::Enumerator(..)),
            ) => {
                if !matches!(object.expr.kind, ExprKind::Local(_) | ExprKind::Global(_)) {
                    let message = "a static member of a computed object is not supported";
                    return Err(unsupported(span, message));
                }
                self.static_member(entity.clone(), word, span)
            }
            _ => Err(crate::name_error(member.name.span, format!("there is no member `{word}`"))),
        }
    }

    fn ternary(
        &mut self,
        condition: &'a ast::Expr,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Result<Operand> {
        let condition = self.operand(condition)?;
        let condition = self.truth(condition)?;
        let (one, other) = (self.operand(then)?, self.operand(otherwise)?);
        let (from, into) = (one.qtype(), other.qtype());
        let select = |one: Expr, other: Expr, ty: Type, category: Category| Expr {
            kind: ExprKind::Select(Box::new(condition), Box::new(one), Box::new(other)),
            ty,
            category,
            span,
        };
        let stays = one.is_place() && other.is_place() && !one.is_xvalue && !other.is_xvalue;
        let constant = one.constant.is_some() || other.constant.is_some();
        if stays && from == into && !constant {
            let made = select(one.expr, other.expr, from.ty, Category::Place);
            return Ok(Operand {
                is_const: from.is_const,
                is_volatile: from.is_volatile,
                ..Operand::new(made)
            });
        }
        if from.ty == Type::Void && into.ty == Type::Void {
            let made = select(one.expr, other.expr, Type::Void, Category::Value);
            return Ok(Operand::new(made));
        }
        let ty = self.common_type(&one, &other, span)?;
        let (one, other) = (self.rvalue(one)?, self.rvalue(other)?);
        let one = self.converted(one, &ty, span)?;
        let other = self.converted(other, &ty, span)?;
        Ok(Operand::new(select(one, other, ty, Category::Value)))
    }

    /// The common type of two operands of `?:` or a comparison (\[expr.cond\]/7, \[expr.type\]).
    pub(super) fn common_type(
        &mut self,
        one: &Operand,
        other: &Operand,
        span: Span,
    ) -> Result<Type> {
        let (left, right) =
            (super::types::decayed(&one.qtype()), super::types::decayed(&other.qtype()));
        if left == right {
            return Ok(left);
        }
        let left_number = is_arithmetic(&left) || self.is_unscoped_enum(&left);
        let right_number = is_arithmetic(&right) || self.is_unscoped_enum(&right);
        match (&left, &right) {
            _ if left_number && right_number => Ok(self.usual_type(&left, &right)),
            (Type::Pointer(_), _) if other.is_null => Ok(left),
            (_, Type::Pointer(_)) if one.is_null => Ok(right),
            (Type::Pointer(one), Type::Pointer(other)) => {
                let (is_const, is_volatile) =
                    (one.is_const || other.is_const, one.is_volatile || other.is_volatile);
                if one.ty == other.ty {
                    Ok(pointer(one.ty.clone(), is_const, is_volatile))
                } else if one.ty == Type::Void || other.ty == Type::Void {
                    Ok(pointer(Type::Void, is_const, is_volatile))
                } else {
                    Err(error(span, "these are pointers to different types"))
                }
            }
            _ => Err(unsupported(span, "these types have no common type that is modelled")),
        }
    }

    fn size_operand(&mut self, word: &str, ty: &Type, span: Span) -> Result<Operand> {
        if word != "sizeof" {
            let align = self.align_of(ty, span)?;
            return Ok(Operand::new(literal(i128::from(align), SIZE, span)));
        }
        let size = self.size_expr(ty, span)?;
        Ok(Operand::new(size))
    }

    /// The size of a type, with symbols for unknown sizes.
    fn size_expr(&mut self, ty: &Type, span: Span) -> Result<Expr> {
        match ty {
            Type::Array(element, Extent::Symbolic(count)) => {
                let count = self.converted(count.as_ref().clone(), &SIZE, span)?;
                let size = self.size_expr(element, span)?;
                let kind = ExprKind::Binary(Binary::Mul, Box::new(count), Box::new(size));
                Ok(value(kind, SIZE, span))
            }
            Type::Array(element, Extent::Known(count)) => {
                let size = self.size_expr(element, span)?;
                if let ExprKind::Int(size) = size.kind {
                    return Ok(literal(size * i128::from(*count), SIZE, span));
                }
                let count = literal(i128::from(*count), SIZE, span);
                let kind = ExprKind::Binary(Binary::Mul, Box::new(count), Box::new(size));
                Ok(value(kind, SIZE, span))
            }
            other => Ok(literal(i128::from(self.size_of(other, span)?), SIZE, span)),
        }
    }

    fn cast(
        &mut self,
        kind: CastKind,
        ty: &'a ast::TypeSyntax,
        inner: &'a ast::Expr,
        span: Span,
    ) -> Result<Operand> {
        let target = self.resolve_type(ty)?;
        let operand = self.operand(inner)?;
        self.explicit_cast(kind, operand, &target, span)
    }

    pub(super) fn is_unscoped_enum(&self, ty: &Type) -> bool {
        matches!(ty, Type::Enum(_)) && !self.is_scoped_enum(ty)
    }

    /// Returns `true` for a type with integral promotion: an integer, truth value or unscoped enumeration.
    pub(super) fn is_integer_like(&self, ty: &Type) -> bool {
        is_integral(ty) || self.is_unscoped_enum(ty)
    }
}

/// The first type of its list that holds the number (\[lex.icon\], table 7).
fn integer_type(value: u128, decimal: bool, unsigned: bool, long: u8) -> Option<IntKind> {
    let all = [
        (IntKind::Int, 0),
        (IntKind::UnsignedInt, 0),
        (IntKind::Long, 1),
        (IntKind::UnsignedLong, 1),
        (IntKind::LongLong, 2),
        (IntKind::UnsignedLongLong, 2),
    ];
    let fits = |kind: IntKind| i128::try_from(value).is_ok_and(|one| one <= kind.range().1);
    all.into_iter()
        .filter(|(kind, rank)| {
            let sign = match unsigned {
                true => !kind.is_signed(),
                false => kind.is_signed() || !decimal,
            };
            sign && *rank >= long
        })
        .map(|(kind, _)| kind)
        .find(|kind| fits(*kind))
}
