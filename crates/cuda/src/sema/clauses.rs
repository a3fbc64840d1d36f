//! Clauses of annotations, at their places.
//!
//! A claim with an unsupported part is kept as unsupported, so that the report names it as open. Preconditions of a
//! kernel must be read completely.

use super::analyser::{Analyser, Body, BodyState, SpecContext};
use super::scope::Entity;
use super::types::QType;
use crate::syntax::ast::{self, ClauseKind as Ast, ExprKind};
use crate::tree::{
    Clause, ClauseKind, Expr, Function, FunctionId, Lemma, LocalId, Monoid, Predicate, Special,
    Symbol, Type,
};
use crate::{Result, error, name_error, unsupported};
use base::{Index, Severity, Span};

impl<'a> Analyser<'a> {
    /// The contract of a function, with parameters in scope. Sizes of arrays in its body are read later.
    pub(super) fn function_clauses(&mut self, clauses: &'a [ast::Clause]) -> Result<Vec<Clause>> {
        let mut made = Vec::new();
        for clause in clauses {
            match &clause.kind {
                Ast::Requires(_)
                | Ast::Ensures(_)
                | Ast::Footprint(..)
                | Ast::Alias(_)
                | Ast::Assume(_) => made.push(self.clause(clause)?),
                Ast::Extent(..) | Ast::Instantiate => {}
                _ => {
                    let message = "this clause does not belong before a function";
                    return Err(error(clause.span, message));
                }
            }
        }
        Ok(made)
    }

    /// `extent` clauses of a function, read after its body: they may name its shared arrays.
    pub(super) fn extents(&mut self, clauses: &'a [ast::Clause]) -> Result<Vec<Clause>> {
        let mut made = Vec::new();
        for clause in clauses {
            let Ast::Extent(array, size) = &clause.kind else { continue };
            let size = self.in_spec(SpecContext::default(), |one| one.spec_whole(size))?;
            let array = self.in_spec(SpecContext::default(), |one| one.extent_array(array))?;
            let kind = ClauseKind::Extent(array, size);
            made.push(Clause { kind, span: clause.span });
        }
        Ok(made)
    }

    /// The array of an `extent`: a name in scope, or a shared array of the body.
    fn extent_array(&mut self, array: &'a ast::Expr) -> Result<Expr> {
        if let ExprKind::Name(name) = &array.kind
            && let [part] = &name.parts[..]
            && self.lookup(&part.name.text).1.is_empty()
        {
            let word: &str = &part.name.text;
            let found: Vec<LocalId> = self
                .body
                .locals
                .enumerate()
                .filter(|(_, one)| {
                    one.name == word && matches!(one.ty, Type::Array(..) | Type::Pointer(_))
                })
                .map(|(id, _)| id)
                .collect();
            return match &found[..] {
                [only] => Ok(self.local_operand(*only, array.span)?.expr),
                [] => self.array_of_callee(word, array.span),
                _ => Err(unsupported(array.span, format!("several arrays are called `{word}`"))),
            };
        }
        let operand = self.spec_place(array)?;
        match operand.ty {
            Type::Pointer(_) | Type::Array(..) => Ok(operand),
            _ => Err(error(array.span, "expected an array")),
        }
    }

    /// Dynamic shared memory named by a called function. All of it begins at one address, so the kernel gets its own
    /// name for it.
    fn array_of_callee(&mut self, word: &str, span: Span) -> Result<Expr> {
        let mut todo: Vec<FunctionId> = self.body.function.into_iter().collect();
        let mut seen = Vec::new();
        let mut found = None;
        while let Some(next) = todo.pop() {
            if seen.contains(&next) {
                continue;
            }
            seen.push(next);
            self.with_instance_limit(span, |one| {
                one.read_now(next);
                Ok(())
            })?;
            todo.extend(self.callees.get(next.position()).into_iter().flatten());
            let locals = self.program.functions.get(next).map(|one| &one.locals);
            let named = locals
                .into_iter()
                .flat_map(|all| all.iter())
                .find(|one| one.name == word && one.storage == crate::tree::Storage::DynamicShared);
            found = found.or(named.cloned());
        }
        let Some(local) = found else {
            return Err(name_error(span, format!("there is no array `{word}`")));
        };
        let id = self.body.locals.push(local);
        self.body.declared.push(id);
        Ok(self.local_operand(id, span)?.expr)
    }

