//! Barrier invariants: proved for every thread and every two different threads of a block.
//!
//! An element is the result of the last store before the barrier, by any thread of the block: all of them have
//! reached it. The other thread of a pair has its own symbols where threads differ, and the same block and
//! iterations.

use super::super::Engine;
use super::claims::{ReadResult, Reader, refuse};
use super::collect_stores::{Runner, Track};
use super::kernel_summary::{CaseGoal, ClaimCase, MachineNumber};
use super::not_followed::NotFollowed;
use crate::engine::state::{ElementLookup, Second};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::{Copies, Level};
use base::Index;
use kir::spec::{self, Goal};
use kir::{Builtin, Claim, Compare, Expr, ExprKind, Space, Type, When};

impl Runner<'_, '_> {
    /// Records the obligations of a barrier's claims.
    pub(super) fn claim_at_barrier(&mut self, claims: &[Claim], track: &Track) {
        if !self.records {
            return;
        }
        for claim in claims {
            for goal in spec::goals(claim) {
                let case = self.case_at_barrier(claim, &goal, track);
                self.claims.push(case);
            }
        }
    }

    fn case_at_barrier(&mut self, claim: &Claim, goal: &Goal, track: &Track) -> ClaimCase {
        let (point, side) = (self.point(), self.side);
        let mut track = track.clone();
        let mut copies = Copies::new(Level::Warp);
        let pairs = spec::has_other(&claim.condition);
        if pairs {
            let second = self.other_thread(claim, &track, &mut copies);
            track.state.path.extend(self.path_of_other(&track.state.path.clone(), &mut copies));
            self.engine.second = Some(second);
        }
        self.engine.lookup = ElementLookup::Listed(Vec::new());
        let mut reader = Reader::of_thread(self.engine, &track, point, side);
        let read = reader.at_barrier(claim, goal);
        let known = reader.state.path.clone();
        let inside = std::mem::take(&mut reader.inside);
        let (counts, tests) = (reader.counts.take(), std::mem::take(&mut reader.tests));
        self.engine.lookup = ElementLookup::Nowhere;
        self.engine.second = None;
        let second = copies.pairs();
        let mut wanted = read.unwrap_or_else(|why| vec![CaseGoal::Nothing(why)]);
        for one in &mut wanted {
            if let CaseGoal::Relates(formula, elements) = one {
                elements.extend(self.loaded_numbers_in(formula, &known, &second));
            }
        }
        let wanted = match wanted.len() {
            1 => wanted.remove(0),
            _ => CaseGoal::Either(wanted),
        };
        let span = claim.span;
        ClaimCase { known, wanted, inside, span, side, counts, second, tests, is_used: true }
    }

    /// Creates the other thread of a pair, as far as a claim uses it.
    fn other_thread(&mut self, claim: &Claim, track: &Track, copies: &mut Copies) -> Second {
        let symbols = &mut self.engine.prover.symbols;
        let mut builtins = self.engine.builtins.clone();
        for one in builtins.iter_mut().flatten() {
            *one = copies.poly(symbols, one);
        }
        let mut state = track.state.clone();
        for value in &mut state.vars {
            *value = value.copied(copies, symbols);
        }
        Second { state, builtins, bound: claim.forall.clone() }
    }

    /// Returns the path condition of the other thread, and the condition that the two threads differ.
    fn path_of_other(&mut self, path: &[Formula], copies: &mut Copies) -> Vec<Formula> {
        let places: Vec<Poly> =
            (0..3).map(|axis| self.engine.builtin(Builtin::Thread, axis)).collect();
        let symbols = &mut self.engine.prover.symbols;
        let mut known: Vec<Formula> =
            path.iter().map(|part| copies.formula(symbols, part)).collect();
        let distinct = places.iter().filter_map(|here| {
            let there = copies.poly(symbols, here);
            here.minus(&there).map(|difference| Formula::eq(difference).not())
        });
        known.push(Formula::or(distinct));
        known
    }

