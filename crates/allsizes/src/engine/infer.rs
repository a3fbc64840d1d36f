//! Infers facts about variables that a loop changes irregularly: guessed from templates and kept if they are
//! inductive (Houdini, Flanagan and Leino 2001).
//!
//! A fact is kept only if it holds before the loop and, assuming all kept facts, after one arbitrary iteration.
//! Guesses cost time, never soundness.

use super::Engine;
use super::eval::in_type;
use super::loops::{Change, Head, Shape};
use super::state::{Claim, Flow, Mode, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::Poly;
use arith::symbols::Level;
use base::Index;
use kir::{Loop, VarId};

/// Limit on the sizes from which bounds are guessed.
const MAX_SIZES: usize = 5;

/// A fact about one or two variables at the head of a loop.
#[derive(Clone, Debug, PartialEq)]
enum Template {
    /// `x ≥ c`.
    AtLeast(VarId, Poly),
    /// `factor·x ≤ c`.
    AtMost(VarId, i128, Poly),
    /// `factor·x·y ≤ c`.
    ProductAtMost(VarId, VarId, i128, Poly),
    /// `factor·x·y = c`.
    Product(VarId, VarId, i128, Poly),
    /// `factor·x·y = c` until `x` is 0, when `y = c`.
    ProductUntilZero(VarId, VarId, i128, Poly),
    /// `x` is a power of two.
    Pow2(VarId),
    /// `x` is a power of two or 0.
    Pow2OrZero(VarId),
    /// An invariant from an annotation, by its number.
    Given(usize, Vec<VarId>),
}

/// Facts that hold at the head of a loop, in every iteration.
pub(super) struct Facts {
    kept: Vec<Template>,
    given: Vec<kir::Expr>,
}

/// The loop invariants of annotations, evaluated at a loop head: the number of each, and its formula there.
pub(super) type StatedInvariants = Vec<(usize, Formula)>;

impl Facts {
    /// The facts about a variable's symbol at `head`.
    pub(super) fn about(&self, var: VarId, head: &Head, stated: &StatedInvariants) -> Vec<Formula> {
        let about_var = self.kept.iter().filter(|template| template.vars().contains(&var));
        about_var
            .filter_map(|template| match template {
                Template::Given(number, _) => {
                    stated.iter().find(|(one, _)| one == number).map(|(_, formula)| formula.clone())
                }
                _ => template.at(&head.state),
            })
            .collect()
    }
}

impl Template {
    fn vars(&self) -> Vec<VarId> {
        match self {
            Self::AtLeast(x, _) | Self::AtMost(x, ..) | Self::Pow2(x) | Self::Pow2OrZero(x) => {
                vec![*x]
            }
            Self::ProductAtMost(x, y, ..)
            | Self::Product(x, y, ..)
            | Self::ProductUntilZero(x, y, ..) => vec![*x, *y],
            Self::Given(_, vars) => vars.clone(),
        }
    }

    /// Evaluates the template with the variables of a state.
    fn at(&self, state: &State) -> Option<Formula> {
        let value = |var: VarId| match &state.vars[var.position()] {
            SymbolicValue::Int(poly) => Some(poly.clone()),
            _ => None,
        };
        let product = |x: VarId, y: VarId, factor: i128| {
            value(x)?.times(&value(y)?).and_then(|product| product.scaled(factor))
        };
        Some(match self {
            Self::AtLeast(x, bound) => Formula::ge(value(*x)?.minus(bound)?),
            Self::AtMost(x, factor, bound) => {
                Formula::ge(bound.minus(&value(*x)?.scaled(*factor)?)?)
            }
            Self::ProductAtMost(x, y, factor, bound) => {
                Formula::ge(bound.minus(&product(*x, *y, *factor)?)?)
            }
            Self::Product(x, y, factor, bound) => {
                Formula::eq(bound.minus(&product(*x, *y, *factor)?)?)
            }
            Self::ProductUntilZero(x, y, factor, bound) => {
                let running = Formula::eq(bound.minus(&product(*x, *y, *factor)?)?);
                let zero = Formula::eq(value(*x)?);
                let ended = Formula::eq(bound.minus(&value(*y)?)?);
                Formula::or([
                    Formula::and([zero.clone().not(), running]),
                    Formula::and([zero, ended]),
                ])
            }
            Self::Pow2(x) => Formula::Pow2(value(*x)?),
            Self::Pow2OrZero(x) => {
                Formula::or([Formula::eq(value(*x)?), Formula::Pow2(value(*x)?)])
            }
            Self::Given(..) => return None,
        })
    }
}

impl Engine<'_> {
    /// The facts that hold at the head of a loop.
    pub(super) fn invariants(&mut self, inner: &Loop, entry: &State, shape: &Shape) -> Facts {
        let given = inner.invariants.clone();
        let mut facts = Facts { kept: Vec::new(), given };
        if self.mode == Mode::Probe {
            return facts;
        }
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let mut guesses = if self.infers { self.guesses(entry, shape) } else { Vec::new() };
        let vars: Vec<VarId> = shape.vars.iter().map(|(var, _)| *var).collect();
        guesses.extend((0..inner.invariants.len()).map(|one| Template::Given(one, vars.clone())));
        guesses.retain(|guess| self.holds(guess, &facts.given, entry));
        facts.kept = guesses;
        while !facts.kept.is_empty() && self.drop_broken(inner, entry, shape, &mut facts) {}
        self.mode = mode;
        for (number, invariant) in inner.invariants.iter().enumerate() {
            let kept =
                facts.kept.iter().any(|one| matches!(one, Template::Given(n, _) if *n == number));
            if !kept {
                self.oblige(Claim::Invariant, Formula::False, invariant.span, entry);
            }
        }
        facts
    }

    fn formula(&mut self, guess: &Template, given: &[kir::Expr], state: &State) -> Option<Formula> {
        match guess {
            Template::Given(number, _) => {
                let expr = given.get(*number)?.clone();
                Some(self.condition(&expr, state))
            }
            _ => guess.at(state),
        }
    }

    fn holds(&mut self, guess: &Template, given: &[kir::Expr], state: &State) -> bool {
        let Some(formula) = self.formula(guess, given, state) else { return false };
        self.prover.guesses = !matches!(guess, Template::Given(..));
        let holds = self.prover.proves(&state.path, &formula);
        self.prover.guesses = false;
        holds
    }

    /// Runs one iteration; drops the facts that do not hold after it.
    fn drop_broken(
        &mut self,
        inner: &Loop,
        entry: &State,
        shape: &Shape,
        facts: &mut Facts,
    ) -> bool {
        let head = self.head(entry, shape);
        self.assume(facts, entry, &head);
        let end = self.iterate(inner, head.state, &mut Flow::default(), shape.level);
        let Some(Some(mut end)) = end else { return false };
        self.assume_in_types(shape, &mut end);
        if self.hold_together(facts, &end) {
            return false;
        }
        let before = facts.kept.len();
        let kept = std::mem::take(&mut facts.kept);
        let given = facts.given.clone();
        facts.kept = kept.into_iter().filter(|guess| self.holds(guess, &given, &end)).collect();
        facts.kept.len() < before
    }

    /// Returns `true` if all facts hold. Asks one query for all of them: in the last round, when no fact is dropped,
    /// that is enough.
    fn hold_together(&mut self, facts: &Facts, end: &State) -> bool {
        let mut goals = Vec::new();
        for guess in &facts.kept {
            match guess.at(end) {
                Some(goal) if self.prover.proves_quickly(&end.path, &goal) => {}
                Some(goal) => goals.push(goal),
                None => return false,
            }
        }
        goals.len() > 1 && self.prover.proves_together(&end.path, &goals)
    }

    /// Assumes that variables are in their types at the end of an iteration. The next iteration begins with the
    /// machine's values, and an obligation shows that these are the same integers (`Claim::Carried`).
    fn assume_in_types(&mut self, shape: &Shape, end: &mut State) {
        for (var, _) in shape.vars.iter().filter(|(_, change)| matches!(change, Change::Free(_))) {
            if let SymbolicValue::Int(value) = &end.vars[var.position()]
                && self.relevant[var.position()]
            {
                end.path.push(in_type(value, self.kernel.vars[*var].ty));
            }
        }
    }

    /// Evaluates the invariants of annotations at a head.
    pub(super) fn state_invariants(&mut self, facts: &Facts, head: &Head) -> StatedInvariants {
        let mut stated = StatedInvariants::new();
        for template in &facts.kept {
            if let Template::Given(number, _) = template
                && let Some(formula) = self.formula(template, &facts.given, &head.state)
            {
                stated.push((*number, formula));
            }
        }
        stated
    }

    fn guesses(&mut self, entry: &State, shape: &Shape) -> Vec<Template> {
        let free: Vec<VarId> = shape
            .vars
            .iter()
            .filter(|(var, change)| {
                matches!(change, Change::Free(_)) && self.relevant[var.position()]
            })
            .map(|(var, _)| *var)
            .collect();
        let sizes = self.guessed_sizes(entry, &free);
        let mut guesses = Vec::new();
        for x in &free {
            let SymbolicValue::Int(first) = &entry.vars[x.position()] else { continue };
            guesses.push(Template::AtLeast(*x, Poly::constant(0)));
            guesses.push(Template::AtLeast(*x, Poly::constant(1)));
            guesses.push(Template::AtLeast(*x, first.clone()));
            guesses.push(Template::AtMost(*x, 1, first.clone()));
            if self.has_powers {
                guesses.push(Template::Pow2(*x));
                guesses.push(Template::Pow2OrZero(*x));
            }
            for size in &sizes {
                guesses.push(Template::AtMost(*x, 1, size.clone()));
                guesses.push(Template::AtMost(*x, 2, size.clone()));
            }
            for y in free.iter().filter(|y| *y != x) {
                for size in &sizes {
                    guesses.push(Template::ProductUntilZero(*x, *y, 2, size.clone()));
                    if x > y {
                        continue;
                    }
                    for factor in [1, 2] {
                        guesses.push(Template::ProductAtMost(*x, *y, factor, size.clone()));
                        guesses.push(Template::Product(*x, *y, factor, size.clone()));
                    }
                }
            }
        }
        guesses
    }

    /// Sizes that variables may be compared with: dimensions of the block, integer parameters, and values computed
    /// from them.
    fn guessed_sizes(&mut self, entry: &State, free: &[VarId]) -> Vec<Poly> {
        let mut sizes: Vec<Poly> = Vec::new();
        if free.is_empty() {
            return sizes;
        }
        let block = (0..3).map(|axis| self.builtin(kir::Builtin::BlockDim, axis));
        let scalars = self.kernel.scalars.iter().filter(|var| self.relevant[var.position()]);
        let scalars = scalars.filter_map(|var| match &entry.vars[var.position()] {
            SymbolicValue::Int(poly) => Some(poly.clone()),
            _ => None,
        });
        // Sizes that the kernel computed before the loop, such as a length.
        let locals = entry.vars.iter().zip(&self.relevant).filter_map(|(value, relevant)| {
            let SymbolicValue::Int(poly) = value else { return None };
            let is_size = self.prover.symbols.level(poly) == Level::Launch;
            (*relevant && is_size && poly.as_constant().is_none()).then(|| poly.clone())
        });
        for size in block.chain(scalars).chain(locals).collect::<Vec<_>>() {
            if size.as_constant() != Some(1) && !sizes.contains(&size) && sizes.len() < MAX_SIZES {
                sizes.push(size);
            }
        }
        sizes
    }
}
