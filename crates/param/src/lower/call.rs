//! Calls: built-in functions, barriers, atomics; `__device__` functions are inlined by `inline.rs`.
//!
//! Fences order nothing here; a kernel with one has no race refuted. Functions of a warp are met by all of its
//! threads, what they exchange is unknown, and what they order is not used. Other collectives are refused.

use super::convert::{convert, promoted};
use super::{Lowerer, error, unsupported};
use crate::cfront::ast::Expr as Ast;
use crate::cfront::token::Result;
use crate::kir::{AtomicOp, Binary, Element, Expr, ExprKind, Requirement, Stmt, Type, Unary};
use base::Span;

/// Mathematical functions: C's name, how many arguments.
const FUNCTIONS: &[(&str, usize)] = &[
    ("sqrt", 1),
    ("rsqrt", 1),
    ("exp", 1),
    ("exp2", 1),
    ("log", 1),
    ("log2", 1),
    ("sin", 1),
    ("cos", 1),
    ("tanh", 1),
    ("erf", 1),
    ("fabs", 1),
    ("floor", 1),
    ("ceil", 1),
    ("round", 1),
    ("rint", 1),
    ("pow", 2),
    ("fmin", 2),
    ("fmax", 2),
    ("fma", 3),
    ("fdivide", 2),
];