    /// Collects loaded numbers that occur in conditions.
    fn loaded_numbers_in(
        &mut self,
        formula: &Formula,
        known: &[Formula],
        second: &[(Sym, Sym)],
    ) -> Vec<MachineNumber> {
        let mut all: Vec<Formula> = known.to_vec();
        all.push(formula.clone());
        all.extend(self.engine.prover.symbols.facts(&all));
        let symbols: std::collections::BTreeSet<Sym> =
            all.iter().flat_map(Formula::symbols).collect();
        let mut found = Vec::new();
        for sym in symbols {
            let copied = second.iter().find(|(_, copy)| *copy == sym);
            let original = copied.map_or(sym, |(one, _)| *one);
            if let Some((value, ty)) = self.data_of(original) {
                found.push(MachineNumber { sym, value, ty, of_other: copied.is_some() });
            }
        }
        found
    }
}

impl Reader<'_, '_> {
    /// Translates a case of a claim at a barrier; it suffices to prove one of the results.
    fn at_barrier(&mut self, claim: &Claim, goal: &Goal) -> ReadResult<Vec<CaseGoal>> {
        self.has_one_value(&claim.condition)?;
        self.bind(&claim.forall, &goal.assumed)?;
        let mut wanted = Vec::new();
        let plain = !spec::has_other(&claim.condition);
        let mut refused = None;
        if let ExprKind::Compare(Compare::Eq, left, right) = &goal.goal.kind
            && plain
        {
            let ty = left.ty;
            let both = self.term(left, ty).and_then(|one| Ok((one, self.term(right, ty)?)));
            match both {
                Ok((one, other)) => wanted.push(CaseGoal::Equal(one, other, ty)),
                Err(why) => refused = Some(why),
            }
        }
        match self.relation_at_barrier(&goal.goal) {
            Ok(relation) => wanted.push(relation),
            Err(why) if wanted.is_empty() => return Err(refused.unwrap_or(why)),
            Err(_) => {}
        }
        Ok(wanted)
    }

    /// Translates a condition on numbers in elements and variables.
    fn relation_at_barrier(&mut self, goal: &Expr) -> ReadResult<CaseGoal> {
        if spec::find(goal, |inner| inner.ty == Type::Float).is_some() {
            return refuse(NotFollowed::RealsOfThreads);
        }
        self.engine.elements = true;
        let formula = self.engine.condition(goal, &self.state);
        self.engine.elements = false;
        let listed = match &self.engine.lookup {
            ElementLookup::Listed(all) => all.clone(),
            _ => Vec::new(),
        };
        let mut elements = Vec::new();
        for one in &listed {
            let (sym, ty) = (one.sym, one.ty);
            let place = ((one.array, one.when), one.index.clone(), one.path.clone());
            let value = self.element_at(place.0, place.1, place.2, goal.span)?;
            elements.push(MachineNumber { sym, value, ty, of_other: false });
        }
        Ok(CaseGoal::Relates(formula, elements))
    }

    /// Refuses a claim that names an element without a single value while the threads of a block are at a barrier.
    fn has_one_value(&self, condition: &Expr) -> ReadResult<()> {
        let engine: &Engine<'_> = self.engine;
        let one_block =
            (0..3).all(|axis| engine.builtin(Builtin::GridDim, axis).as_constant() == Some(1));
        let mut why = None;
        kir::visit(condition, &mut |inner| {
            let ExprKind::Element(array, When::Here, _) = &inner.kind else { return };
            let written = engine.written[array.position()];
            match engine.kernel.arrays[*array].space {
                Space::Shared => {}
                Space::Global if !written || one_block => {}
                Space::Global => why = Some(NotFollowed::OtherBlocks),
                Space::Local => why = Some(NotFollowed::OwnArray),
            }
        });
        why.map_or(Ok(()), refuse)
    }
}
