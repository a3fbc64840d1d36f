//! Lemmas: statements about all integers, shown directly or by induction.
//!
//! By induction over `x` a statement is shown directly for `x < 0`, for `x = 0`, and for `x + 1` assuming it for an
//! `x` that is not negative. Its other variables are arbitrary and fixed.

use super::Engine;
use super::state::{Mode, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::Poly;
use arith::symbols::Level;
use base::{Index, Span};
use kir::spec;
use kir::{Expr, Lemma, VarId};

/// Limit on the instances of one lemma for one claim.
const MAX_INSTANCES: usize = 16;

impl Engine<'_> {
    /// The places of the lemmas that can be shown.
    pub(super) fn shown_lemmas(&mut self, entry: &State) -> Vec<Span> {
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let kernel = self.kernel;
        let lemmas = kernel.lemmas.iter().filter(|one| self.is_shown(one, entry));
        let shown = lemmas.map(|one| one.span).collect();
        self.mode = mode;
        shown
    }

    /// Adds an instance of a lemma as a fact about its numbers, valid everywhere.
    pub(super) fn use_lemma(&mut self, (condition, lemma): (&Expr, Span), state: &State) {
        if !spec::is_exact(condition) || !self.lemmas.contains(&lemma) {
            return;
        }
        self.oblige_defined((&[], condition), state);
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let fact = self.condition(condition, state);
        self.mode = mode;
        for sym in fact.symbols() {
            let facts = &mut self.prover.symbols.get_mut(sym).facts;
            if !facts.contains(&fact) {
                facts.push(fact.clone());
            }
        }
    }

    /// Instantiates lemmas of one or two variables with some numbers.
    pub(super) fn instantiate_lemmas(&mut self, numbers: &[Poly]) -> Vec<Formula> {
        let kernel = self.kernel;
        let (mut facts, known) = (Vec::new(), self.lemmas.clone());
        for lemma in kernel.lemmas.iter().filter(|one| known.contains(&one.span)) {
            let mut choices: Vec<Vec<Poly>> = vec![Vec::new()];
            for _ in &lemma.forall {
                choices = choices
                    .iter()
                    .flat_map(|one| {
                        let longer = |more: &Poly| {
                            one.iter().cloned().chain([more.clone()]).collect::<Vec<_>>()
                        };
                        numbers.iter().map(longer).collect::<Vec<_>>()
                    })
                    .collect();
            }
            for choice in choices.into_iter().take(MAX_INSTANCES) {
                let mut state = self.entry.clone();
                for (var, value) in lemma.forall.iter().zip(choice) {
                    state.vars[var.position()] = SymbolicValue::Int(value);
                }
                facts.push(self.condition(&lemma.condition, &state));
            }
        }
        facts
    }

    fn is_shown(&mut self, lemma: &Lemma, entry: &State) -> bool {
        if !spec::is_exact(&lemma.condition) {
            return false;
        }
        let mut state = State { path: Vec::new(), ..entry.clone() };
        // A lemma without a value for some numbers is not used at all, as its instances may be translated
        // differently.
        if !self.is_defined((&lemma.forall, &lemma.condition), &state) {
            return false;
        }
        for var in &lemma.forall {
            let name = self.kernel.vars[*var].name.clone();
            let value = Poly::symbol(self.prover.symbols.fresh(name, Level::Launch));
            state.vars[var.position()] = SymbolicValue::Int(value);
        }
        let Some(over) = lemma.induction else {
            let goal = self.condition(&lemma.condition, &state);
            return self.prover.proves(&[], &goal);
        };
        self.by_induction(lemma, &state, over).unwrap_or(false)
    }

    fn by_induction(&mut self, lemma: &Lemma, state: &State, over: VarId) -> Option<bool> {
        let SymbolicValue::Int(own) = state.vars[over.position()].clone() else { return None };
        let mut at = |value: Poly| {
            let mut state = state.clone();
            state.vars[over.position()] = SymbolicValue::Int(value);
            self.condition(&lemma.condition, &state)
        };
        let (here, first, next) = (at(own.clone()), at(Poly::constant(0)), at(own.offset(1)?));
        let above = Formula::ge(own);
        let below = above.clone().not();
        Some(
            self.prover.proves(&[below], &here)
                && self.prover.proves(&[], &first)
                && self.prover.proves(&[above, here], &next),
        )
    }
}