    /// A place named by a clause.
    fn spec_place(&mut self, expr: &'a ast::Expr) -> Result<Expr> {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Member { .. } | ExprKind::Index(..) => {
                Ok(self.spec_operand(expr)?.expr)
            }
            _ => Err(error(expr.span, "expected the name of an array")),
        }
    }

    /// Clauses between statements.
    pub(super) fn body_clauses(&mut self, clauses: &[&'a ast::Clause]) -> Result<Vec<Clause>> {
        let mut made = Vec::new();
        for clause in clauses {
            match &clause.kind {
                Ast::Requires(_) | Ast::Ensures(_) | Ast::Footprint(..) | Ast::Alias(_) => {
                    return Err(error(clause.span, "this clause belongs before a function"));
                }
                Ast::Extent(..) => {
                    made.extend(self.extents(std::slice::from_ref(*clause))?);
                }
                Ast::Predicate(..) | Ast::Lemma { .. } | Ast::Monoid { .. } | Ast::Symbolic(_) => {
                    return Err(error(clause.span, "this clause belongs outside functions"));
                }
                _ => made.push(self.clause(clause)?),
            }
        }
        Ok(made)
    }

    /// Invariants and variants of a loop, with its variables in scope.
    pub(super) fn loop_clauses(&mut self, clauses: &[&'a ast::Clause]) -> Result<Vec<Clause>> {
        let mut made = Vec::new();
        for clause in clauses {
            made.push(self.clause(clause)?);
        }
        Ok(made)
    }

    fn clause(&mut self, clause: &'a ast::Clause) -> Result<Clause> {
        let span = clause.span;
        let is_postcondition = matches!(clause.kind, Ast::Ensures(_) | Ast::Footprint(..));
        let claims = !matches!(clause.kind, Ast::Requires(_) | Ast::Extent(..) | Ast::Alias(_));
        match self.clause_kind(clause) {
            Ok(kind) => Ok(Clause { kind, span }),
            Err(why) if why.severity == Severity::Unsupported && claims => {
                let why = why.message.to_string();
                Ok(Clause { kind: ClauseKind::Unfollowed { is_postcondition, why }, span })
            }
            Err(why) => Err(why),
        }
    }

    fn clause_kind(&mut self, clause: &'a ast::Clause) -> Result<ClauseKind> {
        let plain = SpecContext::default();
        let in_loop_clause = SpecContext { in_loop_clause: true, ..SpecContext::default() };
        let pair = SpecContext { may_name_other: true, ..SpecContext::default() };
        let text = |name: &Option<ast::Name>| name.as_ref().map(|one| one.text.to_string());
        Ok(match &clause.kind {
            Ast::Requires(condition) => {
                ClauseKind::Requires(self.in_spec(plain, |one| one.spec_condition(condition))?)
            }
            Ast::Ensures(condition) => {
                let context = SpecContext { has_result: true, ..plain };
                let made = self.in_spec(context, |one| one.spec_condition(condition))?;
                self.check_postcondition(&made)?;
                ClauseKind::Ensures(made)
            }
            Ast::Assert(condition) => {
                ClauseKind::Assert(self.in_spec(plain, |one| one.spec_condition(condition))?)
            }
            Ast::Assume(condition) => {
                ClauseKind::Assume(self.in_spec(plain, |one| one.spec_condition(condition))?)
            }
            Ast::LoopInvariant(name, condition) => {
                let (name, condition) = self.named_invariant(name.as_ref(), condition);
                let made = self.in_spec(in_loop_clause, |one| one.spec_condition(condition))?;
                ClauseKind::LoopInvariant(name, made)
            }
            Ast::LoopVariant(measure) => ClauseKind::LoopVariant(
                self.in_spec(in_loop_clause, |one| one.spec_whole(measure))?,
            ),
            Ast::BarrierInvariant(name, condition) => {
                let made = self.in_spec(pair, |one| one.spec_condition(condition))?;
                ClauseKind::BarrierInvariant(text(name), made)
            }
            Ast::Instantiate => ClauseKind::Instantiate,
            Ast::Footprint(writes, range) => self.footprint(*writes, range)?,
            Ast::GhostDeclare(declarator) => self.ghost_declare(declarator)?,
            Ast::GhostAssign(name, from) => self.ghost_assign(name, from)?,
            Ast::Use(name, arguments) => self.use_lemma(name, arguments, clause.span)?,
            Ast::Alias(arrays) => {
                let mut made = Vec::new();
                for array in arrays {
                    made.push(self.in_spec(SpecContext::default(), |one| one.spec_place(array))?);
                }
                ClauseKind::Alias(made)
            }
            Ast::Extent(..)
            | Ast::Predicate(..)
            | Ast::Lemma { .. }
            | Ast::Monoid { .. }
            | Ast::Symbolic(_) => {
                return Err(error(clause.span, "this clause does not belong here"));
            }
        })
    }

    /// Stores a named invariant; its name alone repeats it, with the variables of the new place.
    fn named_invariant(
        &mut self,
        name: Option<&'a ast::Name>,
        condition: &'a ast::Expr,
    ) -> (Option<String>, &'a ast::Expr) {
        if let Some(name) = name {
            self.body.named_invariants.insert(name.text.clone(), condition);
            return (Some(name.text.to_string()), condition);
        }
        if let ExprKind::Name(word) = &condition.kind
            && let [part] = &word.parts[..]
            && self.lookup(&part.name.text).1.is_empty()
            && let Some(known) = self.body.named_invariants.get(&part.name.text)
        {
            return (Some(part.name.text.to_string()), known);
        }
        (None, condition)
    }

    /// Checks that a kernel's postcondition is about the launch, not about a thread.
    fn check_postcondition(&self, made: &Expr) -> Result<()> {
        if !self.body.is_kernel {
            return Ok(());
        }
        let mut found = None;
        made.walk(&mut |inner| {
            if let crate::tree::ExprKind::Special(Special::ThreadIdx | Special::BlockIdx, _) =
                inner.kind
            {
                found.get_or_insert(inner.span);
            }
        });
        match found {
            Some(span) => {
                Err(error(span, "a postcondition is about the whole launch, not about one thread"))
            }
            None => Ok(()),
        }
    }

    fn footprint(&mut self, writes: bool, range: &'a ast::Expr) -> Result<ClauseKind> {
        let ExprKind::Index(array, index) = &range.kind else {
            return Err(error(range.span, "expected elements of an array"));
        };
        let plain = SpecContext::default;
        let (low, high) = match &index.kind {
            ExprKind::Range(low, high) => (low.as_ref(), high.as_ref()),
            _ => (index.as_ref(), index.as_ref()),
        };
        let array = self.in_spec(plain(), |one| one.spec_place(array))?;
        let low = self.in_spec(plain(), |one| one.spec_whole(low))?;
        let high = self.in_spec(plain(), |one| one.spec_whole(high))?;
        Ok(ClauseKind::Footprint { writes, array, low, high })
    }

    fn ghost_declare(&mut self, declarator: &'a ast::Declarator) -> Result<ClauseKind> {
        let Some(part) = declarator.name.parts.last() else {
            return Err(error(declarator.ty.span, "a name is missing here"));
        };
        let ty = self.resolve_type(&declarator.ty)?;
        let ty = match (ghost_type(&ty), &ty.ty) {
            (Some(ty), _) if ty != Type::Void => ty,
            _ => {
                // Declare it in spite of the error, so that its uses give no further errors.
                self.declare_ghost(&part.name, Type::Whole);
                let message = "a ghost variable is an `int`, a wider integer or a real number";
                return Err(unsupported(declarator.ty.span, message));
            }
        };
        let init = match &declarator.init {
            None => None,
            Some(ast::Initialiser::Copy(from)) => {
                Some(self.in_spec(SpecContext::default(), |one| one.ghost_value(from, &ty))?)
            }
            Some(_) => {
                return Err(unsupported(
                    part.name.span,
                    "a ghost variable must be initialised with `=`",
                ));
            }
        };
        let local = self.declare_ghost(&part.name, ty);
        Ok(ClauseKind::GhostDeclare(local, init))
    }

    fn ghost_value(&mut self, from: &'a ast::Expr, ty: &Type) -> Result<Expr> {
        let made =
            self.spec_arguments(std::slice::from_ref(ty), std::slice::from_ref(from), from.span)?;
        made.into_iter().next().ok_or_else(|| error(from.span, "expected a value"))
    }

    fn ghost_assign(&mut self, name: &'a ast::Name, from: &'a ast::Expr) -> Result<ClauseKind> {
        let found = self.lookup(&name.text).1;
        let local = found.iter().find_map(|one| match one {
            Entity::Local(id) => self
                .body
                .locals
                .get(*id)
                .filter(|one| one.is_ghost)
                .map(|one| (*id, one.ty.clone())),
            _ => None,
        });
        let Some((local, ty)) = local else {
            return Err(error(name.span, "annotations can assign only to ghost variables"));
        };
        let made = self.in_spec(SpecContext::default(), |one| one.ghost_value(from, &ty))?;
        Ok(ClauseKind::GhostAssign(local, made))
    }

    fn use_lemma(
        &mut self,
        name: &'a ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<ClauseKind> {
        let Some(position) = self.lemmas.get(&name.text).copied() else {
            return Err(error(name.span, format!("there is no lemma `{}`", name.text)));
        };
        let Some(lemma) = self.program.lemmas.get(position) else {
            return Err(error(name.span, "this lemma does not exist"));
        };
        let scope = lemma.scope;
        let types: Vec<Type> = lemma
            .parameters
            .iter()
            .filter_map(|one| self.program.functions.get(scope)?.locals.get(*one))
            .map(|one| one.ty.clone())
            .collect();
        let made = self
            .in_spec(SpecContext::default(), |one| one.spec_arguments(&types, arguments, span))?;
        Ok(ClauseKind::Use(position, made))
    }

    /// Clauses outside of functions.
    pub(super) fn file_clauses(&mut self, clauses: &'a [ast::Clause]) -> Result<()> {
        for clause in clauses {
            let span = clause.span;
            match &clause.kind {
                Ast::Predicate(name, parameters, body) => {
                    let (scope, locals, body) = self.definition_body(name, parameters, body)?;
                    let position = self.program.predicates.len();
                    self.predicates.insert(name.text.clone(), position);
                    let name = name.text.to_string();
                    let parameters = locals;
                    self.program.predicates.push(Predicate { name, scope, parameters, body, span });
                }
                Ast::Lemma { name, parameters, induction, body } => {
                    let (scope, locals, body) = self.definition_body(name, parameters, body)?;
                    let induction = match induction {
                        None => None,
                        Some(over) => {
                            let at = parameters.iter().position(|one| one.name.text == over.text);
                            let local = at.and_then(|at| locals.get(at)).copied();
                            let message = format!("the lemma has no parameter `{}`", over.text);
                            Some(local.ok_or_else(|| error(over.span, message))?)
                        }
                    };
                    let position = self.program.lemmas.len();
                    self.lemmas.insert(name.text.clone(), position);
                    let name = name.text.to_string();
                    let parameters = locals;
                    self.program.lemmas.push(Lemma {
                        name,
                        scope,
                        parameters,
                        induction,
                        body,
                        span,
                    });
                }
                Ast::Monoid { function, .. } => {
                    self.monoid_names.push(function.text.clone());
                    self.monoids.push((clause, self.order));
                }
                Ast::Symbolic(names) => {
                    for name in names {
                        let symbol = self.program.symbols.push(Symbol {
                            name: name.text.to_string(),
                            ty: super::types::INT,
                            span: name.span,
                            of_template: false,
                        });
                        self.enter(self.global, &name.text, Entity::Symbol(symbol));
                    }
                }
                Ast::Assume(_) => self.axioms.push((clause, self.order)),
                Ast::Instantiate => {}
                _ => return Err(error(span, "this clause belongs before or inside a function")),
            }
        }
        Ok(())
    }

    /// A predicate or lemma: a function of its own with its variables, and its body.
    fn definition_body(
        &mut self,
        name: &'a ast::Name,
        parameters: &'a [ast::Parameter],
        body: &'a ast::Expr,
    ) -> Result<(FunctionId, Vec<LocalId>, Expr)> {
        let outer = std::mem::replace(&mut self.body, Body::new());
        let result = self.in_scope(super::scope::ScopeKind::Block, |one| {
            let mut locals = Vec::new();
            for parameter in parameters {
                let ty = one.resolve_type(&parameter.ty)?;
                let Some(ty) = ghost_type(&ty) else {
                    return Err(unsupported(
                        parameter.ty.span,
                        "a parameter of a predicate or lemma is an `int`, a wider integer, a real number or a pointer",
                    ));
                };
                locals.push(one.declare_ghost(&parameter.name, ty));
            }
            let body = one.in_spec(SpecContext::default(), |one| one.spec_condition(body))?;
            Ok((locals, body))
        });
        let variables = std::mem::replace(&mut self.body, outer).locals;
        let (locals, body) = result?;
        let scope = self.program.functions.push(Function {
            name: name.text.to_string(),
            span: name.span,
            is_kernel: false,
            returns: Type::Bool,
            returns_reference: false,
            parameters: locals.clone(),
            locals: variables,
            clauses: Vec::new(),
            body: Vec::new(),
            namespace: String::new(),
            arguments: Vec::new(),
            max_threads: None,
        });
        self.result_types.push(Some(QType::plain(Type::Bool)));
        self.bodies.push(BodyState::Read);
        self.callees.push(Vec::new());
        Ok((scope, locals, body))
    }

    /// Reads `monoid` clauses after all functions are known.
    pub(super) fn read_monoids(&mut self) -> Result<()> {
        for (clause, _) in self.monoids.clone() {
            let Ast::Monoid { function, unit, is_commutative } = &clause.kind else { continue };
            let found = self.names_in(self.global, &function.text);
            let mut functions = found.iter().filter_map(|one| match one {
                Entity::Function(decl) => Some(*decl),
                _ => None,
            });
            let (Some(decl), None) = (functions.next(), functions.next()) else {
                let message =
                    format!("there is no single `__device__` function `{}`", function.text);
                return Err(error(function.span, message));
            };
            let unit = self.in_spec(SpecContext::default(), |one| one.spec(unit))?;
            let id = self.function_of(decl, None, function.span)?;
            let is_commutative = *is_commutative;
            self.program.monoids.push(Monoid {
                function: id,
                unit,
                is_commutative,
                span: clause.span,
            });
        }
        Ok(())
    }
}

/// The type of an annotation's parameter: numbers have no bounds, arrays are pointers.
fn ghost_type(ty: &QType) -> Option<Type> {
    match &ty.ty {
        _ if ty.is_reference() => None,
        // Integers of annotations are unbounded; a bounded type would wrap.
        Type::Int(int) if int.is_signed() && int.bits() >= 32 => Some(Type::Whole),
        Type::Float(_) => Some(Type::Real),
        Type::Bool => Some(Type::Bool),
        Type::Pointer(_) => Some(ty.ty.clone()),
        Type::Array(element, _) => {
            Some(super::types::pointer(element.as_ref().clone(), ty.is_const, ty.is_volatile))
        }
        _ => None,
    }
}
