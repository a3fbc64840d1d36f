//! Annotations that claim: postconditions, invariants of loops and barriers, lemmas, ghost variables. Names and types are
//! those of the place where the clause stands.
//!
//! A claim that uses something that nothing follows is kept as [`Unfollowed`], so that the report says what is open; one
//! that is wrong in itself is an error.

use super::convert::{convert, kir_type, whole};
use super::{Binding, Lowerer, error, unsupported};
use crate::cfront::ast::{
    Clause, ClauseKind, Declaration, Declarator, Expr as Ast, ExprKind as AstKind, Fold as AstFold,
    Function, Quantifier as AstQuantifier, StmtKind,
};
use crate::cfront::token::Result;
use crate::kir::{
    Builtin, Claim, Expr, ExprKind, Fold, FoldOp, Lemma, Monoid, Quantifier, Stmt, Type, Unary,
    Unfollowed, VarId, When,
};
use crate::spec;
use base::{Severity, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a clause claims something of.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum About {
    End,
    Body,
}

impl Lowerer<'_> {
    /// Keeps what is not followed as open; all else that is wrong is an error.
    pub(super) fn followed<T>(&mut self, result: Result<T>, about: About) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(refusal) if refusal.severity == Severity::Unsupported => {
                self.unfollow(about, refusal.primary.span, refusal.message.to_string());
                Ok(None)
            }
            Err(refusal) => Err(refusal),
        }
    }

    pub(super) fn unfollow(&mut self, about: About, span: Span, why: String) {
        let is_postcondition = about == About::End;
        self.unfollowed.push(Unfollowed { is_postcondition, span, why });
    }

    /// `ensures` of a kernel.
    pub(super) fn ensure(&mut self, condition: &Ast, span: Span) -> Result<()> {
        let claims = self.claims(None, condition, span);
        let Some(claims) = self.followed(claims, About::End)? else { return Ok(()) };
        for claim in &claims {
            if let Some(found) = spec::find(&claim.condition, |inner| {
                matches!(inner.kind, ExprKind::Builtin(Builtin::Thread | Builtin::Block, _))
            }) {
                let message = "a postcondition is of the whole launch, not of one thread";
                return Err(error(found.span, message));
            }
        }
        self.ensures.extend(claims);
        Ok(())
    }

    /// What a condition claims, conjunct by conjunct.
    pub(super) fn claims(
        &mut self,
        name: Option<&str>,
        condition: &Ast,
        span: Span,
    ) -> Result<Vec<Claim>> {
        let before = std::mem::replace(&mut self.claiming, true);
        let mut claims = Vec::new();
        let result = self.claims_into(name, condition, span, &mut claims);
        self.claiming = before;
        result.map(|()| claims)
    }

    fn claims_into(
        &mut self,
        name: Option<&str>,
        condition: &Ast,
        span: Span,
        out: &mut Vec<Claim>,
    ) -> Result<()> {
        if let AstKind::Binary("&&", left, right) = &condition.kind {
            self.claims_into(name, left, span, out)?;
            return self.claims_into(name, right, span, out);
        }
        self.scopes.push(BTreeMap::new());
        let mut forall = Vec::new();
        let mut inner = condition;
        while let AstKind::Quantified(AstQuantifier::Forall, names, body) = &inner.kind {
            forall.extend(self.bound(names));
            inner = body;
        }
        let condition = self.spec_condition(inner);
        self.scopes.pop();
        let name = name.map(str::to_owned);
        out.push(Claim { name, forall, condition: condition?, span });
        Ok(())
    }

    fn bound(&mut self, names: &[String]) -> Vec<VarId> {
        let mut vars = Vec::new();
        for name in names {
            let var = self.new_var(name, Type::Whole);
            self.bind(name, Binding::Var(var));
            vars.push(var);
        }
        vars
    }

    pub(super) fn quantified(
        &mut self,
        quantifier: AstQuantifier,
        names: &[String],
        body: &Ast,
        span: Span,
    ) -> Result<Expr> {
        if !self.annotation {
            return Err(error(span, "this belongs into an annotation"));
        }
        self.scopes.push(BTreeMap::new());
        let vars = self.bound(names);
        let body = self.spec_condition(body);
        self.scopes.pop();
        let quantifier = match quantifier {
            AstQuantifier::Forall => Quantifier::Forall,
            AstQuantifier::Exists => Quantifier::Exists,
        };
        let kind = ExprKind::Quantified(quantifier, vars, Box::new(body?));
        Ok(Expr { kind, ty: Type::Bool, span })
    }

    pub(super) fn folded(&mut self, fold: &AstFold, span: Span) -> Result<Expr> {
        if !self.annotation {
            return Err(error(span, "this belongs into an annotation"));
        }
        let op = match fold.op.as_str() {
            "+" => FoldOp::Add,
            "*" => FoldOp::Mul,
            "max" => FoldOp::Max,
            "min" => FoldOp::Min,
            "|" => FoldOp::Or,
            "&" => FoldOp::And,
            "^" => FoldOp::Xor,
            name => match self.monoids.iter().position(|one| one.name == name) {
                Some(position) => FoldOp::Monoid(position),
                None => {
                    let message = format!("`{name}` is no monoid: no clause says that it is");
                    return Err(error(span, message));
                }
            },
        };
        let monoid = match op {
            FoldOp::Monoid(number) => self.monoids.get(number).cloned().map(Arc::new),
            _ => None,
        };
        let (low, high) = (self.spec(&fold.low)?, self.spec(&fold.high)?);
        if low.ty != Type::Whole || high.ty != Type::Whole {
            return Err(error(span, "the bounds of a fold are integers"));
        }
        self.scopes.push(BTreeMap::new());
        let var = self.new_var(&fold.var, Type::Whole);
        self.bind(&fold.var, Binding::Var(var));
        let body = self.annotated(|lowerer, out| lowerer.value(&fold.body, out));
        self.scopes.pop();
        let body = body?;
        let body = if body.ty == Type::Float { body } else { whole(body) };
        if body.ty == Type::Float && matches!(op, FoldOp::Or | FoldOp::And | FoldOp::Xor) {
            return Err(error(span, "this operator needs integers"));
        }
        let ty = body.ty;
        Ok(Expr {
            kind: ExprKind::Fold(Box::new(Fold { op, var, low, high, body, monoid })),
            ty,
            span,
        })
    }

    /// Functions that only annotations have; nothing if it is none of them.
    pub(super) fn spec_call(
        &mut self,
        name: &str,
        arguments: &[Ast],
        span: Span,
    ) -> Result<Option<Expr>> {
        if name.starts_with('\\') && !self.annotation {
            return Err(error(span, "this belongs into an annotation"));
        }
        let make = |kind, ty| Ok(Some(Expr { kind, ty, span }));
        match (name, arguments) {
            ("\\is_pow2" | "__is_pow2" | "\\pow2" | "\\lowbit", [inner]) if self.annotation => {
                let inner = Box::new(self.spec(inner)?);
                match name {
                    "\\pow2" => make(ExprKind::Unary(Unary::Pow2, inner), Type::Whole),
                    "\\lowbit" => make(ExprKind::Unary(Unary::LowBit, inner), Type::Whole),
                    _ => make(ExprKind::Unary(Unary::IsPow2, inner), Type::Bool),
                }
            }
            ("\\old", [inner]) => self.looked_at(When::Before, inner).map(Some),
            ("\\at", [inner, label]) => {
                let when = self.label(label)?;
                self.looked_at(when, inner).map(Some)
            }
            ("\\other" | "__other_int" | "__other_bool", [inner]) if !self.in_pair => {
                Err(error(inner.span, "there is another thread in clauses of barriers alone"))
            }
            ("\\other" | "__other_int" | "__other_bool", [inner]) => {
                // Another thread's other thread would be a third one.
                self.in_pair = false;
                let inner = self.annotated(|lowerer, out| lowerer.value(inner, out));
                self.in_pair = true;
                let inner = inner?;
                let ty = inner.ty;
                make(ExprKind::Other(Box::new(inner)), ty)
            }
            _ if self.annotation => self.definition(name, arguments, span),
            _ => Ok(None),
        }
    }

    /// The moment that a label names.
    fn label(&self, label: &Ast) -> Result<When> {
        let AstKind::Name(name) = &label.kind else {
            return Err(error(label.span, "the second argument of `\\at` is a label"));
        };
        match name.as_str() {
            "Pre" | "Old" => Ok(When::Before),
            "Here" => Ok(When::Here),
            "LoopEntry" if self.of_loop => Ok(When::LoopEntry),
            "LoopEntry" => {
                Err(error(label.span, "`LoopEntry` belongs into an invariant of a loop"))
            }
            _ => {
                let labels = "of labels only `Pre`, `Here` and `LoopEntry` are supported";
                Err(unsupported(label.span, labels))
            }
        }
    }

    /// A value at a moment.
    fn looked_at(&mut self, when: When, inner: &Ast) -> Result<Expr> {
        let outer = std::mem::replace(&mut self.when, when);
        let value = self.annotated(|lowerer, out| lowerer.value(inner, out));
        self.when = outer;
        value
    }

    /// A predicate, or a function that only computes with real numbers, in the place of its call.
    fn definition(&mut self, name: &str, arguments: &[Ast], span: Span) -> Result<Option<Expr>> {
        let unit = self.unit;
        if let Some(predicate) = unit.predicates.iter().find(|one| one.name == name) {
            let parts = (&predicate.parameters[..], &predicate.body);
            let value = self.substituted(name, parts, arguments, span)?;
            return Ok(Some(super::convert::truth(value)));
        }
        let function = unit.functions.iter().find(|one| one.name == name && !one.is_kernel);
        let Some(function) = function.filter(|one| is_real(one)) else { return Ok(None) };
        let [last] = &function.body[..] else { return Ok(None) };
        let StmtKind::Return(Some(body)) = &last.kind else { return Ok(None) };
        let value = self.substituted(name, (&function.parameters, body), arguments, span)?;
        Ok(Some(convert(value, kir_type(function.returns.scalar).unwrap_or(Type::Float))))
    }

    pub(super) fn substituted(
        &mut self,
        name: &str,
        (parameters, body): (&[Declarator], &Ast),
        arguments: &[Ast],
        span: Span,
    ) -> Result<Expr> {
        if self.calls.iter().any(|one| one == name) {
            return Err(unsupported(span, format!("recursion in `{name}` is not supported")));
        }
        if parameters.len() != arguments.len() {
            return Err(error(span, format!("`{name}` takes other arguments")));
        }
        let mut scope = BTreeMap::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let binding = match (parameter.ty.pointers, kir_type(parameter.ty.scalar)) {
                (0, Some(Type::Float)) => {
                    let value = self.annotated(|lowerer, out| lowerer.value(argument, out))?;
                    Binding::Value(convert(value, Type::Float))
                }
                (0, Some(Type::Bool)) => Binding::Value(self.spec_condition(argument)?),
                (0, Some(_)) => Binding::Value(self.spec(argument)?),
                (1, Some(_)) => match &argument.kind {
                    AstKind::Name(array) => match self.lookup(array).cloned() {
                        Some(found @ (Binding::Pointer(..) | Binding::Array(_))) => found,
                        _ => return Err(error(argument.span, "an array is wanted here")),
                    },
                    _ => return Err(unsupported(argument.span, "an array is wanted here")),
                },
                _ => return Err(unsupported(parameter.span, "this parameter is not supported")),
            };
            scope.insert(parameter.name.clone(), binding);
        }
        let outer = std::mem::take(&mut self.scopes);
        self.scopes = outer.iter().take(1).cloned().collect();
        self.scopes.push(scope);
        self.calls.push(name.to_owned());
        let value = self.annotated(|lowerer, out| lowerer.value(body, out));
        self.calls.pop();
        self.scopes = outer;
        value
    }
}

