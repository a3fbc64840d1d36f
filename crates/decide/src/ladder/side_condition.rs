//! Normalises the conditions of a side, and leaves out those that hold everywhere.

use super::{Conditions, Ladder, Side};
use crate::algebra::{Condition, ConditionId, FormId, Outcome, Polynomial, SignSet};
use crate::definedness::{Definedness, Requirement};

/// A condition of a side with its forms.
pub(super) struct SideCondition {
    pub(super) condition: Definedness,
    /// The requirement on the argument, with the number that a function has in both stores.
    pub(super) requirement: Requirement,
    /// The argument; `None` if it has no normal form.
    pub(super) form: Option<FormId>,
    /// The allowed signs of the argument.
    pub(super) signs: Option<SignSet>,
    /// Conditions under which it is required.
    pub(super) guard: Vec<ConditionId>,
}

impl SideCondition {
    /// Returns form and signs, if the condition has no guard.
    pub(super) fn unguarded(&self) -> Option<(FormId, SignSet)> {
        if self.guard.is_empty() { self.form.zip(self.signs) } else { None }
    }
}

impl Ladder<'_> {
    /// Normalises the arguments of conditions; those that hold everywhere are left out.
    pub(super) fn side_conditions(
        &mut self,
        side: Side,
        conditions: Conditions,
    ) -> Outcome<Vec<SideCondition>> {
        let mut result = Vec::new();
        for condition in conditions? {
            let signs = condition.requirement.signs();
            let of_positive = signs.is_some_and(|signs| SignSet::POSITIVE.within(signs));
            if of_positive && self.positive.contains(&(side, condition.argument)) {
                continue;
            }
            if let Some(signs) = signs
                && condition.guard.is_empty()
                && self.always.get(&(side, condition.argument, signs)) == Some(&true)
            {
                continue;
            }
            let normaliser = match side {
                Side::Reference => &mut self.reference,
                Side::Optimised => &mut self.optimised,
            };
            let known = self.arguments.get(&(side, condition.argument)).copied();
            let form = match known {
                Some(_) => None,
                None => Some(normaliser.real(&mut self.algebra, condition.argument.into())),
            };
            if of_positive && matches!(&form, Some(Ok(form)) if form.is_plainly_positive()) {
                self.positive.insert((side, condition.argument));
                continue;
            }
            let mut guard = Vec::new();
            for (node, holds) in &condition.guard {
                let id = normaliser.condition(&mut self.algebra, (*node).into())?;
                guard.push(if *holds { id } else { self.algebra.negate_condition(id) });
            }
            let is_false =
                |id: &ConditionId| self.algebra.condition(*id) == Condition::Truth(false);
            if guard.iter().any(is_false) {
                // A branch that is never taken requires nothing.
                continue;
            }
            let requirement = match condition.requirement {
                Requirement::InDomain(function) => {
                    Requirement::InDomain(normaliser.common(function)?)
                }
                other => other,
            };
            // A condition without a normal form is still a condition: it stays, without a form.
            let form = match (known, form) {
                (Some(known), _) => known,
                (None, form) => {
                    form.and_then(|form| form.and_then(|form| self.comparable(form)).ok())
                }
            };
            self.arguments.insert((side, condition.argument), form);
            if let (Some(form), Some(signs)) = (form, signs) {
                let key = (side, condition.argument, signs);
                let holds = match self.always.get(&key) {
                    Some(holds) => *holds,
                    None => self.algebra.sign(form)?.within(signs),
                };
                self.always.insert(key, holds);
                if holds {
                    continue;
                }
            }
            result.push(SideCondition { condition, requirement, form, signs, guard });
        }
        Ok(result)
    }

    /// Returns the form with composites multiplied out if that is affordable, so that equal conditions of the
    /// two sides have equal forms.
    fn comparable(&mut self, form: Polynomial) -> Outcome<FormId> {
        let steps = std::mem::replace(&mut self.algebra.steps, self.budget.rung);
        let expanded = self.algebra.expand_bases(form.clone());
        self.algebra.steps = steps;
        self.algebra.intern(expanded.unwrap_or(form))
    }
}
