//! Lemmas: statements about all integers, proved directly or by induction.
//!
//! Induction over `x` has three cases: `x < 0` directly, `x = 0`, and the step from any `x ≥ 0` to `x + 1`. The other
//! variables are arbitrary and fixed.

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
    /// Tries to prove the lemmas. Returns the spans of those proved, by which they are identified.
    pub(super) fn proved_lemmas(&mut self, entry: &State) -> Vec<Span> {
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let kernel = self.kernel;
        let lemmas = kernel.lemmas.iter().filter(|one| self.is_proved(one, entry));
        let proved = lemmas.map(|one| one.span).collect();
        self.mode = mode;
        proved
    }

    /// Assumes an instance of a proved lemma, as `//@ use` states it. The instance holds on every path, so it becomes a
    /// fact about each symbol in it.
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

    /// Instantiates each proved lemma with combinations of `values` for its variables, up to a limit.
    pub(super) fn instantiate_lemmas(&mut self, values: &[Poly]) -> Vec<Formula> {
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
                        values.iter().map(longer).collect::<Vec<_>>()
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

    fn is_proved(&mut self, lemma: &Lemma, entry: &State) -> bool {
        if !spec::is_exact(&lemma.condition) {
            return false;
        }
        let mut state = State { path: Vec::new(), ..entry.clone() };
        // A lemma that is undefined for some values (it divides by zero there) is not used at all: the formula of such
        // an instance may differ from the proved formula.
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
        let SymbolicValue::Int(x) = state.vars[over.position()].clone() else { return None };
        let mut at = |value: Poly| {
            let mut state = state.clone();
            state.vars[over.position()] = SymbolicValue::Int(value);
            self.condition(&lemma.condition, &state)
        };
        let (at_x, at_zero, at_next) = (at(x.clone()), at(Poly::constant(0)), at(x.offset(1)?));
        let nonnegative = Formula::ge(x);
        let negative = nonnegative.clone().not();
        Some(
            self.prover.proves(&[negative], &at_x)
                && self.prover.proves(&[], &at_zero)
                && self.prover.proves(&[nonnegative, at_x], &at_next),
        )
    }
}
