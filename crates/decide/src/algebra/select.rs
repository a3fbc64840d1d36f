//! Selects: `if condition then a else b`, over canonical comparisons.
//!
//! A comparison is the sign of a difference, scaled so that its first coefficient is 1. Of a condition and its
//! negation only one is used; for the other the branches are swapped. The rules:
//! - `if(d > 0, b + k·d, b)` is `b + k·max(d, 0)`.
//! - A select between exponentials may be the exponential of a maximum (`rescaling.rs`).
//! - `if(c, s + if(c, g, h), b)` is `if(c, s + g, b)`: a select inside a branch on the same condition is decided.
//! - Summands that both branches share move out: `if(c, s + a, s + b)` is `s + if(c, a, b)`. Nothing else may, since
//!   the branch that is not taken may be undefined.

use super::{
    Algebra, Atom, Condition, ConditionId, FormId, Monomial, Outcome, Polynomial, SignSet, Summand,
};
use term::{Number, Relation};

impl Algebra {
    /// Collects the comparisons that must hold for a condition to hold.
    pub(crate) fn comparisons(&self, condition: ConditionId) -> Vec<(FormId, SignSet)> {
        let mut found = Vec::new();
        let mut waiting = vec![condition];
        while let Some(condition) = waiting.pop() {
            match self.condition(condition) {
                Condition::Sign(form, signs) => found.push((form, signs)),
                Condition::And(a, b) => waiting.extend([a, b]),
                Condition::Truth(_) | Condition::Or(..) | Condition::Not(_) => {}
            }
        }
        found
    }

    pub(crate) fn condition(&self, id: ConditionId) -> Condition {
        self.conditions[id.0 as usize]
    }

    pub(crate) fn intern_condition(&mut self, condition: Condition) -> ConditionId {
        let next = ConditionId(self.conditions.len() as u32);
        let id = *self.condition_ids.entry(condition).or_insert(next);
        if id == next {
            self.conditions.push(condition);
        }
        id
    }

    /// Builds the condition `a ⋈ b`.
    pub(crate) fn comparison(
        &mut self,
        relation: Relation,
        a: Polynomial,
        b: Polynomial,
    ) -> Outcome<ConditionId> {
        let gap = self.difference(b, a)?; // b − a
        let gap = self.intern(gap)?;
        let wanted = match relation {
            Relation::Less => SignSet::POSITIVE,
            Relation::LessEqual => SignSet::NOT_NEGATIVE,
            Relation::Equal => SignSet::ZERO,
        };
        self.sign_condition(gap, wanted)
    }

    /// Builds the condition that the form's sign is one of `wanted`.
    pub(crate) fn sign_condition(&mut self, form: FormId, wanted: SignSet) -> Outcome<ConditionId> {
        let sign = self.sign(form)?;
        if sign.within(wanted) {
            return Ok(self.intern_condition(Condition::Truth(true)));
        }
        if sign.and(wanted).within(SignSet::NONE) {
            return Ok(self.intern_condition(Condition::Truth(false)));
        }
        // The form zero has a known sign, so this form has a first summand.
        let Some((_, leading)) = self.form(form).first() else {
            return Ok(self.intern_condition(Condition::Truth(SignSet::ZERO.within(wanted))));
        };
        let wanted = if leading.is_negative() { wanted.negated() } else { wanted };
        let inverse = leading.reciprocal().unwrap_or(Number::ONE);
        let mut scaled = self.polynomial(form);
        scaled.scale_by(&inverse);
        let form = self.intern(scaled)?;
        Ok(self.intern_condition(Condition::Sign(form, wanted)))
    }

