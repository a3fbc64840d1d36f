//! Checks the laws of functions that clauses declare as monoids: associativity, the unit, and commutativity if
//! declared.
//!
//! Integers only. A function that only adds and multiplies is a polynomial, which is right modulo 2^bits. For any
//! other function, the laws are proved for machine integers: obligations show that its operations do not wrap where
//! that matters, and each result is proved to be in its type.

use super::Engine;
use super::eval::in_type;
use super::state::{Mode, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::{Index, Span};
use kir::{Monoid, Type};

impl Engine<'_> {
    /// Proves the laws of monoids. Returns the spans of those proved, by which they are identified.
    pub(super) fn proved_monoids(&mut self) -> Vec<Span> {
        let kernel = self.kernel;
        let all = kernel.monoids.iter().filter(|one| self.is_monoid(one));
        all.map(|one| one.span).collect()
    }

    fn is_monoid(&mut self, monoid: &Monoid) -> bool {
        let ty = monoid.result.ty;
        if !matches!(ty, Type::Int { .. }) {
            return false;
        }
        let mode = std::mem::replace(&mut self.mode, Mode::Full);
        let obligations = std::mem::take(&mut self.obligations);
        let laws = self.laws(monoid, ty);
        let law_obligations = std::mem::replace(&mut self.obligations, obligations);
        self.mode = mode;
        let mut path = Vec::new();
        laws.is_some_and(|laws| {
            path.extend(laws.known);
            law_obligations.iter().all(|one| {
                let mut assumed = path.clone();
                assumed.extend(one.path.iter().cloned());
                self.prover.proves(&assumed, &one.goal)
            }) && laws.equal.iter().all(|goal| self.prover.proves(&path, goal))
        })
    }

    /// Builds the laws.
    fn laws(&mut self, monoid: &Monoid, ty: Type) -> Option<Laws> {
        let [a, b, c] = ["a", "b", "c"].map(|name| self.unknown(name, Level::Launch, ty));
        let first = self.prover.symbols.next();
        let unit = match self.eval(&monoid.unit, &self.entry.clone(), false) {
            SymbolicValue::Int(poly) => poly,
            _ => return None,
        };
        let mut known = Vec::new();
        let mut apply = |engine: &mut Self, one: &Poly, two: &Poly| {
            engine.apply_monoid(monoid, [one, two], (ty, first), &mut known)
        };
        let (left, right) = (apply(self, &a, &b)?, apply(self, &b, &c)?);
        let mut pairs = vec![
            (apply(self, &left, &c)?, apply(self, &a, &right)?),
            (apply(self, &unit, &a)?, a.clone()),
            (apply(self, &a, &unit)?, a.clone()),
        ];
        if monoid.commutative {
            pairs.push((left, apply(self, &b, &a)?));
        }
        let equal = pairs.iter().map(|(one, two)| one.minus(two).map(Formula::eq));
        Some(Laws { equal: equal.collect::<Option<Vec<Formula>>>()?, known })
    }

    /// Applies the function to two values. The result is a polynomial of them, or else the machine's number, which is
    /// proved to be in its type.
    fn apply_monoid(
        &mut self,
        monoid: &Monoid,
        values: [&Poly; 2],
        (ty, first): (Type, Sym),
        known: &mut Vec<Formula>,
    ) -> Option<Poly> {
        let mut state: State = self.entry.clone();
        for (parameter, value) in monoid.parameters.iter().zip(values) {
            state.vars[parameter.position()] = SymbolicValue::Int(value.clone());
        }
        let before = self.obligations.len();
        let SymbolicValue::Int(result) = self.eval(&monoid.result, &state, false) else {
            return None;
        };
        let plain = result.symbols().into_iter().all(|sym| sym < first);
        if plain && self.obligations.len() == before {
            return Some(result);
        }
        let inside = in_type(&result, ty);
        if !self.prover.proves(known, &inside) {
            return None;
        }
        known.push(inside);
        Some(result)
    }
}

/// The laws of a monoid, with the facts they are proved from.
struct Laws {
    equal: Vec<Formula>,
    known: Vec<Formula>,
}
