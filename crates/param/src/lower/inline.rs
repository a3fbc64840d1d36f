//! `__device__` functions in the place of their calls, with templates, structs and references.

use super::access::Place;
use super::claims::About;
use super::convert::{convert, kir_type};
use super::records::Path;
use super::{Binding, Lowerer, error, unsupported};
use crate::cfront::ast::{
    ClauseKind, Declarator, Expr as Ast, Function, Scalar, Stmt as AstStmt, StmtKind,
};
use crate::cfront::token::Result;
use crate::kir::{Expr, ExprKind, Stmt, Type};
use base::Span;
use std::collections::BTreeMap;

/// Statements of inlined functions nested deeper than this are refused.
const MAX_CALLS: usize = 16;

/// Where the value of an inlined function goes.
enum Returned {
    Nothing,
    Var(crate::kir::VarId),
    Record(Vec<(Path, crate::kir::VarId)>),
}

impl Lowerer<'_> {
    /// A call of a function template with its integers.
    pub(super) fn instance(
        &mut self,
        name: &str,
        given: (&[Ast], &[Ast]),
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let unit = self.unit;
        let Some(function) = unit.functions.iter().find(|one| one.name == name && !one.is_kernel)
        else {
            return Err(unsupported(span, format!("the function `{name}` is not supported")));
        };
        self.inline(function, given, span, out)
    }

    pub(super) fn inline(
        &mut self,
        function: &Function,
        given: (&[Ast], &[Ast]),
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        match self.inline_body(function, given, span, out)? {
            Returned::Var(var) => Ok(self.var(var, span)),
            Returned::Nothing => Ok(Expr { kind: ExprKind::Int(0), ty: Type::INT, span }),
            Returned::Record(_) => Err(unsupported(span, "a struct here is not supported")),
        }
    }

    /// The same for a function that returns a struct.
    pub(super) fn inline_record(
        &mut self,
        name: &str,
        given: (&[Ast], &[Ast]),
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Vec<(Path, Expr)>> {
        let unit = self.unit;
        let function = unit.functions.iter().find(|one| one.name == name && !one.is_kernel);
        let Some(function) = function else {
            return Err(unsupported(span, format!("the function `{name}` is not supported")));
        };
        match self.inline_body(function, given, span, out)? {
            Returned::Record(vars) => {
                Ok(vars.into_iter().map(|(path, var)| (path, self.var(var, span))).collect())
            }
            _ => Err(error(span, format!("`{name}` returns no struct"))),
        }
    }

    /// Puts the body of a function in the place of its call.
    fn inline_body(
        &mut self,
        function: &Function,
        (given, arguments): (&[Ast], &[Ast]),
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Returned> {
        let name = &function.name;
        if self.calls.contains(name) || self.calls.len() >= MAX_CALLS {
            return Err(unsupported(span, format!("recursion in `{name}` is not supported")));
        }
        if function.parameters.len() != arguments.len() || function.template.len() != given.len() {
            return Err(error(span, format!("`{name}` takes other arguments")));
        }
        let mut scope = BTreeMap::new();
        for (parameter, argument) in function.template.iter().zip(given) {
            let value = self.value(argument, out)?;
            let ty = kir_type(parameter.ty.scalar).unwrap_or(Type::INT);
            let binding = match super::convert::fold(&value) {
                Some(number) => Binding::Constant(number, ty),
                None => self.kept(&parameter.name, convert(value, ty), out),
            };
            scope.insert(parameter.name.clone(), binding);
        }
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            let generic = !function.types.is_empty();
            let binding = self.argument(parameter, argument, generic, out)?;
            scope.insert(parameter.name.clone(), binding);
        }
        if function.returns.pointers > 0 || function.returns.reference {
            return Err(unsupported(span, "functions that return pointers are not supported"));
        }
        let returned = match function.returns.scalar {
            Scalar::Struct(number) => Returned::Record(self.record_vars(name, number, span)?),
            Scalar::Auto => return Err(unsupported(span, "`auto` here is not supported")),
            scalar => match kir_type(scalar) {
                Some(ty) => Returned::Var(self.new_var(name, ty)),
                None => Returned::Nothing,
            },
        };
        // A function sees the file's names and its own, not those of its caller.
        let outer = std::mem::take(&mut self.scopes);
        self.scopes = outer.iter().take(1).cloned().collect();
        self.scopes.push(scope);
        self.calls.push(name.clone());
        let loops = std::mem::take(&mut self.loops);
        let before = self.met(function, out);
        let (result, before) = match before {
            Ok(before) => (Ok(()), before),
            Err(refusal) => (Err(refusal), BTreeMap::new()),
        };
        let result = result.and_then(|()| ended(&function.body));
        let result = result.and_then(|body| self.inlined(&body, &returned, out));
        let modular = result.is_ok() && self.is_modular(function, &before, out);
        let result = result.and_then(|()| match modular {
            true => self.given_at_end(function, before, span, out),
            false => self.given(function, (&returned, before), out),
        });
        self.calls.pop();
        self.loops = loops;
        self.scopes = outer;
        result?;
        Ok(returned)
    }

    /// What the contract of an inlined function demands is asserted before it. If it claims something,
    /// its parameters are kept as they are now.
    fn met(
        &mut self,
        function: &Function,
        out: &mut Vec<Stmt>,
    ) -> Result<BTreeMap<String, Binding>> {
        for clause in &function.clauses {
            match &clause.kind {
                ClauseKind::Requires(condition) => {
                    let stated = self.stated(condition, clause.span)?;
                    out.extend(stated.into_iter().map(Stmt::Assert));
                }
                ClauseKind::Ensures(_) | ClauseKind::Extent(..) | ClauseKind::Symbolic => {}
                ClauseKind::Footprint(_) => {
                    let why = "`reads` and `writes` are not followed".to_owned();
                    self.unfollow(About::Body, clause.span, why);
                }
                _ => return Err(error(clause.span, "this clause belongs to no function")),
            }
        }
        let mut before = BTreeMap::new();
        if function.clauses.iter().any(|one| matches!(one.kind, ClauseKind::Ensures(_))) {
            for parameter in &function.parameters {
                match self.lookup(&parameter.name).cloned() {
                    Some(Binding::Var(var)) => {
                        let value = self.var(var, parameter.span);
                        let kept = self.kept(&parameter.name, value, out);
                        before.insert(parameter.name.clone(), kept);
                    }
                    Some(Binding::Pointer(array, offset)) => {
                        let value = self.var(offset, parameter.span);
                        if let Binding::Var(kept) = self.kept(&parameter.name, value, out) {
                            before.insert(parameter.name.clone(), Binding::Pointer(array, kept));
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(before)
    }

    /// What it claims is asserted behind it, of its parameters as they were `before`.
    fn given(
        &mut self,
        function: &Function,
        (returned, before): (&Returned, BTreeMap<String, Binding>),
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        self.scopes.push(before);
        for clause in &function.clauses {
            let ClauseKind::Ensures(condition) = &clause.kind else { continue };
            self.results.extend(match returned {
                Returned::Var(var) => Some(*var),
                _ => None,
            });
            let stated = self.stated(condition, clause.span);
            self.results.clear();
            out.extend(stated?.into_iter().map(Stmt::Assert));
        }
        Ok(())
    }

    fn kept(&mut self, name: &str, value: Expr, out: &mut Vec<Stmt>) -> Binding {
        let var = self.new_var(name, value.ty);
        out.push(Stmt::Assign(var, value));
        Binding::Var(var)
    }

    /// What a parameter of an inlined function stands for.
    fn argument(
        &mut self,
        parameter: &Declarator,
        argument: &Ast,
        generic: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<Binding> {
        let (name, ty) = (&parameter.name, parameter.ty);
        if ty.reference {
            return self.reference(argument, out);
        }
        match (ty.scalar, ty.pointers) {
            (Scalar::Struct(number), 0) => {
                let init = Some(argument.clone());
                let declarator = Declarator { init, ..parameter.clone() };
                self.declare_record(&declarator, number, out)
            }
            (Scalar::Struct(_), 1) => match self.record_pointer(argument, out)? {
                Some(pointer) => Ok(self.bind_pointer(name, pointer, out)),
                None => Err(unsupported(argument.span, "this pointer is not supported")),
            },
            (_, 1) => {
                let (array, offset) = self.pointer(argument, out)?;
                if !generic && kir_type(ty.scalar) != Some(self.arrays[array].element) {
                    let message = "a pointer to elements of another type is not supported";
                    return Err(unsupported(argument.span, message));
                }
                let var = self.new_var(name, Type::LONG);
                out.push(Stmt::Assign(var, offset));
                Ok(Binding::Pointer(array, var))
            }
            (scalar, 0) => match kir_type(scalar) {
                Some(own) => {
                    let value = convert(self.value(argument, out)?, own);
                    Ok(self.kept(name, value, out))
                }
                None => Err(unsupported(parameter.span, "this parameter is not supported")),
            },
            _ => Err(unsupported(parameter.span, "this parameter is not supported")),
        }
    }

    /// Statements of a function whose only returns are at the ends.
    fn inlined(
        &mut self,
        body: &[AstStmt],
        returned: &Returned,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some((last, before)) = body.split_last() else { return Ok(()) };
        self.statements(before, out)?;
        match &last.kind {
            StmtKind::Return(value) => match (value, returned) {
                (Some(value), Returned::Var(var)) => {
                    let value = convert(self.value(value, out)?, self.vars[*var].ty);
                    out.push(Stmt::Assign(*var, value));
                    Ok(())
                }
                (Some(value), Returned::Record(vars)) => {
                    let places = vars.iter().map(|(path, var)| (path.clone(), Place::Var(*var)));
                    let places: Vec<(Path, Place)> = places.collect();
                    let Some(number) = self.returned_struct() else {
                        return Err(unsupported(last.span, "this return is not supported"));
                    };
                    self.assign_record(&places, value, number, out)
                }
                (None, Returned::Nothing) => Ok(()),
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

    /// The struct that the function at hand returns.
    fn returned_struct(&self) -> Option<u16> {
        let name = self.calls.last()?;
        let function = self.unit.functions.iter().find(|one| one.name == *name)?;
        match function.returns.scalar {
            Scalar::Struct(number) => Some(number),
            _ => None,
        }
    }
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

/// Whether the last thing that a function does is to meet at a barrier.
pub(super) fn ends_with_barrier(function: &Function) -> bool {
    function.body.last().is_some_and(|last| super::stmt::barrier(last).is_some())
        && !returns(&function.body)
}