    pub(crate) fn negate_condition(&mut self, id: ConditionId) -> ConditionId {
        let negated = match self.condition(id) {
            Condition::Truth(value) => Condition::Truth(!value),
            Condition::Sign(form, SignSet::NEGATIVE) => {
                Condition::Sign(form, SignSet::NOT_NEGATIVE)
            }
            Condition::Sign(form, SignSet::ZERO) => Condition::Sign(form, SignSet::NOT_ZERO),
            Condition::Sign(form, SignSet::POSITIVE) => {
                Condition::Sign(form, SignSet::NOT_POSITIVE)
            }
            Condition::Sign(form, SignSet::NOT_NEGATIVE) => {
                Condition::Sign(form, SignSet::NEGATIVE)
            }
            Condition::Sign(form, SignSet::NOT_ZERO) => Condition::Sign(form, SignSet::ZERO),
            Condition::Sign(form, _) => Condition::Sign(form, SignSet::POSITIVE),
            Condition::And(..) | Condition::Or(..) => Condition::Not(id),
            Condition::Not(inner) => return inner,
        };
        self.intern_condition(negated)
    }

    /// Builds the conjunction of two conditions if `both` is set, and their disjunction otherwise.
    pub(crate) fn connective(&mut self, a: ConditionId, b: ConditionId, both: bool) -> ConditionId {
        match (self.condition(a), self.condition(b)) {
            (Condition::Truth(value), _) => return if value == both { b } else { a },
            (_, Condition::Truth(value)) => return if value == both { a } else { b },
            (Condition::Sign(f, s), Condition::Sign(g, t)) if f == g => {
                let merged = if both { s.and(t) } else { s.or(t) };
                let condition = match merged {
                    SignSet::NONE => Condition::Truth(false),
                    SignSet::ANY => Condition::Truth(true),
                    other => Condition::Sign(f, other),
                };
                return self.intern_condition(condition);
            }
            _ => {}
        }
        if a == b {
            return a;
        }
        let (a, b) = (a.min(b), a.max(b));
        self.intern_condition(if both { Condition::And(a, b) } else { Condition::Or(a, b) })
    }

    /// Builds `if condition then a else b`.
    pub(crate) fn select(
        &mut self,
        condition: ConditionId,
        a: Polynomial,
        b: Polynomial,
    ) -> Outcome<Polynomial> {
        if let Condition::Truth(value) = self.condition(condition) {
            return Ok(if value { a } else { b });
        }
        let (a, b) = (self.intern(a)?, self.intern(b)?);
        let negated = self.negate_condition(condition);
        let a = self.within_branch(a, [condition, negated])?;
        let b = self.within_branch(b, [negated, condition])?;
        if a == b {
            return Ok(self.polynomial(a));
        }
        if let Some(maximum) = self.select_as_maximum(condition, a, b)? {
            return Ok(maximum);
        }
        if let Some(rescaled) = self.select_as_rescaling(condition, a, b)? {
            return Ok(rescaled);
        }
        let (common, a, b) = self.without_common(a, b);
        // Use the condition or its negation, the one with the smaller number: it is canonical.
        let (condition, a, b) =
            if condition < negated { (condition, a, b) } else { (negated, b, a) };
        let leading = a.first().or(b.first()).map_or(Number::ONE, |(_, c)| c.clone());
        let inverse = leading.reciprocal().unwrap_or(Number::ONE);
        let (a, b) = (self.scaled(a, &inverse), self.scaled(b, &inverse));
        let mut result = self.atom_polynomial(Atom::Select(condition, a, b));
        result.scale_by(&leading);
        self.accumulate(&mut result, Polynomial::from_sorted(common))?;
        Ok(result)
    }

    /// Simplifies a branch, in which `holds` is true and its negation `fails` is false. A summand that selects by one
    /// of these conditions becomes its chosen branch. Its other branch is never needed, so it may be undefined.
    fn within_branch(&mut self, form: FormId, [holds, fails]: [ConditionId; 2]) -> Outcome<FormId> {
        self.spend(self.form(form).len())?;
        let chosen_branch = |monomial: &Monomial| match self.atom_ref(monomial.as_atom()?)? {
            Atom::Select(condition, a, _) if *condition == holds => Some(*a),
            Atom::Select(condition, _, b) if *condition == fails => Some(*b),
            _ => None,
        };
        let found: Vec<(FormId, Number)> = (self.form(form).iter())
            .filter_map(|(monomial, coefficient)| {
                Some((chosen_branch(monomial)?, coefficient.clone()))
            })
            .collect();
        if found.is_empty() {
            return Ok(form);
        }
        let rest = self.form(form).iter().filter(|(monomial, _)| chosen_branch(monomial).is_none());
        let mut result = Polynomial::from_sorted(rest.cloned().collect());
        for (side, coefficient) in found {
            let mut side = self.polynomial(side);
            side.scale_by(&coefficient);
            self.accumulate(&mut result, side)?;
        }
        self.intern(result)
    }