impl Lowerer<'_> {
    /// Lemmas and monoids of the file.
    pub(super) fn definitions(&mut self) -> Result<()> {
        let unit = self.unit;
        for monoid in &unit.monoids {
            let function = unit.functions.iter().find(|one| one.name == monoid.function);
            let Some(function) = function.filter(|one| !one.is_kernel) else {
                let message = format!("there is no `__device__` function `{}`", monoid.function);
                return Err(error(monoid.span, message));
            };
            let lowered = self.monoid(monoid, function);
            let lowered = self.followed(lowered, About::Body)?;
            self.monoids.extend(lowered);
        }
        for lemma in &unit.lemmas {
            self.scopes.push(BTreeMap::new());
            let names: Vec<String> = lemma.parameters.iter().map(|one| one.name.clone()).collect();
            let forall = self.bound(&names);
            let condition = self.spec_condition(&lemma.body);
            self.scopes.pop();
            let Some(condition) = self.followed(condition, About::Body)? else { continue };
            let induction = match &lemma.induction {
                None => None,
                Some(over) => match names.iter().position(|name| name == over) {
                    Some(position) => Some(forall[position]),
                    None => {
                        let message = format!("the lemma has no parameter `{over}`");
                        return Err(error(lemma.span, message));
                    }
                },
            };
            let (name, span) = (lemma.name.clone(), lemma.span);
            self.lemmas.push(Lemma { name, forall, induction, condition, span });
        }
        Ok(())
    }

    fn monoid(
        &mut self,
        monoid: &crate::cfront::ast::Monoid,
        function: &Function,
    ) -> Result<Monoid> {
        if matches!(function.name.as_str(), "max" | "min") {
            return Err(error(monoid.span, "this name stands for an operation of its own"));
        }
        let message = "only functions that return an expression of two values are monoids";
        let ([one, two], [last]) = (&function.parameters[..], &function.body[..]) else {
            return Err(unsupported(monoid.span, message));
        };
        let (StmtKind::Return(Some(body)), Some(ty)) =
            (&last.kind, kir_type(function.returns.scalar))
        else {
            return Err(unsupported(monoid.span, message));
        };
        let fits = |one: &Declarator| {
            one.ty.pointers == 0 && !one.ty.reference && kir_type(one.ty.scalar) == Some(ty)
        };
        if !fits(one) || !fits(two) {
            return Err(unsupported(monoid.span, message));
        }
        self.scopes.push(BTreeMap::new());
        let parameters = [one, two].map(|one| {
            let var = self.new_var(&one.name, ty);
            self.bind(&one.name, Binding::Var(var));
            var
        });
        let mut effects = Vec::new();
        let result = self.value(body, &mut effects);
        self.scopes.pop();
        let result = convert(result?, ty);
        if !effects.is_empty() {
            return Err(unsupported(monoid.span, message));
        }
        let unit = self.annotated(|lowerer, out| lowerer.value(&monoid.unit, out))?;
        let unit = convert(unit, ty);
        let (name, commutative, span) = (function.name.clone(), monoid.commutative, monoid.span);
        Ok(Monoid { name, parameters, result, unit, commutative, span })
    }

    /// A clause that stands before a barrier: what is claimed of integers is asserted there.
    pub(super) fn at_barrier(&mut self, clauses: &[&Clause], out: &mut Vec<Stmt>) -> Result<()> {
        let mut kept = std::mem::take(&mut self.pending);
        for clause in clauses {
            let ClauseKind::BarrierInvariant(name, condition) = &clause.kind else { continue };
            kept.extend(self.claimed(name.as_deref(), condition, clause.span)?);
        }
        let (asserted, kept): (Vec<Claim>, Vec<Claim>) = kept
            .into_iter()
            .partition(|one| one.forall.is_empty() && spec::is_scalar(&one.condition));
        out.extend(asserted.into_iter().map(|one| Stmt::Assert(one.condition)));
        if !kept.is_empty() {
            out.push(Stmt::Claims(kept));
        }
        Ok(())
    }

    /// What a clause of a barrier claims.
    fn claimed(&mut self, name: Option<&str>, condition: &Ast, span: Span) -> Result<Vec<Claim>> {
        self.in_pair = true;
        let claims = self.claims(name, condition, span);
        self.in_pair = false;
        Ok(self.followed(claims, About::Body)?.unwrap_or_default())
    }

    /// `__barrier_invariant_k(P, e1, …)`: the places at which another tool is told to use it are not needed.
    pub(super) fn claim_at_next_barrier(&mut self, condition: &Ast, span: Span) -> Result<()> {
        let claims = self.claimed(None, condition, span)?;
        self.pending.extend(claims);
        Ok(())
    }

    /// `assert` and `assume`; what is not about integer variables alone is not followed.
    pub(super) fn stated(&mut self, condition: &Ast, span: Span) -> Result<Vec<Expr>> {
        let claims = self.claims(None, condition, span);
        let mut stated = Vec::new();
        for claim in self.followed(claims, About::Body)?.into_iter().flatten() {
            match claim.forall.is_empty() && spec::is_scalar(&claim.condition) {
                true => stated.push(claim.condition),
                false => {
                    let why = "claims of elements in the middle of a kernel are not followed";
                    self.unfollow(About::Body, claim.span, why.to_owned());
                }
            }
        }
        Ok(stated)
    }

    /// `ghost int x = e;`: a variable that only annotations see; integers have no bounds.
    pub(super) fn ghost_var(
        &mut self,
        declaration: &Declaration,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        for one in &declaration.declarators {
            let plain = !declaration.shared && one.dimensions.is_empty() && one.ty.pointers == 0;
            let Some(ty) = kir_type(one.ty.scalar).filter(|_| plain && !one.ty.reference) else {
                return Err(unsupported(span, "ghost variables are scalars"));
            };
            let ty = if matches!(ty, Type::Int { .. }) { Type::Whole } else { ty };
            let value = match &one.init {
                Some(init) => Some(self.annotated(|lowerer, out| lowerer.value(init, out))?),
                None => None,
            };
            let var = self.new_var(&one.name, ty);
            if let Some(value) = value {
                out.push(Stmt::Assign(var, convert(value, ty)));
            }
            self.bind(&one.name, Binding::Ghost(var));
        }
        Ok(())
    }

    /// `ghost x = e;`.
    pub(super) fn ghost_assign(
        &mut self,
        target: &Ast,
        value: &Ast,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let known = match &target.kind {
            AstKind::Name(name) => self.lookup(name).cloned(),
            _ => None,
        };
        let Some(Binding::Ghost(var)) = known else {
            return Err(error(target.span, "only ghost variables are assigned in annotations"));
        };
        let value = self.annotated(|lowerer, out| lowerer.value(value, out))?;
        out.push(Stmt::Assign(var, convert(value, self.vars[var].ty)));
        Ok(())
    }
}

/// Whether a function computes with real numbers and truth values alone.
fn is_real(function: &Function) -> bool {
    let real = |scalar| matches!(kir_type(scalar), Some(Type::Float | Type::Bool));
    let plain = function
        .parameters
        .iter()
        .all(|one| real(one.ty.scalar) && one.ty.pointers == 0 && !one.ty.reference);
    plain && real(function.returns.scalar) && function.returns.pointers == 0
}
