//! Lemmas: statements about all integers, shown as they are or by induction.
//!
//! By induction over `x` a statement is shown for `x < 0` as it is, for `x = 0`, and for `x + 1` where it holds for an `x` that is
//! not negative; its other variables are arbitrary and the same throughout.

use super::Engine;
use super::state::{Mode, State, Val};
use crate::kir::{Lemma, VarId};
use crate::logic::formula::Formula;
use crate::logic::poly::Poly;
use crate::logic::symbols::Level;
use crate::spec;
use base::{Index, Span};

impl Engine<'_> {
    /// The places of lemmas that are shown.
    pub(super) fn shown_lemmas(&mut self, entry: &State) -> Vec<Span> {
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let kernel = self.kernel;
        let lemmas = kernel.lemmas.iter().filter(|one| self.is_shown(one, entry));
        let shown = lemmas.map(|one| one.span).collect();
        self.mode = mode;
        shown
    }

    fn is_shown(&mut self, lemma: &Lemma, entry: &State) -> bool {
        if !spec::is_exact(&lemma.condition) {
            return false;
        }
        let mut state = State { path: Vec::new(), ..entry.clone() };
        for var in &lemma.forall {
            let name = self.kernel.vars[*var].name.clone();
            let value = Poly::symbol(self.prover.symbols.fresh(name, Level::Launch));
            state.vars[var.position()] = Val::Int(value);
        }
        let Some(over) = lemma.induction else {
            let goal = self.condition(&lemma.condition, &state);
            return self.prover.proves(&[], &goal);
        };
        self.by_induction(lemma, &state, over).unwrap_or(false)
    }

    fn by_induction(&mut self, lemma: &Lemma, state: &State, over: VarId) -> Option<bool> {
        let Val::Int(own) = state.vars[over.position()].clone() else { return None };
        let mut at = |value: Poly| {
            let mut state = state.clone();
            state.vars[over.position()] = Val::Int(value);
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
