//! Annotations with claims: postconditions, invariants of loops and barriers, lemmas, monoids, ghost variables.
//!
//! A claim with an unsupported part is kept as [`Unfollowed`], so that the report lists it as open; a claim that is
//! wrong in itself is an error.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Place, Spot};
use super::types::{annotation_type, convert};
use base::{Severity, Span};
use cuda::tree::{
    self, Clause, ClauseKind, ExprKind as Kind, LocalId, Quantifier, SpecExpr, StmtKind,
};
use kir::spec;
use kir::{Builtin, Claim, Expr, ExprKind, Lemma, Monoid, Stmt, Type, Unfollowed, VarId};

/// The moment that a claim is about: the end of the launch, or a point in the kernel's body.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum About {
    End,
    Body,
}

pub(super) fn about(is_postcondition: bool) -> About {
    if is_postcondition { About::End } else { About::Body }
}

impl Lowerer<'_> {
    /// Returns the value. An unsupported clause is left open instead, with `None`; any other failure is an error.
    pub(super) fn supported_or_open<T>(
        &mut self,
        result: Result<T>,
        about: About,
    ) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(refusal) if refusal.severity == Severity::Unsupported => {
                self.leave_open(about, refusal.primary.span, refusal.message.to_string());
                Ok(None)
            }
            Err(refusal) => Err(refusal),
        }
    }

    pub(super) fn leave_open(&mut self, about: About, span: Span, why: String) {
        let is_postcondition = about == About::End;
        self.unfollowed.push(Unfollowed { is_postcondition, span, why });
    }

    /// `ensures` of a kernel.
    pub(super) fn postcondition(&mut self, condition: &tree::Expr, span: Span) -> Result<()> {
        let claims = self.claims(None, condition, span);
        let Some(claims) = self.supported_or_open(claims, About::End)? else { return Ok(()) };
        for claim in &claims {
            if let Some(found) = spec::find(&claim.condition, |inner| {
                matches!(inner.kind, ExprKind::Builtin(Builtin::Thread | Builtin::Block, _))
            }) {
                let message = "a postcondition is about the whole launch, not about one thread";
                return Err(error(found.span, message));
            }
        }
        self.ensures.extend(claims);
        Ok(())
    }

    /// Splits a condition into claims, one for each conjunct.
    pub(super) fn claims(
        &mut self,
        name: Option<&str>,
        condition: &tree::Expr,
        span: Span,
    ) -> Result<Vec<Claim>> {
        let before = std::mem::replace(&mut self.in_claim, true);
        let mut claims = Vec::new();
        let result = self.claims_into(name, condition, span, &mut claims);
        self.in_claim = before;
        result.map(|()| claims)
    }

    fn claims_into(
        &mut self,
        name: Option<&str>,
        condition: &tree::Expr,
        span: Span,
        out: &mut Vec<Claim>,
    ) -> Result<()> {
        if let Kind::And(left, right) = &condition.kind {
            self.claims_into(name, left, span, out)?;
            return self.claims_into(name, right, span, out);
        }
        let mut forall = Vec::new();
        let mut inner = condition;
        while let Kind::Spec(spec) = &inner.kind
            && let SpecExpr::Quantified(Quantifier::Forall, names, body) = &**spec
        {
            forall.extend(self.bind_quantified(names));
            inner = body;
        }
        let condition = self.annotation_condition(inner)?;
        let name = name.map(str::to_owned);
        out.push(Claim { name, forall, condition, span });
        Ok(())
    }

    /// Binds variables of a quantifier or fold.
    pub(super) fn bind_quantified(&mut self, names: &[LocalId]) -> Vec<VarId> {
        let mut vars = Vec::new();
        for id in names {
            let local = self.frames.last().and_then(|frame| frame.function.locals.get(*id));
            let name = local.map(|local| local.name.clone()).unwrap_or_default();
            let var = self.new_var(&name, Type::Whole);
            self.bind(*id, Place::new(&tree::Type::Whole, vec![Spot::Var(var)]));
            vars.push(var);
        }
        vars
    }

    /// Lemmas and monoids of the file.
    pub(super) fn lemmas_and_monoids(&mut self) -> Result<()> {
        let program = self.program;
        for monoid in &program.monoids {
            let lowered = self.monoid(monoid);
            if let Some(lowered) = self.supported_or_open(lowered, About::Body)? {
                self.monoids.push((monoid.function, lowered));
            }
        }
        for lemma in &program.lemmas {
            let scope = self.function(lemma.scope, lemma.span)?;
            self.push_frame(lemma.scope, &scope, None);
            let forall = self.bind_quantified(&lemma.parameters);
            let condition = self.annotation_condition(&lemma.body);
            self.frames.pop();
            let Some(condition) = self.supported_or_open(condition, About::Body)? else { continue };
            let over = lemma
                .induction
                .and_then(|over| lemma.parameters.iter().position(|parameter| *parameter == over));
            let induction = over.and_then(|over| forall.get(over).copied());
            let (name, span) = (lemma.name.clone(), lemma.span);
            self.lemmas.push(Lemma { name, forall, induction, condition, span });
        }
        Ok(())
    }

    fn monoid(&mut self, monoid: &tree::Monoid) -> Result<Monoid> {
        let function = self.function(monoid.function, monoid.span)?;
        if matches!(function.name.as_str(), "max" | "min") {
            return Err(error(monoid.span, "this name is already that of a built-in operation"));
        }
        // Monoids are identified by name, and overloads share one.
        if self.monoids.iter().any(|(_, one)| one.name == function.name) {
            return Err(unsupported(monoid.span, "a second monoid of this name is not supported"));
        }
        let message = "a monoid is a function of two values that returns one expression";
        let refused = || unsupported(monoid.span, message);
        let ([one, two], [last]) = (&function.parameters[..], &function.body[..]) else {
            return Err(refused());
        };
        let StmtKind::Return(Some(body)) = &last.kind else { return Err(refused()) };
        let Some(ty) = self.scalar(&function.returns).filter(|_| !function.returns_reference)
        else {
            return Err(refused());
        };
        let fits = |id: &LocalId| {
            let local = function.locals.get(*id);
            local.is_some_and(|one| !one.is_reference && self.scalar(&one.ty) == Some(ty))
        };
        if !fits(one) || !fits(two) {
            return Err(refused());
        }
        self.push_frame(monoid.function, &function, None);
        let parameters = [*one, *two].map(|id| {
            let local = function.locals.get(id);
            let name = local.map(|local| local.name.clone()).unwrap_or_default();
            let var = self.new_var(&name, ty);
            self.bind(id, Place::new(&function.returns, vec![Spot::Var(var)]));
            var
        });
        let mut effects = Vec::new();
        let result = self.number(body, &mut effects);
        self.frames.pop();
        let result = convert(result?, ty);
        if !effects.is_empty() {
            return Err(refused());
        }
        let unit = self.lower_annotation(|lowerer, out| lowerer.number(&monoid.unit, out))?;
        let unit = convert(unit, ty);
        let (name, commutative) = (function.name.clone(), monoid.is_commutative);
        Ok(Monoid { name, parameters, result, unit, commutative, span: monoid.span })
    }

    /// A clause before a barrier: its claims about integers are asserted there.
    pub(super) fn at_barrier(&mut self, clauses: &[&Clause], out: &mut Vec<Stmt>) -> Result<()> {
        let mut kept = std::mem::take(&mut self.pending);
        for clause in clauses {
            match &clause.kind {
                ClauseKind::BarrierInvariant(name, condition) => {
                    kept.extend(self.barrier_claims(name.as_deref(), condition, clause.span)?);
                }
                ClauseKind::Instantiate => {}
                _ => return Err(error(clause.span, "this loop clause is not followed by a loop")),
            }
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

    /// The claims of a barrier's clause.
    fn barrier_claims(
        &mut self,
        name: Option<&str>,
        condition: &tree::Expr,
        span: Span,
    ) -> Result<Vec<Claim>> {
        self.may_name_other = true;
        let claims = self.claims(name, condition, span);
        self.may_name_other = false;
        Ok(self.supported_or_open(claims, About::Body)?.unwrap_or_default())
    }

    /// `__barrier_invariant_k(P, e1, …)`: the instantiation hints for another tool are ignored.
    pub(super) fn claim_at_next_barrier(
        &mut self,
        condition: &tree::Expr,
        span: Span,
    ) -> Result<()> {
        let claims = self.barrier_claims(None, condition, span)?;
        self.pending.extend(claims);
        Ok(())
    }

    /// `assert` and `requires` of a function; a claim about anything but integer variables is unsupported.
    pub(super) fn scalar_claims(
        &mut self,
        condition: &tree::Expr,
        span: Span,
    ) -> Result<Vec<Expr>> {
        let claims = self.claims(None, condition, span);
        let mut stated = Vec::new();
        for claim in self.supported_or_open(claims, About::Body)?.into_iter().flatten() {
            match claim.forall.is_empty() && spec::is_scalar(&claim.condition) {
                true => stated.push(claim.condition),
                false => {
                    let why =
                        "claims about array elements in the middle of a kernel are not supported";
                    self.leave_open(About::Body, claim.span, why.to_owned());
                }
            }
        }
        Ok(stated)
    }

    /// `ghost int x = e;`: a variable that only annotations see; its integers are unbounded.
    pub(super) fn ghost_declare(
        &mut self,
        id: LocalId,
        value: Option<&tree::Expr>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let local = self.local(id, span)?;
        let Some(ty) = self.scalar(&local.ty) else {
            return Err(unsupported(span, "ghost variables must be scalars"));
        };
        let ty = annotation_type(ty);
        let value = match value {
            Some(value) => Some(self.lower_annotation(|lowerer, out| lowerer.number(value, out))?),
            None => None,
        };
        let var = self.new_var(&local.name, ty);
        if let Some(value) = value {
            out.push(Stmt::Assign(var, convert(value, ty)));
        }
        self.bind(id, Place::new(&local.ty, vec![Spot::Var(var)]));
        Ok(())
    }

    /// `ghost x = e;`.
    pub(super) fn ghost_assign(
        &mut self,
        id: LocalId,
        value: &tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let frame = self.frames.last();
        let place = frame.and_then(|frame| frame.bindings.get(&id)).cloned();
        let var = place.and_then(|place| match &place.choices[..] {
            [spots] => match spots[..] {
                [Spot::Var(var)] => Some(var),
                _ => None,
            },
            _ => None,
        });
        let Some(var) = var else {
            return Err(error(span, "annotations can assign only to ghost variables"));
        };
        let value = self.lower_annotation(|lowerer, out| lowerer.number(value, out))?;
        let ty = self.var_type(var);
        out.push(Stmt::Assign(var, convert(value, ty)));
        Ok(())
    }
}
