//! Decides whether a store is the last one to an element.
//!
//! A store is *hit* if there is a *witness*, a thread and iterations, and no later instance of the same store hits
//! the element. The witness must be proved to exist, to reach the store and to store to this element. A store is
//! *missed* if an arbitrary instance is proved not to store there. `invert_index.rs` guesses witnesses; only proofs
//! made here count.

use super::instance::Instance;
use super::inverse::{Effort, Equation};
use super::kernel_summary::{LoopRecord, StoreSite};
use super::resolve::{Moment, Resolver, differences};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::{Level, Symbols};
use base::Index;
use kir::{ArrayId, Space};
use std::collections::{BTreeMap, BTreeSet};

/// Instances of a store that may be the last ones before a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) site: usize,
    /// Number of outer loops that are in the same iteration as at the moment.
    pub(super) fixed: usize,
    /// Set if the next loop is in an earlier iteration.
    pub(super) earlier: bool,
}

/// Possible sources of an element's contents.
#[derive(Clone, Debug)]
pub(super) enum Group {
    /// These stores, unordered.
    Stores(Vec<Candidate>),
    /// Everything before an iteration of a loop, summarised by the loop's clauses: the number of the loop's record, and
    /// the number of the iteration.
    Head(usize, Poly),
    /// A loop and everything before it, summarised by the loop's clauses.
    Exit(usize),
}

/// Result for a store.
pub(super) enum HitResult {
    Missed,
    /// This instance, under this condition; otherwise it is missed.
    Hit(Instance, Formula),
    Undecided,
}

/// A question about a store.
pub(super) struct HitQuery<'a> {
    pub(super) site: &'a StoreSite,
    /// The known digits: block, thread and loop counts that identify an instance.
    pub(super) fixed: Instance,
    /// The symbols of unknown digits, counts of loops last.
    pub(super) digits: Vec<Sym>,
    /// Unknown counts of loops, outermost first.
    pub(super) free: Vec<Sym>,
    /// Upper bound (exclusive) of the first free count, if there is one.
    pub(super) before: Option<Poly>,
    pub(super) index: &'a [Poly],
    pub(super) known: &'a [Formula],
}

impl Resolver {
    /// Returns the stores that may be the last before a moment, the latest first; those of a group are unordered.
    pub(super) fn candidates(&self, array: ArrayId, moment: &Moment) -> Vec<Group> {
        let side = &self.sides[moment.side];
        let point = &moment.point;
        let common = |site: &StoreSite| {
            let around = point.loops.iter().zip(&site.point.loops);
            let same = around.take_while(|((depth, _), (other, _))| {
                depth == other
                    && point.position.get(..=*depth) == site.point.position.get(..=*depth)
            });
            same.count()
        };
        let mut of_array: Vec<(usize, &StoreSite)> =
            side.sites.iter().enumerate().filter(|(_, site)| site.array == array).collect();
        of_array.sort_by(|(_, one), (_, other)| other.point.position.cmp(&one.point.position));
        let mut groups: Vec<Group> = Vec::new();
        for level in (0..=point.loops.len()).rev() {
            let mut last: Option<&[usize]> = None;
            for (number, site) in &of_array {
                if common(site) != level || site.point.position >= point.position {
                    continue;
                }
                let candidate = Candidate { site: *number, fixed: level, earlier: false };
                // Stores of one loop form a group: its iterations interleave them, so either may be the last.
                let around = site.point.loops.get(level).map(|(depth, _)| *depth);
                let around = around.and_then(|depth| site.point.position.get(..=depth));
                if let Some(record) =
                    around.and_then(|place| self.recorded(moment.side, place, array))
                {
                    groups.push(Group::Exit(record));
                    return groups;
                }
                match groups.last_mut() {
                    Some(Group::Stores(group)) if around.is_some() && around == last => {
                        group.push(candidate);
                    }
                    _ => groups.push(Group::Stores(vec![candidate])),
                }
                last = around;
            }
            if let Some(outer) = level.checked_sub(1) {
                let depth = point.loops.get(outer).map(|(depth, _)| *depth);
                let place = depth.and_then(|depth| point.position.get(..=depth));
                let record = place.and_then(|place| self.recorded(moment.side, place, array));
                if let (Some(record), Some(count)) = (record, moment.counts.get(outer)) {
                    groups.push(Group::Head(record, count.clone()));
                    return groups;
                }
                let inside = of_array.iter().filter(|(_, site)| common(site) >= level);
                let group = inside.map(|(number, _)| Candidate {
                    site: *number,
                    fixed: outer,
                    earlier: true,
                });
                groups.push(Group::Stores(group.collect()));
            }
        }
        groups.retain(|group| !matches!(group, Group::Stores(stores) if stores.is_empty()));
        groups
    }

