//! Premises of facts: the facts of a truncated quotient `a / b` depend on the sign of `a`.
//!
//! A symbol belongs to no point of the kernel, so that its facts cannot depend on the conditions there: `0 ≤ a` is a
//! premise of them. Where the conditions show the premise, it becomes an assumption, and the facts lose it. A premise is
//! about older symbols than the quotient, so quotients of quotients are settled one after the other: to show a premise,
//! only premises about older symbols than its own newest are tried. So each answer depends on the query alone.
//!
//! Added assumptions are proved from the others, so nothing new follows.

use super::{Prover, simplify_disjunctions};
use arith::formula::Formula;
use arith::poly::Sym;

/// Limit on the premises of one query.
const MAX_PREMISES: usize = 6;

impl Prover {
    /// Adds the premises that `assumed` shows to the assumptions `all`: those about symbols older than `newest`.
    pub(super) fn with_premises(
        &mut self,
        all: Vec<Formula>,
        assumed: &[Formula],
        newest: Option<Sym>,
    ) -> Vec<Formula> {
        let mut premises: Vec<Formula> = Vec::new();
        for premise in all.iter().filter_map(premises_of).flatten() {
            let is_older = newest.is_none() || newest_symbol(&premise) < newest;
            if is_older && !premises.contains(&premise) {
                premises.push(premise);
            }
        }
        premises.sort_by_key(newest_symbol);
        premises.truncate(MAX_PREMISES);
        let shown: Vec<Formula> =
            premises.into_iter().filter(|one| self.is_premise_shown(assumed, one)).collect();
        if shown.is_empty() {
            return all;
        }
        simplify_disjunctions(all.into_iter().chain(shown).collect())
    }

    fn is_premise_shown(&mut self, assumed: &[Formula], premise: &Formula) -> bool {
        let key = (assumed.to_vec(), premise.clone());
        if let Some(known) = self.premises.get(&key) {
            return *known;
        }
        let all = self.context_below(assumed, premise, newest_symbol(premise));
        let (all, quick) = self.quickly_cached(all, premise);
        let shown = quick || self.by_cases(&all, premise);
        self.premises.insert(key, shown);
        shown
    }
}

fn newest_symbol(premise: &Formula) -> Option<Sym> {
    premise.symbols().into_iter().max()
}

/// The premises of a fact `a ≥ 0 ⇒ …`; `None` for other formulas.
fn premises_of(fact: &Formula) -> Option<Vec<Formula>> {
    let Formula::Or(parts) = fact else { return None };
    let conclusions = parts.iter().filter(|part| matches!(part, Formula::And(_))).count();
    let denied = parts.iter().filter(|part| matches!(part, Formula::Ge(_)));
    let premises: Vec<Formula> = denied.map(|part| part.clone().not()).collect();
    (conclusions == 1 && premises.len() + 1 == parts.len()).then_some(premises)
}
