//! Expressions: side effects go to statements before, what is left is pure.

use super::access::Place;
use super::convert::{convert, promoted, truth, usual};
use super::{Binding, Lowerer, error, unsupported};
use crate::cfront::ast::{Expr as Ast, ExprKind as AstKind};
use crate::cfront::token::Result;
use crate::kir::{
    Array, Binary, Builtin, Compare, Element, Expr, ExprKind, Stmt, Type, Unary, When,
};
use base::Span;

impl Lowerer<'_> {
    /// The value of an expression; what it does is appended to `out`.
    pub(super) fn value(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<Expr> {
        let span = expr.span;
        match &expr.kind {
            AstKind::Int { value, scalar } => {
                let ty = super::convert::kir_type(*scalar).unwrap_or(Type::INT);
                let ty = if self.annotation { Type::Whole } else { ty };
                Ok(Expr { kind: ExprKind::Int(*value), ty, span })
            }
            AstKind::Float(value) => {
                Ok(Expr { kind: ExprKind::Float(*value), ty: Type::Float, span })
            }
            AstKind::Bool(value) => Ok(boolean(*value, span)),
            AstKind::Name(name) if self.is_shared_variable(name) => self.load(expr, out),
            AstKind::Name(name) if matches!(self.lookup(name), Some(Binding::Places(_))) => {
                self.load(expr, out)
            }
            AstKind::Name(name) => self.named(name, span),
            AstKind::Unary(operator, inner) => self.unary(operator, inner, span, out),
            AstKind::Binary(operator, left, right) => {
                self.binary(operator, [left, right], span, out)
            }
            AstKind::Assign(operator, target, value) => {
                self.assign(operator, target, value, span, out)
            }
            AstKind::Step { add, prefix, target } => self.step(*add, *prefix, target, span, out),
            AstKind::Ternary(condition, then, otherwise) => {
                self.ternary(condition, [then, otherwise], span, out)
            }
            AstKind::Index(..) => self.load(expr, out),
            AstKind::Member(inner, field) => match builtin(inner) {
                Some(builtin) => self.member(builtin, field, span),
                None => self.load(expr, out),
            },
            AstKind::Call(name, arguments) => self.call(name, arguments, span, out),
            AstKind::Instance(name, given, arguments) => {
                self.instance(name, (given, arguments), span, out)
            }
            AstKind::Braces(_) => Err(unsupported(span, "values in braces here")),
            AstKind::Cast(ty, inner) => {
                if ty.pointers > 0 || ty.scalar == super::Scalar::Void {
                    return Err(unsupported(span, "this cast is not supported"));
                }
                let value = self.value(inner, out)?;
                let wanted = super::convert::kir_type(ty.scalar).unwrap_or(Type::INT);
                Ok(Expr { span, ..convert(value, wanted) })
            }
            AstKind::Comma(left, right) => {
                self.effect(left, out)?;
                self.value(right, out)
            }
            AstKind::Quantified(quantifier, names, body) => {
                self.quantified(*quantifier, names, body, span)
            }
            AstKind::Fold(fold) => self.folded(fold, span),
        }
    }

    /// The truth of an expression.
    pub(super) fn condition(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<Expr> {
        Ok(truth(self.value(expr, out)?))
    }

    fn named(&mut self, name: &str, span: Span) -> Result<Expr> {
        match self.lookup(name).cloned() {
            Some(Binding::Var(var)) => Ok(self.var(var, span)),
            Some(Binding::Constant(value, ty)) => {
                let ty = if self.annotation { Type::Whole } else { ty };
                Ok(Expr { kind: ExprKind::Int(value), ty, span })
            }
            Some(Binding::Refused(message)) => Err(unsupported(span, message)),
            Some(Binding::Ghost(var)) if self.annotation => Ok(self.var(var, span)),
            Some(Binding::Ghost(_)) => {
                Err(error(span, format!("`{name}` is there for annotations only")))
            }
            Some(Binding::Value(value)) => Ok(Expr { span, ..value }),
            Some(_) => Err(unsupported(span, format!("`{name}` as a value is not supported"))),
            None if name == "\\result" => match self.results.last() {
                Some(var) if self.annotation => Ok(self.var(*var, span)),
                _ => Err(error(
                    span,
                    "only a `__device__` function that returns something has a result",
                )),
            },
            None if name == "warpSize" => Ok(Expr { kind: ExprKind::Int(32), ty: Type::INT, span }),
            None => match limit(name) {
                Some(value) => Ok(Expr { kind: value, ty: limit_type(name), span }),
                None => Err(error(span, format!("`{name}` is not declared"))),
            },
        }
    }

    fn member(&mut self, builtin: Builtin, field: &str, span: Span) -> Result<Expr> {
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == field);
        let axis = axis.ok_or_else(|| error(span, format!("there is no member `{field}`")))?;
        self.mention(builtin, axis);
        Ok(Expr { kind: ExprKind::Builtin(builtin, axis), ty: Type::UNSIGNED, span })
    }

    fn unary(
        &mut self,
        operator: &str,
        inner: &Ast,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        if operator == "*" {
            let whole = AstKind::Unary("*", Box::new(inner.clone()));
            return self.load(&Ast { kind: whole, span }, out);
        }
        if operator == "!" {
            let inner = Box::new(self.condition(inner, out)?);
            return Ok(Expr { kind: ExprKind::Unary(Unary::Not, inner), ty: Type::Bool, span });
        }
        let value = promoted(self.value(inner, out)?);
        let value = if self.annotation && value.ty != Type::Float {
            convert(value, Type::Whole)
        } else {
            value
        };
        let ty = value.ty;
        let kind = match operator {
            "+" => return Ok(value),
            "-" => match value.kind {
                ExprKind::Int(number) => ExprKind::Int(-number),
                _ => ExprKind::Unary(Unary::Neg, Box::new(value)),
            },
            "~" if ty != Type::Float => ExprKind::Unary(Unary::Complement, Box::new(value)),
            _ => return Err(unsupported(span, format!("`{operator}` here is not supported"))),
        };
        // The negative of an unsigned literal is taken modulo its width.
        if let (ExprKind::Int(number), Type::Int { bits, signed: false }) = (&kind, ty) {
            let wrapped = number.rem_euclid(1 << bits);
            return Ok(Expr { kind: ExprKind::Int(wrapped), ty, span });
        }
        Ok(Expr { kind, ty, span })
    }

    fn binary(
        &mut self,
        operator: &str,
        [left, right]: [&Ast; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        if matches!(operator, "&&" | "||" | "==>" | "<==>") {
            return self.logical(operator, [left, right], span, out);
        }
        let left = self.value(left, out)?;
        let right = self.value(right, out)?;
        if let Some(compare) = comparison(operator) {
            let (left, right) = match self.claiming && matches!(operator, "==" | "!=") {
                true => equated(left, right),
                false => usual(left, right, self.annotation),
            };
            let kind = ExprKind::Compare(compare, Box::new(left), Box::new(right));
            return Ok(Expr { kind, ty: Type::Bool, span });
        }
        let binary = arithmetic(operator)
            .ok_or_else(|| unsupported(span, format!("`{operator}` is not supported")))?;
        self.combine(binary, left, right, span)
    }

    /// `left ∘ right` with the conversions that C makes.
    pub(super) fn combine(
        &self,
        binary: Binary,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Result<Expr> {
        let (left, right) = match binary {
            // The type of a shift is that of its left side.
            Binary::Shl | Binary::Shr if !self.annotation => {
                let left = promoted(left);
                let ty = left.ty;
                (left, convert(right, ty))
            }
            _ => usual(left, right, self.annotation),
        };
        let ty = left.ty;
        let of_floats = matches!(
            binary,
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Min | Binary::Max
        );
        if ty == Type::Float && !of_floats {
            return Err(error(span, "this operator needs integers"));
        }
        Ok(Expr { kind: ExprKind::Binary(binary, Box::new(left), Box::new(right)), ty, span })
    }

    /// `&&`, `||`, `==>`: the right side is done only if the left one asks for it.
    fn logical(
        &mut self,
        operator: &str,
        [left, right]: [&Ast; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let left = self.condition(left, out)?;
        let mut effects = Vec::new();
        let right = self.condition(right, &mut effects)?;
        let not = |inner: Expr| Expr {
            kind: ExprKind::Unary(Unary::Not, Box::new(inner)),
            ty: Type::Bool,
            span,
        };
        let make = |kind| Expr { kind, ty: Type::Bool, span };
        if effects.is_empty() {
            return Ok(make(match operator {
                "&&" => ExprKind::And(Box::new(left), Box::new(right)),
                "||" => ExprKind::Or(Box::new(left), Box::new(right)),
                "==>" => ExprKind::Or(Box::new(not(left)), Box::new(right)),
                _ => {
                    let both = make(ExprKind::And(Box::new(left.clone()), Box::new(right.clone())));
                    let none = make(ExprKind::And(Box::new(not(left)), Box::new(not(right))));
                    ExprKind::Or(Box::new(both), Box::new(none))
                }
            }));
        }
        let result = self.new_var("condition", Type::Bool);
        out.push(Stmt::Assign(result, left));
        effects.push(Stmt::Assign(result, right));
        let tested = self.var(result, span);
        out.push(match operator {
            "&&" => Stmt::If(tested, effects, Vec::new()),
            _ => Stmt::If(tested, Vec::new(), effects),
        });
        Ok(self.var(result, span))
    }

    fn ternary(
        &mut self,
        condition: &Ast,
        [then, otherwise]: [&Ast; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let condition = self.condition(condition, out)?;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let then = self.value(then, &mut first)?;
        let otherwise = self.value(otherwise, &mut second)?;
        let (then, otherwise) = if then.ty == Type::Bool && otherwise.ty == Type::Bool {
            (then, otherwise)
        } else {
            usual(then, otherwise, self.annotation)
        };
        let ty = then.ty;
        if first.is_empty() && second.is_empty() {
            let parts = (Box::new(condition), Box::new(then), Box::new(otherwise));
            return Ok(Expr { kind: ExprKind::Select(parts.0, parts.1, parts.2), ty, span });
        }
        let result = self.new_var("chosen", ty);
        first.push(Stmt::Assign(result, then));
        second.push(Stmt::Assign(result, otherwise));
        out.push(Stmt::If(condition, first, second));
        Ok(self.var(result, span))
    }

    /// Reads an element into a variable of its own, or what else a struct's member is.
    pub(super) fn load(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<Expr> {
        let place = match self.places(expr, out)? {
            Some(places) => match &places[..] {
                [(path, place)] if path.is_empty() => place.clone(),
                _ => return Err(unsupported(expr.span, "a struct here is not supported")),
            },
            None if matches!(expr.kind, AstKind::Member(..)) => {
                return Err(unsupported(expr.span, "members of this are not supported"));
            }
            None => Place::Element(self.element(expr, out)?),
        };
        self.read_place(&place, expr.span, out)
    }

    pub(super) fn load_element(&mut self, element: Element, out: &mut Vec<Stmt>) -> Result<Expr> {
        let ty = self.arrays[element.array].element;
        let span = element.span;
        if self.annotation {
            // Annotations of contracts speak of the beginning, when offsets are zero.
            let index = match self.in_contract || self.when == When::Before {
                true => element.index.iter().map(without_offset).collect(),
                false => element.index,
            };
            let kind = ExprKind::Element(element.array, self.when, index);
            return Ok(Expr { kind, ty, span });
        }
        let var = self.new_var("loaded", ty);
        out.push(Stmt::Load(var, element));
        Ok(self.var(var, span))
    }

    fn assign(
        &mut self,
        operator: &str,
        target: &Ast,
        value: &Ast,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let binary = operator.strip_suffix('=').filter(|operator| !operator.is_empty());
        let binary = binary.and_then(arithmetic);
        if let AstKind::Name(name) = &target.kind
            && let Some(Binding::Records(_, offset, _)) = self.lookup(name).cloned()
        {
            return self.move_pointer(offset, operator, value, span, out);
        }
        if let Some(number) = self.record_type(target) {
            if binary.is_some() {
                return Err(unsupported(span, "operators on structs are not supported"));
            }
            let places = self.places(target, out)?.unwrap_or_default();
            self.assign_record(&places, value, number, out)?;
            return Ok(boolean(true, span));
        }
        match self.place(target, out)? {
            Place::Pointer(array, offset) => {
                let (found, moved) = match binary {
                    None => self.pointer(value, out)?,
                    Some(_) => {
                        let sign = if operator == "+=" { "+" } else { "-" };
                        let both = (Box::new(target.clone()), Box::new(value.clone()));
                        let kind = AstKind::Binary(sign, both.0, both.1);
                        self.pointer(&Ast { kind, span }, out)?
                    }
                };
                if found != array {
                    let message = "a pointer that moves to another array is not supported";
                    return Err(unsupported(span, message));
                }
                out.push(Stmt::Assign(offset, moved));
                Ok(self.var(offset, span))
            }
            Place::Var(var) => {
                let mut new = self.value(value, out)?;
                if let Some(binary) = binary {
                    new = self.combine(binary, self.var(var, target.span), new, span)?;
                }
                out.push(Stmt::Assign(var, convert(new, self.vars[var].ty)));
                Ok(self.var(var, span))
            }
            Place::Element(element) => {
                let Array { element: ty, constant, name, .. } = &self.arrays[element.array];
                if *constant {
                    return Err(error(span, format!("`{name}` is constant")));
                }
                let ty = *ty;
                let mut new = self.value(value, out)?;
                if let Some(binary) = binary {
                    let old = self.new_var("loaded", ty);
                    out.push(Stmt::Load(old, element.clone()));
                    new = self.combine(binary, self.var(old, target.span), new, span)?;
                }
                let stored = self.new_var("stored", ty);
                out.push(Stmt::Assign(stored, convert(new, ty)));
                out.push(Stmt::Store(element, self.var(stored, span)));
                Ok(self.var(stored, span))
            }
        }
    }

    /// `++x` and `x++`.
    fn step(
        &mut self,
        add: bool,
        prefix: bool,
        target: &Ast,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let one = crate::cfront::ast::Scalar::Int { bits: 32, signed: true };
        let one = Ast { kind: AstKind::Int { value: 1, scalar: one }, span };
        let operator = if add { "+=" } else { "-=" };
        let old = match (prefix, self.place(target, &mut Vec::new())?) {
            (false, Place::Var(var)) => {
                let old = self.new_var("before", self.vars[var].ty);
                out.push(Stmt::Assign(old, self.var(var, span)));
                Some(old)
            }
            (false, Place::Element(_)) => {
                let old = self.load(target, out)?;
                let kept = self.new_var("before", old.ty);
                out.push(Stmt::Assign(kept, old));
                Some(kept)
            }
            _ => None,
        };
        let new = self.assign(operator, target, &one, span, out)?;
        Ok(old.map_or(new, |old| self.var(old, span)))
    }
}

/// Both sides of an equation in a claim: one with an integer element is of its type.
fn equated(left: Expr, right: Expr) -> (Expr, Expr) {
    let of_element = |one: &Expr| {
        let is_element = matches!(one.kind, ExprKind::Element(..));
        Some(one.ty).filter(|ty| is_element && matches!(ty, Type::Int { .. }))
    };
    match (of_element(&left), of_element(&right)) {
        (Some(one), Some(other)) if one == other => (left, right),
        (Some(ty), None) if right.ty != Type::Float => (left, convert(right, ty)),
        (None, Some(ty)) if left.ty != Type::Float => (convert(left, ty), right),
        _ => usual(left, right, true),
    }
}

/// Annotations name elements of parameters, whose offset variable is 0 then.
fn without_offset(index: &Expr) -> Expr {
    match &index.kind {
        ExprKind::Binary(Binary::Add, offset, index)
            if matches!(offset.kind, ExprKind::Var(_)) && offset.ty == Type::LONG =>
        {
            (**index).clone()
        }
        _ => index.clone(),
    }
}

/// The built-in vector that an expression names.
fn builtin(expr: &Ast) -> Option<Builtin> {
    let AstKind::Name(name) = &expr.kind else { return None };
    match name.as_str() {
        "threadIdx" => Some(Builtin::Thread),
        "blockIdx" => Some(Builtin::Block),
        "blockDim" => Some(Builtin::BlockDim),
        "gridDim" => Some(Builtin::GridDim),
        _ => None,
    }
}

fn boolean(value: bool, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(i128::from(value)), ty: Type::Bool, span }
}

fn comparison(operator: &str) -> Option<Compare> {
    Some(match operator {
        "==" => Compare::Eq,
        "!=" => Compare::Ne,
        "<" => Compare::Lt,
        "<=" => Compare::Le,
        ">" => Compare::Gt,
        ">=" => Compare::Ge,
        _ => return None,
    })
}

fn arithmetic(operator: &str) -> Option<Binary> {
    Some(match operator {
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

/// Constants of the standard headers.
fn limit(name: &str) -> Option<ExprKind> {
    Some(match name {
        "INT_MAX" => ExprKind::Int(i128::from(i32::MAX)),
        "INT_MIN" => ExprKind::Int(i128::from(i32::MIN)),
        "UINT_MAX" => ExprKind::Int(i128::from(u32::MAX)),
        "FLT_MAX" => ExprKind::Float(f64::from(f32::MAX)),
        "FLT_EPSILON" => ExprKind::Float(f64::from(f32::EPSILON)),
        "INFINITY" | "CUDART_INF_F" | "HUGE_VALF" => ExprKind::Float(f64::INFINITY),
        "M_PI" => ExprKind::Float(std::f64::consts::PI),
        _ => return None,
    })
}

fn limit_type(name: &str) -> Type {
    match name {
        "INT_MAX" | "INT_MIN" => Type::INT,
        "UINT_MAX" => Type::UNSIGNED,
        _ => Type::Float,
    }
}
