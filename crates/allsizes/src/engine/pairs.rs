//! Proves absence of races. For each pair of conflicting accesses: two threads never access the same element, or both
//! store the same value. Pairs that are not proved are left open.

use super::Engine;
use super::state::Site;
use super::{Property, Span};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::{Copies, Level, Symbols};
use interp::AccessKind;
use kir::{Builtin, Space};

impl Engine<'_> {
    /// Examines the accesses of an interval for conflicts between two threads of a block.
    pub(super) fn within_block(&mut self, sites: &[Site]) {
        // Two threads of a block may be in two warps, so values shared only within a warp may differ.
        self.all_pairs(sites, Level::Warp, |space| space != Space::Local);
    }

    /// Examines the accesses of the whole kernel for conflicts between two blocks, which no barrier orders.
    pub(super) fn between_blocks(&mut self, sites: &[Site]) {
        self.all_pairs(sites, Level::Block, |space| space == Space::Global);
    }

    fn all_pairs(&mut self, sites: &[Site], unshared: Level, matters: fn(Space) -> bool) {
        for (position, one) in sites.iter().enumerate() {
            if !matters(self.kernel.arrays[one.array].space) {
                continue;
            }
            for other in &sites[position..] {
                let conflicts = one.array == other.array
                    && (one.kind, other.kind) != (AccessKind::Read, AccessKind::Read)
                    && (one.kind, other.kind) != (AccessKind::Atomic, AccessKind::Atomic);
                if conflicts
                    && self.is_requested(Property::Races)
                    && !self.never_meet(one, other, unshared)
                {
                    self.leave_pair_open(one, other, unshared);
                }
            }
        }
    }

    /// Returns `true` if the accesses of two threads (of one block, or of two) at these places are proved harmless:
    /// always to different elements, or stores of the same value.
    fn never_meet(&mut self, one: &Site, other: &Site, unshared: Level) -> bool {
        let mut copies = Copies::new(unshared);
        let symbols = &mut self.prover.symbols;
        let mut assumed = one.path.clone();
        assumed.extend(other.path.iter().map(|part| copies.formula(symbols, part)));
        let mut equations = Vec::new();
        for (here, there) in one.index.iter().zip(&other.index) {
            let there = copies.poly(symbols, there);
            match here.minus(&there) {
                Some(difference) => equations.push(difference),
                None => return false,
            }
        }
        // Two stores of the same value do no harm.
        if let (Some(here), Some(there)) = (&one.value, &other.value) {
            let there = copies.poly(symbols, there);
            assumed.extend(here.minus(&there).map(|difference| Formula::eq(difference).not()));
        }
        let builtin = if unshared == Level::Warp { Builtin::Thread } else { Builtin::Block };
        let coordinates: Vec<Poly> = (0..3).map(|axis| self.builtin(builtin, axis)).collect();
        let symbols = &mut self.prover.symbols;
        let differences = coordinates.iter().filter_map(|here| {
            let there = copies.poly(symbols, here);
            here.minus(&there).map(|difference| Formula::eq(difference).not())
        });
        let distinct = Formula::or(differences);
        if distinct == Formula::False {
            return true;
        }
        assumed.push(distinct);
        let equal = equations.iter().cloned().map(Formula::eq);
        let query: Vec<Formula> = assumed.iter().cloned().chain(equal).collect();
        assumed.extend(self.instantiate_for_pairs(&query));
        if unshared == Level::Warp {
            let both: Vec<Sym> =
                one.passed.iter().filter(|sym| other.passed.contains(sym)).copied().collect();
            let query: Vec<Formula> = assumed.iter().cloned().chain(query).collect();
            assumed.extend(self.facts_at_barriers(&query, &both, Some(&mut copies)));
        }
        let differences: Vec<Poly> =
            equations.iter().filter_map(|one| self.position_difference(one)).collect();
        for difference in differences {
            // If equal elements imply equal positions, the positions must be equal, too.
            let mut with = assumed.clone();
            with.extend(equations.iter().cloned().map(Formula::eq));
            if self.prover.proves(&with, &Formula::eq(difference.clone())) {
                equations.push(difference);
            }
        }
        let shared = |symbols: &Symbols, sym: Sym| symbols.get(sym).level < unshared;
        if self.prover.contradicts_quickly(&assumed, &equations, &shared).is_none() {
            return true;
        }
        let positions = equations.split_off(one.index.len());
        let mut digits: Vec<Poly> = Vec::new();
        for ((here, there), whole) in one.index.iter().zip(&other.index).zip(equations) {
            let pairs = self.common_digits([here, there], [&one.path, &other.path]);
            let symbols = &mut self.prover.symbols;
            let differences =
                pairs.iter().map(|[here, there]| here.minus(&copies.poly(symbols, there)));
            digits.extend(differences.collect::<Option<Vec<Poly>>>().unwrap_or(vec![whole]));
        }
        digits.extend(positions);
        self.prover.contradicts(&assumed, &digits, &shared, true)
    }

    /// The difference of the positions of two elements of one array, if an equation compares these elements and
    /// prefix sums distinguish them.
    fn position_difference(&self, equation: &Poly) -> Option<Poly> {
        let symbols = &self.prover.symbols;
        let all: Vec<Sym> = equation.symbols().into_iter().collect();
        let [one, two] = all[..] else { return None };
        let (first, at) = symbols.get(one).element.as_ref()?;
        let (second, there) = symbols.get(two).element.as_ref()?;
        let sums = symbols.facts(&[Formula::eq(equation.clone())]);
        let summed =
            sums.iter().flat_map(Formula::symbols).any(|sym| symbols.get(sym).prefix.is_some());
        match (&at[..], &there[..]) {
            ([here], [there]) if first == second && summed => here.minus(there),
            _ => None,
        }
    }

    fn leave_pair_open(&mut self, one: &Site, other: &Site, unshared: Level) {
        let name = &self.kernel.arrays[one.array].name;
        let pair = if unshared == Level::Warp { "two threads of a block" } else { "two blocks" };
        let message = format!("that {pair} do not access the same element of `{name}`");
        let (first, last): (Span, Span) = (one.span.min(other.span), one.span.max(other.span));
        self.leave_open(Property::Races, last, (first != last).then_some(first), message);
    }
}