impl Lowerer<'_> {
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[Ast],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let nothing = Expr { kind: ExprKind::Int(0), ty: Type::INT, span };
        if let Some(value) = self.spec_call(name, arguments, span)? {
            return Ok(value);
        }
        match (name, arguments) {
            ("__ensures", [condition]) if self.calls.is_empty() => {
                self.ensure(condition, span)?;
                Ok(nothing)
            }
            ("__syncthreads" | "__barrier_sync", []) => {
                out.push(Stmt::Barrier(span));
                Ok(nothing)
            }
            ("min" | "max" | "\\min" | "\\max", [left, right])
                if self.annotation || !name.starts_with('\\') =>
            {
                let binary = if name.ends_with("min") { Binary::Min } else { Binary::Max };
                let (left, right) = (self.value(left, out)?, self.value(right, out)?);
                self.combine(binary, left, right, span)
            }
            ("abs" | "\\abs", [inner]) if self.annotation || name == "abs" => {
                let inner = promoted(self.value(inner, out)?);
                let kind = ExprKind::Unary(Unary::Neg, Box::new(inner.clone()));
                let negative = Expr { kind, ty: inner.ty, span };
                self.combine(Binary::Max, inner, negative, span)
            }
            ("__ldg", [pointer]) => {
                let (array, offset) = self.pointer(pointer, out)?;
                let ty = self.arrays[array].element;
                let var = self.new_var("loaded", ty);
                out.push(Stmt::Load(var, Element { array, index: vec![offset], span }));
                Ok(self.var(var, span))
            }
            ("__requires" | "__assume", [condition]) => {
                let condition = self.spec_condition(condition)?;
                if name == "__requires" && self.calls.is_empty() {
                    self.requires.push(Requirement { forall: Vec::new(), condition });
                } else {
                    out.push(Stmt::Assume(condition));
                }
                Ok(nothing)
            }
            ("__assert" | "assert", [condition]) => {
                let condition = self.condition(condition, out)?;
                out.push(Stmt::Assert(condition));
                Ok(nothing)
            }
            (_, [condition, ..]) if name.starts_with("__barrier_invariant_") => {
                self.claim_at_next_barrier(condition, span)?;
                Ok(nothing)
            }
            ("__threadfence" | "__threadfence_block" | "__threadfence_system", []) => {
                self.fences = true;
                Ok(nothing)
            }
            _ if name.starts_with("atomic") => self.atomic(name, arguments, span, out),
            _ if is_of_warp(name) => self.warp(name, arguments, span, out),
            _ => {
                let unit = self.unit;
                if let Some(call) = self.combined(name, arguments, span, out)? {
                    return Ok(call);
                }
                let mut functions = unit.functions.iter();
                match functions.find(|one| one.name == name && !one.is_kernel) {
                    Some(function) => self.inline(function, (&[], arguments), span, out),
                    None => self.mathematical(name, arguments, span, out),
                }
            }
        }
    }

    /// A call of a monoid, which is known by its laws; nothing if it is none, or if something could go wrong in it.
    fn combined(
        &mut self,
        name: &str,
        arguments: &[Ast],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Expr>> {
        let monoid = self.monoids.iter().find(|one| one.name == name && is_total(&one.result));
        let Some(monoid) = monoid.cloned().filter(|_| arguments.len() == 2) else {
            return Ok(None);
        };
        let ty = monoid.result.ty;
        let mut values = Vec::new();
        for argument in arguments {
            values.push(convert(self.value(argument, out)?, ty));
        }
        let kind = ExprKind::Combine(std::sync::Arc::new(monoid), values);
        Ok(Some(Expr { kind, ty, span }))
    }

    /// Functions that the threads of a warp call together. What they return is not followed; that all of
    /// them get there is asked.
    fn warp(
        &mut self,
        name: &str,
        arguments: &[Ast],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let mut types = Vec::new();
        for argument in arguments {
            types.push(self.value(argument, out)?);
        }
        let is_partial = match types.first() {
            Some(mask) if name.ends_with("_sync") || name == "__syncwarp" => {
                let full = super::convert::fold(mask).map(|mask| mask.rem_euclid(1 << 32));
                full != Some(0xffff_ffff)
            }
            _ => false,
        };
        if is_partial {
            let message = "a mask that does not name the whole warp is not supported";
            return Err(unsupported(arguments.first().map_or(span, |one| one.span), message));
        }
        if name != "__activemask" {
            out.push(Stmt::Warp(span));
        }
        let ty = match (name, types.get(1)) {
            (_, Some(value)) if name.starts_with("__shfl") => promoted(value.clone()).ty,
            ("__any_sync" | "__all_sync", _) => Type::INT,
            _ => Type::UNSIGNED,
        };
        // Nothing is ever assigned to it, so nothing is known of it.
        let result = self.new_var("exchanged", ty);
        Ok(self.var(result, span))
    }

    fn mathematical(
        &mut self,
        name: &str,
        arguments: &[Ast],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        if matches!(name, "__half2float" | "__float2half" | "__float2bfloat16" | "__bfloat162float")
            && let [inner] = arguments
        {
            return Ok(convert(self.value(inner, out)?, Type::Float));
        }
        let plain = name.trim_start_matches("__");
        let plain = plain.strip_suffix('f').filter(|short| is_function(short)).unwrap_or(plain);
        let Some((known, count)) = FUNCTIONS.iter().find(|(one, _)| *one == plain) else {
            return Err(unsupported(span, format!("the function `{name}` is not supported")));
        };
        if arguments.len() != *count {
            return Err(error(span, format!("`{name}` takes {count} arguments")));
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(convert(self.value(argument, out)?, Type::Float));
        }
        Ok(Expr { kind: ExprKind::Call(known, values), ty: Type::Float, span })
    }

    fn atomic(
        &mut self,
        name: &str,
        arguments: &[Ast],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let op = match name {
            "atomicAdd" => AtomicOp::Add,
            "atomicSub" => AtomicOp::Sub,
            "atomicMin" => AtomicOp::Min,
            "atomicMax" => AtomicOp::Max,
            "atomicAnd" => AtomicOp::And,
            "atomicOr" => AtomicOp::Or,
            "atomicXor" => AtomicOp::Xor,
            "atomicExch" => AtomicOp::Exchange,
            "atomicCAS" => AtomicOp::CompareAndSwap,
            _ => return Err(unsupported(span, format!("`{name}` is not supported"))),
        };
        let wanted = if op == AtomicOp::CompareAndSwap { 3 } else { 2 };
        let [pointer, rest @ ..] = arguments else {
            return Err(error(span, format!("`{name}` takes {wanted} arguments")));
        };
        if rest.len() + 1 != wanted {
            return Err(error(span, format!("`{name}` takes {wanted} arguments")));
        }
        let element = match &pointer.kind {
            crate::cfront::ast::ExprKind::Unary("&", inner) => self.element(inner, out)?,
            _ => {
                let (array, offset) = self.pointer(pointer, out)?;
                Element { array, index: vec![offset], span }
            }
        };
        let element = Element { span, ..element };
        let ty = self.arrays[element.array].element;
        let mut operands = Vec::new();
        for operand in rest {
            operands.push(convert(self.value(operand, out)?, ty));
        }
        let result = self.new_var("before", ty);
        out.push(Stmt::Atomic { result, op, element, operands });
        Ok(self.var(result, span))
    }
}

fn is_of_warp(name: &str) -> bool {
    let names = ["__syncwarp", "__ballot_sync", "__any_sync", "__all_sync", "__activemask"];
    name.starts_with("__shfl_") && name.ends_with("_sync") || names.contains(&name)
}

fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(one, _)| *one == name)
}

/// Whether an expression has a value whatever its variables are.
fn is_total(expr: &Expr) -> bool {
    let mut total = true;
    crate::relevance::visit(expr, &mut |inner| {
        total &= match &inner.kind {
            ExprKind::Binary(operator, ..) => {
                !matches!(operator, Binary::Div | Binary::Rem | Binary::Shl | Binary::Shr)
            }
            ExprKind::Element(..) | ExprKind::Quantified(..) | ExprKind::Fold(_) => false,
            _ => true,
        };
    });
    total
}
