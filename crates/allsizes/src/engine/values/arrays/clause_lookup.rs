//! Looks up an array element in the invariant clauses of a loop, at its head or after it.
//!
//! A clause `\forall digits; when ==> a[index] == value` *covers* an element if values of its digits are found for
//! which `index` is that element and `when` holds. They are found by inverting the index, as for stores; digits that
//! are powers of two are guessed from the factors of the index. A guess counts only if the prover shows both
//! conditions. If some stay open, the lookup stops with one of them as a case split. If no clause covers the element,
//! its contents are unknown.

use super::super::hits::HitQuery;
use super::super::instance::Instance;
use super::super::resolve::{Moment, Resolver, Unresolved, open, too_large};
use super::super::value::{Point, Value};
use crate::engine::values::kernel_summary::{ClauseAtPoint, RecordedClause, StoreSite};
use arith::formula::Formula;
use arith::poly::{Monomial, Poly, Sym, divided, greatest_common_divisor};
use base::Index;
use kir::ArrayId;

/// A clause with values for its digits, and the conditions for covering the element that are not proved yet.
pub(super) struct CoverAttempt {
    pub(super) value: Value,
    pub(super) instance: Instance,
    pub(super) missing: Vec<Formula>,
}

impl Resolver {
    /// Returns the value of an element at the head of a loop in iteration `count`, or after the loop if that is `None`.
    pub(in super::super) fn value_by_clauses(
        &mut self,
        (record, count): (usize, Option<&Poly>),
        (array, index): (ArrayId, &[Poly]),
        moment: &Moment,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let side = &self.sides[moment.side];
        let loop_record = side.loops[record].clone();
        let mut around = Instance::default();
        for digit in side.blocks.clone() {
            let value = moment.who.digits.get(&digit).cloned();
            around.digits.insert(digit, value.unwrap_or_else(|| Poly::symbol(digit)));
        }
        for ((_, digit), value) in loop_record.outer.iter().zip(&moment.counts) {
            around.digits.insert(*digit, value.clone());
        }
        if let Some(count) = count {
            around.digits.insert(loop_record.count, count.clone());
        }
        if count.is_none() {
            // After the loop its clauses hold if the loop was reached.
            for part in &loop_record.before {
                let part = self.formula(part, &around).ok_or_else(too_large)?;
                if !self.proves(known, &part) {
                    return Err(Unresolved::Split(part));
                }
            }
        }
        let mut open_attempts = Vec::new();
        let clauses = loop_record.clauses.iter().filter(|clause| clause.array == array);
        let clauses: Vec<&RecordedClause> = clauses.collect();
        // As far as its array goes, a total is proved from itself alone.
        let number = self.total_under_proof.as_ref().filter(|one| one.side == moment.side);
        let number = number.map(|one| one.number);
        let alone = clauses.iter().find(|clause| Some(clause.number) == number).copied();
        for clause in alone.map_or(clauses, |one| vec![one]) {
            let at = if count.is_some() { Some(&clause.head) } else { clause.exit.as_ref() };
            let Some(at) = at else { continue };
            let attempts = match clause.total {
                None => self.cover_attempts(at, index, &around, known),
                Some(_) => {
                    let is_head = count.is_some();
                    let place = (moment.side, &loop_record, is_head);
                    let attempt = self.attempt_by_total(place, (clause, at), index, &around, known);
                    attempt.into_iter().collect()
                }
            };
            for attempt in attempts {
                if attempt.missing.is_empty() {
                    let CoverAttempt { value, instance, .. } = attempt;
                    return self.instantiate(&value, &instance, moment.side, known, depth + 1);
                }
                open_attempts.push(attempt);
            }
        }
        self.try_with_solver(open_attempts, (array, index), moment, known, depth)
    }

    /// Tries the attempts with open conditions again, with the solver. Splits the case if a condition stays open.
    fn try_with_solver(
        &mut self,
        attempts: Vec<CoverAttempt>,
        (array, index): (ArrayId, &[Poly]),
        moment: &Moment,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let mut split: Option<Formula> = None;
        for attempt in attempts {
            let mut left = None;
            let mut possible = true;
            for part in &attempt.missing {
                if self.proves(known, part) {
                    continue;
                }
                if self.proves(known, &part.clone().not()) {
                    possible = false;
                    break;
                }
                left = left.or_else(|| Some(part.clone()));
            }
            match left {
                _ if !possible => {}
                None => {
                    let CoverAttempt { value, instance, .. } = attempt;
                    return self.instantiate(&value, &instance, moment.side, known, depth + 1);
                }
                Some(part) => split = split.or(Some(part)),
            }
        }
        if let Some(split) = split.filter(|split| !self.is_bound(split)) {
            return Err(Unresolved::Split(split));
        }
        let name = self.sides[moment.side].names[array.position()].clone();
        let place: String = index.iter().map(|one| format!("[{}]", self.poly_text(one))).collect();
        open(
            moment.span,
            format!("what `{name}{place}` contains: no invariant clause covers this element"),
        )
    }