    /// The record of the loop at a place, if it has clauses about an array.
    fn recorded(&self, side: usize, place: &[usize], array: ArrayId) -> Option<usize> {
        let loops = &self.sides[side].loops;
        let has_clause = |one: &LoopRecord| {
            one.position == place && one.clauses.iter().any(|clause| clause.array == array)
        };
        loops.iter().position(has_clause)
    }

    /// Decides whether a store is the last one to an element.
    pub(super) fn decide_store(
        &mut self,
        candidate: Candidate,
        index: &[Poly],
        moment: &Moment,
        known: &[Formula],
    ) -> HitResult {
        let site = self.sides[moment.side].sites[candidate.site].clone();
        let query = self.query(candidate, &site, index, moment, known);
        match self.decide_query(&query) {
            Some(found) => found,
            None => self.decide_by_inverse(&query).unwrap_or(HitResult::Undecided),
        }
    }

    /// Builds the query for a candidate: the digits known from the moment, and the digits to find.
    pub(super) fn query<'a>(
        &self,
        candidate: Candidate,
        site: &'a StoreSite,
        index: &'a [Poly],
        moment: &Moment,
        known: &'a [Formula],
    ) -> HitQuery<'a> {
        let side = &self.sides[moment.side];
        let space = side.spaces[site.array.position()];
        let mut fixed = Instance::default();
        let mut digits: Vec<Sym> = Vec::new();
        let sets = [
            (side.blocks.clone(), space != Space::Global),
            (side.threads.clone(), space == Space::Local),
        ];
        for (set, same) in sets {
            for digit in set {
                match moment.who.digits.get(&digit).filter(|_| same) {
                    Some(value) => {
                        fixed.digits.insert(digit, value.clone());
                    }
                    None => digits.push(digit),
                }
            }
        }
        let mut free = Vec::new();
        for (number, (_, count)) in site.point.loops.iter().enumerate() {
            match moment.counts.get(number).filter(|_| number < candidate.fixed) {
                Some(value) => {
                    fixed.digits.insert(*count, value.clone());
                }
                None => free.push(*count),
            }
        }
        digits.extend(&free);
        let before =
            candidate.earlier.then(|| moment.counts.get(candidate.fixed).cloned()).flatten();
        HitQuery { site, fixed, digits, free, before, index, known }
    }

    /// Returns, for each guessed instance of a store, the conditions under which it stores to an element.
    pub(super) fn conditions_of_hits(&mut self, query: &HitQuery<'_>) -> Vec<Vec<Formula>> {
        let only = self.only_instance(query);
        let other = self.arbitrary_instance(&query.digits, &query.fixed);
        let there = self.conditions(query, &other);
        let guessed = there.and_then(|there| {
            let assumed: Vec<Formula> = query.known.iter().chain(&there).cloned().collect();
            self.guess_instance(query, &other, &assumed)
        });
        let instances: Vec<Instance> = only.into_iter().chain(guessed).collect();
        instances.iter().filter_map(|one| self.conditions_of_hit(query, one)).collect()
    }

    /// Decides a store with only one instance that may hit the element.
    fn decide_by_inverse(&mut self, query: &HitQuery<'_>) -> Option<HitResult> {
        let witness = self.only_instance(query)?;
        self.hit_by(query, witness)
    }

    /// The only instance of a store that may store to an element.
    fn only_instance(&mut self, query: &HitQuery<'_>) -> Option<Instance> {
        let mirrors = self.mirrors(query);
        let (other, copies) = self.tracked_instance(&query.digits, &query.fixed, &mirrors);
        let wanted: BTreeSet<Sym> = copies.values().copied().collect();
        let there = self.conditions(query, &other)?;
        let assumed: Vec<Formula> = query.known.iter().chain(&there).cloned().collect();
        let mut equations = Vec::new();
        for (own, argument) in self.indices(&query.site.index, &other)?.into_iter().zip(query.index)
        {
            equations.push(Equation { own, argument: argument.clone() });
        }
        for copy in copies.values() {
            let symbol = self.prover.symbols.get(*copy);
            if let (Some(low), true) = (&symbol.low, symbol.low == symbol.high) {
                equations.push(Equation { own: Poly::symbol(*copy), argument: low.clone() });
            }
        }
        let conditions = assumed.iter().flat_map(Formula::symbols);
        let symbols = conditions.chain(equations.iter().flat_map(|one| one.own.symbols()));
        let unknowns = self.unknowns(wanted, symbols.collect());
        let values = self.inverse(unknowns, equations, &assumed, &[Effort::Light, Effort::Full])?;
        let mut witness = query.fixed.clone();
        for (digit, copy) in copies {
            let value = other.digits.get(&digit)?.substituted(copy, values.get(&copy)?)?;
            witness.digits.insert(digit, value);
        }
        Some(witness)
    }

    /// For each digit that an index counts downwards, its greatest value, such as `gridDim.x - 1` in `gridDim.x - 1 -
    /// blockIdx.x`.
    fn mirrors(&self, query: &HitQuery<'_>) -> BTreeMap<Sym, Poly> {
        let symbols = &self.prover.symbols;
        let falls = |index: &Poly, digit: Sym| match &index.by_powers(digit)[..] {
            [_, factor] => factor.leading_sign() < 0,
            _ => false,
        };
        let mirror = |digit: &Sym| {
            let symbol = symbols.get(*digit);
            let high = symbol.high.clone().filter(|high| symbols.level(high) == Level::Launch)?;
            let is_counted = symbol.low.as_ref().is_some_and(Poly::is_zero);
            let falls = query.site.index.iter().any(|index| falls(index, *digit));
            (is_counted && falls).then_some((*digit, high))
        };
        query.digits.iter().filter_map(mirror).collect()
    }

    /// Conditions that all hold exactly if an instance gets to a store, in time, and stores to the element.
    fn conditions_of_hit(
        &mut self,
        query: &HitQuery<'_>,
        witness: &Instance,
    ) -> Option<Vec<Formula>> {
        let reached = self.indices(&query.site.index, witness)?;
        let mut goals: Vec<Formula> =
            differences(&reached, query.index)?.into_iter().map(Formula::eq).collect();
        goals.extend(self.domain(query, witness)?);
        goals.extend(self.conditions(query, witness)?);
        goals.retain(|one| *one != Formula::True);
        Some(goals)
    }

    /// Decides a query with a single possible witness.
    fn hit_by(&mut self, query: &HitQuery<'_>, witness: Instance) -> Option<HitResult> {
        let goals = self.conditions_of_hit(query, &witness)?;
        let mut known = query.known.to_vec();
        let mut unproved = Vec::new();
        for goal in goals {
            if self.prover.proves_without_solver(&known, &goal) {
                continue;
            }
            if self.prover.proves_without_solver(&known, &goal.clone().not()) {
                return Some(HitResult::Missed);
            }
            known = self.with_fact(&known, &goal);
            unproved.push(goal);
        }
        let monotone = query.site.monotone.iter().rev().take(query.free.len()).all(|one| *one);
        monotone.then(|| HitResult::Hit(witness, Formula::and(unproved)))
    }

    /// Decides a query as the module's header describes; `None` if it stays open. A hit may hold only under a
    /// condition: then its negation is proved to be a miss.
    fn decide_query(&mut self, query: &HitQuery<'_>) -> Option<HitResult> {
        let other = self.arbitrary_instance(&query.digits, &query.fixed);
        let there = self.conditions(query, &other)?;
        let mut assumed = query.known.to_vec();
        assumed.extend(there.iter().cloned());
        let at = self.indices(&query.site.index, &other)?;
        let equations = differences(&at, query.index)?;
        let parts = equations.iter().map(|one| self.without_common(one, &assumed));
        if parts.collect::<Vec<_>>().into_iter().any(|one| Formula::eq(one) == Formula::False) {
            return Some(HitResult::Missed);
        }
        let Some(witness) = self.guess_instance(query, &other, &assumed) else {
            return self
                .contradicts(&assumed, &Formula::True, &equations, &other)
                .then_some(HitResult::Missed);
        };
        let monotone = query.site.monotone.iter().rev().take(query.free.len()).all(|one| *one);
        let reached = self.indices(&query.site.index, &witness)?;
        let mut goals: Vec<Formula> = Vec::new();
        for difference in differences(&reached, query.index)? {
            goals.push(Formula::eq(self.without_common(&difference, query.known)));
        }
        goals.extend(self.domain(query, &witness)?);
        goals.extend(self.conditions(query, &witness)?);
        let mut known = query.known.to_vec();
        let mut unproved = Vec::new();
        // Goals that would need a solver become conditions of a case; the solver is only called if a case fails. A
        // goal that is proved is not a case.
        for goal in goals {
            if !self.proves_without_sizes(&known, &goal)
                && !self.prover.proves_without_solver(&known, &goal)
            {
                known = self.with_fact(&known, &goal);
                unproved.push(goal);
            }
        }
        if !monotone {
            return self
                .contradicts(&assumed, &Formula::True, &equations, &other)
                .then_some(HitResult::Missed);
        }
        let condition = Formula::and(unproved);
        if condition == Formula::False {
            return self
                .contradicts(&assumed, &Formula::True, &equations, &other)
                .then_some(HitResult::Missed);
        }
        if condition != Formula::True {
            if self.proves_quickly(query.known, &condition.clone().not()) {
                return self
                    .contradicts(&assumed, &Formula::True, &equations, &other)
                    .then_some(HitResult::Missed);
            }
            if !self.contradicts(&assumed, &condition.clone().not(), &equations, &other) {
                return None;
            }
        }
        // Show that no later iteration of the same store hits the element.
        let mut same = assumed;
        same.push(condition.clone());
        for count in &query.free {
            let (mine, its) = (witness.digits.get(count)?, other.digits.get(count)?);
            let later = Formula::ge(its.minus(mine)?.offset(-1)?);
            if !self.contradicts(&same, &later, &equations, &other) {
                return None;
            }
            same.push(Formula::eq(its.minus(mine)?));
        }
        Some(HitResult::Hit(witness, condition))
    }

    /// Returns the conditions for an instance to reach its store: its path, and that it is early enough.
    fn conditions(&mut self, query: &HitQuery<'_>, instance: &Instance) -> Option<Vec<Formula>> {
        let mut all = Vec::new();
        for part in &query.site.path {
            let part = self.formula(part, instance)?;
            all.extend(part.conjuncts().iter().cloned());
        }
        if let Some(before) = &query.before {
            let count = instance.digits.get(query.free.first()?)?;
            all.push(Formula::ge(before.minus(count)?.offset(-1)?));
        }
        Some(all)
    }

    /// Returns the goals that the digits of a witness are in their ranges.
    fn domain(&mut self, query: &HitQuery<'_>, witness: &Instance) -> Option<Vec<Formula>> {
        let mut goals = Vec::new();
        for digit in &query.digits {
            let symbol = self.prover.symbols.get(*digit).clone();
            let value = witness.digits.get(digit)?.clone();
            // Only the bounds: other facts about a count follow from the conditions of its loop.
            if let Some(low) = &symbol.low {
                let low = self.poly(low, witness)?;
                goals.push(Formula::ge(value.minus(&low)?));
            }
            if let Some(high) = &symbol.high {
                let high = self.poly(high, witness)?;
                goals.push(Formula::ge(high.minus(&value)?));
            }
            let ranged =
                symbol.low.is_some() && (symbol.high.is_some() || query.free.contains(digit));
            if !ranged {
                return None;
            }
        }
        Some(goals)
    }

    /// Returns `true` if the equations and a condition are contradictory for an arbitrary instance.
    fn contradicts(
        &mut self,
        assumed: &[Formula],
        condition: &Formula,
        equations: &[Poly],
        other: &Instance,
    ) -> bool {
        let mut with = assumed.to_vec();
        with.extend(equations.iter().cloned().map(Formula::eq));
        let denied = condition.clone().not();
        if denied != Formula::False && self.proves_quickly(&with, &denied) {
            return true;
        }
        let digits: BTreeSet<Sym> = other.digits.values().filter_map(Poly::as_symbol).collect();
        let mut assumed = assumed.to_vec();
        for part in condition.conjuncts() {
            assumed.push(part.clone());
            assumed.extend(self.without_quotients(part).filter(|other| other != part));
        }
        assumed.extend(self.same_tests(&assumed));
        let shared = |symbols: &Symbols, sym: Sym| {
            !digits.contains(&sym) && symbols.get(sym).level == Level::Launch
        };
        self.prover.contradicts(&assumed, equations, &shared, false)
    }
}
