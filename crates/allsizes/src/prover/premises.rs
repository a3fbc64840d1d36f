//! Premises of facts: the facts of a truncated quotient `a / b` depend on the sign of `a`.
//!
//! A symbol belongs to no point of the kernel, so that its facts cannot depend on the conditions there: `0 ≤ a` is a
//! premise of them. Where the conditions show the premise, it becomes an assumption, and the facts lose it. A premise is
//! about older symbols than the quotient, so quotients of quotients are settled one after the other: to show a premise,
//! only premises about older symbols than its own newest are tried. So each answer depends on the query alone.
//!
//! Bounds of quotients follow from bounds of their dividends, if these are assumptions (`arith::products`). Bounds that
//! follow from several assumptions, such as `B·b + t < h·w` from `G·B = h·w`, are added here.
//!
//! Added assumptions are proved from the others, so nothing new follows.

use super::{Prover, simplify_disjunctions};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::products::{Division, Effort, divisions};
use arith::symbols::Level;

/// Limit on the premises of one query.
const MAX_PREMISES: usize = 6;
/// Limits on the divisions whose dividends are bounded, and on the bounds that are tried for each.
const MAX_DIVISIONS: usize = 4;
const MAX_FACTORS: usize = 3;

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
        let mut shown: Vec<Formula> =
            premises.into_iter().filter(|one| self.is_premise_shown(assumed, one)).collect();
        shown.extend(self.bounds_of_dividends(&all, assumed, newest));
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
        let shown = quick || self.by_cases(&all, premise) || {
            // Without the premise other facts apply: those about a negative dividend.
            let mut contrary = all;
            contrary.push(premise.clone().not());
            let contrary = simplify_disjunctions(contrary);
            self.by_products(&contrary, &Formula::False, Effort::LINEAR)
        };
        self.premises.insert(key, shown);
        shown
    }

    /// Returns bounds of dividends that give bounds of their quotients: of `x` and a symbolic divisor `d`, `x ≥ 0` and
    /// the least `x < d·c` that is shown, for sizes `c`. The products `d·c` that are tried occur among the assumptions
    /// about sizes.
    fn bounds_of_dividends(
        &mut self,
        all: &[Formula],
        assumed: &[Formula],
        newest: Option<Sym>,
    ) -> Vec<Formula> {
        let symbols = &self.symbols;
        let mut divisions =
            divisions(all, &|sym| symbols.get(sym).is_quotient && symbols.get(sym).high.is_none());
        divisions.retain(|one| {
            let is_older = newest.is_none_or(|newest| one.quotient < newest);
            is_older
                && one.divisor.as_constant().is_none()
                && symbols.level(&one.divisor) == Level::Launch
        });
        divisions.truncate(MAX_DIVISIONS);
        let mut found = Vec::new();
        for Division { dividend, divisor, .. } in divisions {
            let below = |times: &Poly| {
                let most = divisor.times(times)?.minus(&dividend)?.offset(-1);
                most.map(Formula::ge)
            };
            let times = self.factors_of_sizes(all, &divisor);
            let highs: Vec<Formula> = times.iter().filter_map(below).collect();
            if !highs.iter().any(|one| all.contains(one)) {
                found.extend(highs.into_iter().find(|one| self.is_premise_shown(assumed, one)));
            }
            let low = Formula::ge(dividend);
            if !all.contains(&low) && self.is_premise_shown(assumed, &low) {
                found.push(low);
            }
        }
        found
    }

    /// Returns the sizes `c` for which a multiple of `divisor·c` is a term of an assumption about sizes, those of
    /// least degree first.
    fn factors_of_sizes(&self, all: &[Formula], divisor: &Poly) -> Vec<Poly> {
        let mut found: Vec<Poly> = Vec::new();
        for part in all.iter().flat_map(Formula::conjuncts) {
            let (Formula::Ge(poly) | Formula::Eq(poly)) = part else { continue };
            if self.symbols.level(poly) != Level::Launch {
                continue;
            }
            for (monomial, _) in poly.terms().filter(|(monomial, _)| monomial.len() > 1) {
                let factor = Poly::monomial(monomial.clone(), 1).divided_exactly(divisor);
                found.extend(factor.filter(|one| !found.contains(one)));
            }
        }
        found.sort_by_cached_key(|one| {
            let degree = one.terms().map(|(monomial, _)| monomial.len()).max();
            (degree, one.clone())
        });
        found.truncate(MAX_FACTORS);
        found
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
