//! Calls: built-in functions, barriers, atomics, and `__device__` functions, which are inlined.
//!
//! Fences, warp-level functions and collectives are refused: what they order is not modelled here.

use super::convert::{convert, kir_type, promoted};
use super::{Binding, Lowerer, error, unsupported};
use crate::cfront::ast::{Expr as Ast, Function, Stmt as AstStmt, StmtKind};
use crate::cfront::token::Result;
use crate::kir::{AtomicOp, Binary, Element, Expr, ExprKind, Requirement, Stmt, Type, Unary};
use base::Span;
use std::collections::BTreeMap;

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

/// Statements of inlined functions nested deeper than this are refused.
const MAX_CALLS: usize = 16;

impl Lowerer<'_> {
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[Ast],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let nothing = Expr { kind: ExprKind::Int(0), ty: Type::INT, span };
        match (name, arguments) {
            ("__syncthreads" | "__barrier_sync", []) => {
                out.push(Stmt::Barrier(span));
                Ok(nothing)
            }
            ("min" | "max", [left, right]) => {
                let binary = if name == "min" { Binary::Min } else { Binary::Max };
                let (left, right) = (self.value(left, out)?, self.value(right, out)?);
                self.combine(binary, left, right, span)
            }
            ("\\min" | "\\max", [left, right]) if self.annotation => {
                let binary = if name == "\\min" { Binary::Min } else { Binary::Max };
                let (left, right) = (self.value(left, out)?, self.value(right, out)?);
                self.combine(binary, left, right, span)
            }
            ("\\is_pow2" | "__is_pow2", [inner]) if self.annotation => {
                let inner = convert(self.value(inner, out)?, Type::Whole);
                let kind = ExprKind::Unary(Unary::IsPow2, Box::new(inner));
                Ok(Expr { kind, ty: Type::Bool, span })
            }
            ("abs", [inner]) => {
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
            _ if name.starts_with("atomic") => self.atomic(name, arguments, span, out),
            _ => {
                let unit = self.unit;
                let mut functions = unit.functions.iter();
                match functions.find(|one| one.name == name && !one.is_kernel) {
                    Some(function) => self.inline(function, arguments, span, out),
                    None => self.mathematical(name, arguments, span, out),
                }
            }
        }
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

    /// Puts the body of a function in the place of its call.
    fn inline(
        &mut self,
        function: &Function,
        arguments: &[Ast],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let name = &function.name;
        if self.calls.contains(name) || self.calls.len() >= MAX_CALLS {
            return Err(unsupported(span, format!("recursion in `{name}` is not supported")));
        }
        if !function.template.is_empty() || !function.clauses.is_empty() {
            let message = format!("`{name}` has a template or a contract, which is not supported");
            return Err(unsupported(span, message));
        }
        if function.parameters.len() != arguments.len() {
            return Err(error(span, format!("`{name}` takes other arguments")));
        }
        let mut scope = BTreeMap::new();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            let ty = kir_type(parameter.ty.scalar).filter(|_| parameter.ty.pointers < 2);
            let Some(ty) = ty else {
                return Err(unsupported(parameter.span, "this parameter is not supported"));
            };
            let binding = if parameter.ty.pointers == 1 {
                let (array, offset) = self.pointer(argument, out)?;
                let var = self.new_var(&parameter.name, Type::LONG);
                out.push(Stmt::Assign(var, offset));
                Binding::Pointer(array, var)
            } else {
                let value = convert(self.value(argument, out)?, ty);
                let var = self.new_var(&parameter.name, ty);
                out.push(Stmt::Assign(var, value));
                Binding::Var(var)
            };
            scope.insert(parameter.name.clone(), binding);
        }
        let returned = kir_type(function.returns.scalar).map(|ty| self.new_var(name, ty));
        if function.returns.pointers > 0 {
            return Err(unsupported(span, "functions that return pointers are not supported"));
        }
        // A function sees the file's names and its own, not those of its caller.
        let outer = std::mem::take(&mut self.scopes);
        self.scopes = outer.iter().take(1).cloned().collect();
        self.scopes.push(scope);
        self.calls.push(name.clone());
        let body = ended(&function.body)?;
        let result = self.inlined(&body, returned, out);
        self.calls.pop();
        self.scopes = outer;
        result?;
        Ok(match returned {
            Some(var) => self.var(var, span),
            None => Expr { kind: ExprKind::Int(0), ty: Type::INT, span },
        })
    }

    /// Statements of a function whose only returns are at the ends.
    fn inlined(
        &mut self,
        body: &[AstStmt],
        returned: Option<crate::kir::VarId>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some((last, before)) = body.split_last() else { return Ok(()) };
        self.statements(before, out)?;
        match &last.kind {
            StmtKind::Return(value) => match (value, returned) {
                (Some(value), Some(var)) => {
                    let value = convert(self.value(value, out)?, self.vars[var].ty);
                    out.push(Stmt::Assign(var, value));
                    Ok(())
                }
                (None, None) => Ok(()),
                _ => Err(error(last.span, "this return does not fit the function")),
            },
            StmtKind::If(condition, then, otherwise) if returns(then) || returns(otherwise) => {
                let condition = self.condition(condition, out)?;
                let (mut first, mut second) = (Vec::new(), Vec::new());
                for (part, into) in [(then, &mut first), (otherwise, &mut second)] {
                    self.scopes.push(BTreeMap::new());
                    self.inlined(part, returned, into)?;
                    self.scopes.pop();
                }
                out.push(Stmt::If(condition, first, second));
                Ok(())
            }
            _ => self.statements(std::slice::from_ref(last), out),
        }
    }
}

fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(one, _)| *one == name)
}

/// Whether a `return` is in these statements.
fn returns(statements: &[AstStmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Return(_) => true,
        StmtKind::If(_, then, otherwise) => returns(then) || returns(otherwise),
        StmtKind::Block(inner)
        | StmtKind::While(_, inner)
        | StmtKind::DoWhile(inner, _)
        | StmtKind::For { body: inner, .. } => returns(inner),
        _ => false,
    })
}

/// The same statements with every `return` at an end: what follows an `if` that returns moves into
/// its other branch.
fn ended(body: &[AstStmt]) -> Result<Vec<AstStmt>> {
    let mut out = Vec::new();
    for (position, statement) in body.iter().enumerate() {
        let rest = &body[position + 1..];
        match &statement.kind {
            StmtKind::Return(_) => {
                out.push(statement.clone());
                return Ok(out);
            }
            StmtKind::If(condition, then, otherwise) if returns(then) || returns(otherwise) => {
                let complete = |part: &[AstStmt]| -> Result<Vec<AstStmt>> {
                    let mut whole = part.to_vec();
                    if !always_returns(part) {
                        whole.extend(rest.iter().cloned());
                    }
                    ended(&whole)
                };
                let kind = StmtKind::If(condition.clone(), complete(then)?, complete(otherwise)?);
                out.push(AstStmt { kind, span: statement.span });
                return Ok(out);
            }
            StmtKind::Block(inner) if returns(inner) => {
                let mut whole = inner.clone();
                whole.extend(rest.iter().cloned());
                out.extend(ended(&whole)?);
                return Ok(out);
            }
            _ if returns(std::slice::from_ref(statement)) => {
                return Err(unsupported(
                    statement.span,
                    "a return in a loop is not supported here",
                ));
            }
            _ => out.push(statement.clone()),
        }
    }
    Ok(out)
}

fn always_returns(body: &[AstStmt]) -> bool {
    body.last().is_some_and(|last| match &last.kind {
        StmtKind::Return(_) => true,
        StmtKind::If(_, then, otherwise) => always_returns(then) && always_returns(otherwise),
        StmtKind::Block(inner) => always_returns(inner),
        _ => false,
    })
}
