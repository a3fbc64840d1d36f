//! Barrier invariants: the facts that claims at a barrier give about array contents after it (Chong et al. 2013).
//!
//! The contents of arrays when all threads have reached a barrier are a *version*. Whenever the barrier is passed, a
//! new symbol of level block stands for the version. A load after the barrier reads from this version if no path in
//! between stores to the array, or only stores of the current interval do. (Such a store to the element by another
//! thread would race with the load.) So these facts hold up to the first race. If they exclude all races, there is no
//! first one. `values/barrier_invariants.rs` proves the claims themselves; a proof that uses the facts must require
//! that these claims are proved.
//!
//! `claim_instances.rs` chooses the instances of claims.

use super::claim_instances::patterns;
use super::input_contents::{array_of, contents};
use super::state::{BarrierInstance, ElementLookup, Listed, Mode, State, SymbolicValue};
use super::{Engine, Property};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::{Copies, Level};
use base::Index;
use kir::spec;
use kir::{ArrayId, Builtin, CallContract, Claim, Expr, Loop, Space, Stmt, Type, VarId, When};
use std::sync::Arc;

/// Arrays that a loop stores to, or that claims at its barriers mention.
pub(super) fn stored_in(inner: &Loop) -> Vec<ArrayId> {
    let mut found = Vec::new();
    for part in [&inner.head, &inner.body, &inner.step] {
        collect(part, &mut found);
    }
    found
}

fn collect(statements: &[Stmt], found: &mut Vec<ArrayId>) {
    for statement in statements {
        match statement {
            Stmt::Store(element, _) | Stmt::Atomic { element, .. } => found.push(element.array),
            Stmt::Given(given) => {
                found.extend(given.claims.iter().flat_map(patterns).map(|one| one.array));
            }
            Stmt::Claims(claims) => {
                found.extend(claims.iter().flat_map(patterns).map(|one| one.array));
            }
            Stmt::If(_, then, otherwise) => {
                collect(then, found);
                collect(otherwise, found);
            }
            Stmt::Loop(inner) => found.extend(stored_in(inner)),
            _ => {}
        }
    }
}