    /// Returns an attempt for each guess of the clause's powers of two.
    fn cover_attempts(
        &mut self,
        at: &ClauseAtPoint,
        index: &[Poly],
        around: &Instance,
        known: &[Formula],
    ) -> Vec<CoverAttempt> {
        let [element] = index else { return Vec::new() };
        let mut choices = vec![around.clone()];
        for level in &at.levels {
            let factors = self.power_candidates(at, element, around);
            let with = |instance: &Instance| {
                let instance = instance.clone();
                factors.clone().into_iter().map(move |factor| {
                    let mut instance = instance.clone();
                    instance.digits.insert(*level, factor);
                    instance
                })
            };
            choices = choices.iter().flat_map(with).collect();
        }
        choices.into_iter().filter_map(|one| self.cover_attempt(at, index, one, known)).collect()
    }

    /// Returns candidates for a digit that is a power of two: products that divide the element's index.
    fn power_candidates(
        &mut self,
        at: &ClauseAtPoint,
        element: &Poly,
        around: &Instance,
    ) -> Vec<Poly> {
        let Some(own) = self.poly(&at.index, around) else { return Vec::new() };
        let Some(rest) = element.offset(-own.constant_term()) else { return Vec::new() };
        let mut common: Option<(Monomial, i128)> = None;
        for (monomial, factor) in rest.terms() {
            common = Some(match common {
                None => (monomial.clone(), factor.abs()),
                Some((shared, number)) => {
                    (shared_part(&shared, monomial), greatest_common_divisor(number, factor))
                }
            });
        }
        let Some((monomial, number)) = common else { return Vec::new() };
        let mut found = vec![Poly::monomial(monomial.clone(), 1)];
        let mut power = 2;
        while number % power == 0 && power <= 1024 {
            found.push(Poly::monomial(monomial.clone(), power));
            power *= 2;
        }
        // A product may have a factor that belongs to the other digit.
        for (sym, _) in &monomial {
            if let Some(less) = divided(&monomial, &[(*sym, 1)]) {
                found.push(Poly::monomial(less, 1));
            }
        }
        found
    }

    /// Inverts the clause's index for the digits that are not in `fixed`. `None` if that fails or `when` is false.
    fn cover_attempt(
        &mut self,
        at: &ClauseAtPoint,
        index: &[Poly],
        fixed: Instance,
        known: &[Formula],
    ) -> Option<CoverAttempt> {
        let digits: Vec<Sym> =
            at.digits.iter().filter(|digit| !fixed.digits.contains_key(digit)).copied().collect();
        // A store with the clause's index, so that the inversion of stores can be used; its other fields do not matter.
        let site = StoreSite {
            array: ArrayId::from_position(0),
            index: vec![at.index.clone()],
            path: Vec::new(),
            point: Point { position: Vec::new(), loops: Vec::new() },
            value: Value::default(),
            span: base::Span::default(),
            monotone: Vec::new(),
        };
        let other = self.arbitrary_instance(&digits, &fixed);
        let query =
            HitQuery { site: &site, fixed, digits, free: Vec::new(), before: None, index, known };
        let instance = self.guess_instance(&query, &other, known)?;
        let reached = self.poly(&at.index, &instance)?;
        let difference = reached.minus(index.first()?)?;
        let mut goals = vec![Formula::eq(self.without_common(&difference, known))];
        for part in &at.when {
            let part = self.formula(part, &instance)?;
            goals.extend(part.conjuncts().iter().cloned());
        }
        let mut missing = Vec::new();
        for goal in goals {
            if goal == Formula::False {
                return None;
            }
            if !self.is_power(&goal, known) && !self.proves_quickly(known, &goal) {
                missing.push(goal);
            }
        }
        Some(CoverAttempt { value: at.value.clone(), instance, missing })
    }
}

/// The greatest common divisor of two products.
fn shared_part(one: &Monomial, other: &Monomial) -> Monomial {
    let power = |sym: Sym| other.iter().find(|(own, _)| *own == sym).map_or(0, |(_, power)| *power);
    let parts = one.iter().map(|(sym, own)| (*sym, (*own).min(power(*sym))));
    parts.filter(|(_, power)| *power > 0).collect()
}