    /// Collects the forms that a condition compares.
    pub(crate) fn forms_of_condition(&self, id: ConditionId, forms: &mut Vec<FormId>) {
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            match self.condition(id) {
                Condition::Truth(_) => {}
                Condition::Sign(form, _) => forms.push(form),
                Condition::And(a, b) | Condition::Or(a, b) => waiting.extend([a, b]),
                Condition::Not(inner) => waiting.push(inner),
            }
        }
    }

    /// Returns the form that a select compares with zero, its branch for positive values and that for negative ones.
    /// At zero the select may take either branch.
    pub(super) fn ordered_branches(
        &self,
        condition: ConditionId,
        a: FormId,
        b: FormId,
    ) -> Option<(FormId, FormId, FormId)> {
        let Condition::Sign(form, wanted) = self.condition(condition) else { return None };
        match wanted {
            SignSet::POSITIVE | SignSet::NOT_NEGATIVE => Some((form, a, b)),
            SignSet::NEGATIVE | SignSet::NOT_POSITIVE => Some((form, b, a)),
            _ => None,
        }
    }

    /// Rewrites `if(d > 0, a, b)` with `a − b = k·d` to `b + k·max(d, 0)`. The branches agree at `d = 0`, so `≥` gives
    /// the same.
    fn select_as_maximum(
        &mut self,
        condition: ConditionId,
        a: FormId,
        b: FormId,
    ) -> Outcome<Option<Polynomial>> {
        let Some((form, upper, lower)) = self.ordered_branches(condition, a, b) else {
            return Ok(None);
        };
        let (one, other) = (self.polynomial(upper), self.polynomial(lower));
        let gap = self.difference(one, other)?;
        let gap = self.expanded(gap)?;
        // The compared form begins with coefficient 1, so the factor is the first coefficient of the gap.
        let Some(factor) = gap.first().map(|(_, coefficient)| coefficient.clone()) else {
            return Ok(None);
        };
        let compared = self.form(form);
        let proportional = compared.len() == gap.len()
            && compared.iter().zip(&gap).all(|((m, c), (n, d))| m == n && c * &factor == *d);
        if !proportional {
            return Ok(None);
        }
        // Every summand of `lower` is one of `upper` or of the compared form. So `lower` is defined wherever `upper`
        // is taken, and the other way round.
        let mut ramp = self.ramp(form)?;
        ramp.scale_by(&factor);
        let base = self.polynomial(lower);
        Ok(Some(self.sum(base, ramp)?))
    }

    /// Splits two forms into their common summands and the rest of each.
    fn without_common(&self, a: FormId, b: FormId) -> (Vec<Summand>, Vec<Summand>, Vec<Summand>) {
        let (a, b) = (self.form(a), self.form(b));
        let common: Vec<Summand> = a
            .iter()
            .filter(|summand| {
                b.binary_search_by(|other| other.0.cmp(&summand.0))
                    .is_ok_and(|index| b[index].1 == summand.1)
            })
            .cloned()
            .collect();
        let rest = |terms: &[Summand]| {
            let shared = |m: &Monomial| common.binary_search_by_key(m, |(own, _)| *own).is_ok();
            terms.iter().filter(|(m, _)| !shared(m)).cloned().collect::<Vec<_>>()
        };
        (common.clone(), rest(a), rest(b))
    }

    fn scaled(&mut self, mut terms: Vec<Summand>, factor: &Number) -> FormId {
        for (_, coefficient) in &mut terms {
            *coefficient = &*coefficient * factor;
        }
        self.intern_sorted(terms)
    }
}