impl Engine<'_> {
    /// Records the claims of a barrier that a thread has reached.
    pub(super) fn pass_barrier(&mut self, claims: &[Claim], state: &mut State) {
        let version = self.prover.symbols.fresh("barrier", Level::Block);
        let barrier = BarrierInstance { claims: claims.to_vec(), state: state.clone() };
        self.barrier_instances.insert(version, Arc::new(barrier));
        state.passed_barriers.passed.push(version);
        for pattern in claims.iter().flat_map(patterns) {
            if self.has_versions(pattern.array) {
                state.passed_barriers.forget(pattern.array);
                state.passed_barriers.versions.push((pattern.array, version));
            }
        }
    }

    /// Records the contract of a called function as facts after its call. The contract is proved for arguments that
    /// are equal in all threads, and for blocks with one thread on the axes that the function does not use.
    pub(super) fn pass_call(&mut self, given: &CallContract, state: &mut State) {
        let alike = |var: &VarId| self.level(&state.vars[var.position()]) <= Level::Block;
        let flat = (0..3).all(|axis| {
            given.axes[axis] || self.builtin(Builtin::BlockDim, axis).as_constant() == Some(1)
        });
        if flat && given.parameters.iter().all(alike) {
            return self.pass_barrier(&given.claims, state);
        }
        if self.mode == Mode::Full {
            let what = if flat {
                "that all threads call it with the same arguments"
            } else {
                "that blocks have one thread on the axes that it does not use"
            };
            let message = format!("the contract of `{}`: {what}", given.name);
            self.leave_open(Property::Invariant, given.span, None, message);
        }
    }

    /// Returns `true` if the contents of an array at a barrier are determined by the threads of one block.
    fn has_versions(&self, array: ArrayId) -> bool {
        let declared = &self.kernel.arrays[array];
        let one_block =
            (0..3).all(|axis| self.builtin(Builtin::GridDim, axis).as_constant() == Some(1));
        let stays_in_block =
            declared.space == Space::Shared || declared.space == Space::Global && one_block;
        stays_in_block
            && matches!(declared.element, Type::Int { .. })
            && self.written[array.position()]
    }

    /// Returns `true` if elements of this array that annotations name have symbols.
    pub(super) fn has_element_symbol(&self, array: ArrayId, when: When) -> bool {
        match &self.lookup {
            ElementLookup::Nowhere => false,
            ElementLookup::Barrier(_) => when == When::Here && self.has_versions(array),
            ElementLookup::Listed(_) => {
                matches!(self.kernel.arrays[array].element, Type::Int { .. })
            }
        }
    }

    /// The symbol of an element that an annotation names.
    pub(super) fn element_symbol(
        &mut self,
        (array, when): (ArrayId, When),
        at: &[SymbolicValue],
        ty: Type,
        path: &[Formula],
    ) -> SymbolicValue {
        let index: Option<Vec<Poly>> = at
            .iter()
            .map(|one| match one {
                SymbolicValue::Int(poly) => Some(poly.clone()),
                _ => None,
            })
            .collect();
        let Some(index) = index else {
            return SymbolicValue::Int(self.unknown("element", Level::Thread, ty));
        };
        let known = match &self.lookup {
            ElementLookup::Nowhere => None,
            ElementLookup::Barrier(version) => {
                self.cells.get(&(array, index.clone(), *version)).copied()
            }
            ElementLookup::Listed(all) => {
                let same =
                    |one: &&Listed| (one.array, one.when, &one.index) == (array, when, &index);
                all.iter().find(same).map(|one| one.sym)
            }
        };
        if let Some(sym) = known {
            return SymbolicValue::Int(Poly::symbol(sym));
        }
        let place: Vec<String> = index.iter().map(|one| self.prover.symbols.text(one)).collect();
        let name = format!("{}[{}]", self.kernel.arrays[array].name, place.join("]["));
        let value = self.unknown(&name, Level::Thread, ty);
        let Some(sym) = value.as_symbol() else { return SymbolicValue::Int(value) };
        match &mut self.lookup {
            ElementLookup::Nowhere => {}
            ElementLookup::Barrier(version) => {
                let version = *version;
                self.cells.insert((array, index.clone(), version), sym);
                self.tag(sym, (array, index), version);
            }
            ElementLookup::Listed(all) => {
                let path = path.to_vec();
                all.push(Listed { array, when, index, ty, sym, path });
            }
        }
        SymbolicValue::Int(value)
    }

    fn tag(&mut self, sym: Sym, element: (ArrayId, Vec<Poly>), version: Sym) {
        let symbol = self.prover.symbols.get_mut(sym);
        let (array, index) = element;
        (symbol.element, symbol.version) = (Some((contents(array), index)), Some(version));
    }

    /// Evaluates an expression for the other thread of a pair.
    pub(super) fn other_value(
        &mut self,
        inner: &Expr,
        state: &State,
        strict: bool,
    ) -> SymbolicValue {
        let Some(mut second) = self.second.take() else {
            return self.untracked(Level::Thread);
        };
        let mut there = second.state.clone();
        for var in &second.bound {
            there.vars[var.position()] = state.vars[var.position()].clone();
        }
        there.path.clone_from(&state.path);
        std::mem::swap(&mut self.builtins, &mut second.builtins);
        let value = self.eval(inner, &there, strict);
        std::mem::swap(&mut self.builtins, &mut second.builtins);
        self.second = Some(second);
        value
    }

    /// The facts about a loaded element from claims about single threads.
    pub(super) fn facts_of_loaded(
        &mut self,
        version: Sym,
        array: ArrayId,
        index: &[Poly],
        sym: Sym,
    ) -> Vec<Formula> {
        self.tag(sym, (array, index.to_vec()), version);
        // Instances of claims must use this symbol.
        self.cells.insert((array, index.to_vec(), version), sym);
        let Some(barrier) = self.barrier_instances.get(&version).cloned() else {
            return Vec::new();
        };
        let mut facts = Vec::new();
        for claim in barrier.claims.iter().filter(|one| !spec::has_other(&one.condition)) {
            let places = [(version, array, index.to_vec())];
            for one in self.useful_instances(version, &barrier, claim, &places, None) {
                facts.extend(self.instantiate(version, &barrier, claim, &one, &mut None));
            }
        }
        facts
    }

    /// Returns the value of a symbol if a fact is an equation for it. Values with prefix sums are excluded:
    /// `pairs.rs` finds the positions of elements by the elements' own symbols.
    pub(super) fn value_given_by(&self, fact: &Formula, sym: Sym) -> Option<Poly> {
        let Formula::Eq(poly) = fact else { return None };
        let powers = poly.by_powers(sym);
        let [rest, coefficient] = &powers[..] else { return None };
        let sign = coefficient.as_constant().filter(|one| one.abs() == 1)?;
        let plain = |one: &Sym| self.prover.symbols.get(*one).prefix.is_none();
        rest.symbols().iter().all(plain).then(|| rest.scaled(-sign)).flatten()
    }

    /// Returns the facts that passed barriers' claims give about the elements in a query, and about both threads of a
    /// pair.
    pub(super) fn facts_at_barriers(
        &mut self,
        query: &[Formula],
        passed: &[Sym],
        copies: Option<&mut Copies>,
    ) -> Vec<Formula> {
        if self.barrier_instances.is_empty() {
            return Vec::new();
        }
        let places = self.prover.symbols.cells(query).into_iter();
        let places: Vec<_> =
            places.map(|(version, contents, at)| (version, array_of(contents), at)).collect();
        let mut versions: Vec<Sym> = passed.to_vec();
        versions.extend(places.iter().map(|(version, ..)| *version));
        versions.sort_unstable();
        versions.dedup();
        let (mut copies, mut facts) = (copies, Vec::new());
        for version in versions {
            let Some(barrier) = self.barrier_instances.get(&version).cloned() else { continue };
            for claim in &barrier.claims {
                for one in
                    self.useful_instances(version, &barrier, claim, &places, copies.as_deref_mut())
                {
                    facts.extend(self.instantiate(version, &barrier, claim, &one, &mut copies));
                }
            }
        }
        facts
    }
}
