//! Instantiates barrier invariants: for the threads in the goal, and for the threads and numbers obtained by solving
//! a claim's index for each element in the goal.

use super::Engine;
use super::state::{BarrierInstance, ElementLookup, Mode, Second, State, SymbolicValue};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::{Copies, Level};
use base::Index;
use kir::spec;
use kir::{ArrayId, Builtin, Claim, Expr, ExprKind, VarId, When};
use std::collections::BTreeMap;

/// Limit on the instances of one claim for one query.
const MAX_INSTANCES: usize = 24;

/// The role of a thread in a claim.
#[derive(Clone, Debug, PartialEq)]
enum ThreadRole {
    Own,
    Second,
    /// The thread with this `threadIdx.x`, in one-dimensional blocks.
    At(Poly),
}

/// An element that a claim names.
pub(super) struct Pattern {
    pub(super) array: ArrayId,
    index: Expr,
    of_other: bool,
}

pub(super) fn patterns(claim: &Claim) -> Vec<Pattern> {
    fn collect(expr: &Expr, of_other: bool, found: &mut Vec<Pattern>) {
        match &expr.kind {
            ExprKind::Other(inner) => collect(inner, true, found),
            ExprKind::Element(array, When::Here, index) => {
                if let [at] = &index[..] {
                    found.push(Pattern { array: *array, index: at.clone(), of_other });
                }
            }
            ExprKind::Unary(_, inner) | ExprKind::Convert(inner) => collect(inner, of_other, found),
            ExprKind::Binary(_, left, right)
            | ExprKind::Compare(_, left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => {
                collect(left, of_other, found);
                collect(right, of_other, found);
            }
            ExprKind::Select(condition, then, otherwise) => {
                for part in [condition, then, otherwise] {
                    collect(part, of_other, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(&claim.condition, false, &mut found);
    found
}

/// One instance of a claim: its threads, and the values of its variables.
#[derive(Clone)]
pub(super) struct ClaimInstance {
    own: ThreadRole,
    other: ThreadRole,
    bound: Vec<(VarId, Poly)>,
}

impl Engine<'_> {
    /// Finds useful instances of a claim: for the threads of the query, and for the threads and values of bound
    /// variables at which the claim names one of these elements.
    pub(super) fn useful_instances(
        &mut self,
        version: Sym,
        barrier: &BarrierInstance,
        claim: &Claim,
        places: &[(Sym, ArrayId, Vec<Poly>)],
        copies: Option<&mut Copies>,
    ) -> Vec<ClaimInstance> {
        let pairs = spec::has_other(&claim.condition);
        let thread = self.thread_symbol();
        let second = copies.map(|copies| {
            thread.map(|thread| Poly::symbol(copies.symbol(&mut self.prover.symbols, thread)))
        });
        let mut threads = [vec![ThreadRole::Own], vec![ThreadRole::Own]];
        if second.is_some() {
            threads.iter_mut().for_each(|one| one.push(ThreadRole::Second));
        }
        let mut numbers: BTreeMap<VarId, Vec<Poly>> = BTreeMap::new();
        for pattern in patterns(claim) {
            for (_, _, index) in
                places.iter().filter(|one| (one.0, one.1) == (version, pattern.array))
            {
                let [place] = &index[..] else { continue };
                match self.solve_index(barrier, claim, &pattern, place) {
                    Some((None, value)) => {
                        let role = match () {
                            () if value.as_symbol() == thread && thread.is_some() => {
                                ThreadRole::Own
                            }
                            () if second == Some(Some(value.clone())) => ThreadRole::Second,
                            () => ThreadRole::At(value),
                        };
                        let list = &mut threads[usize::from(pattern.of_other)];
                        if !list.contains(&role) {
                            list.push(role);
                        }
                    }
                    Some((Some(var), value)) => {
                        let list = numbers.entry(var).or_default();
                        if !list.contains(&value) {
                            list.push(value);
                        }
                    }
                    None => {}
                }
            }
        }
        let others = if pairs { threads[1].clone() } else { vec![ThreadRole::Own] };
        let mut all: Vec<ClaimInstance> = Vec::new();
        for thread in &threads[0] {
            for other in others.iter().filter(|other| !pairs || *other != thread) {
                all.push(ClaimInstance {
                    own: thread.clone(),
                    other: other.clone(),
                    bound: Vec::new(),
                });
            }
        }
        for var in &claim.forall {
            let values = numbers.get(var).cloned().unwrap_or_default();
            let with = |one: &ClaimInstance| {
                let one = one.clone();
                values.clone().into_iter().map(move |value| {
                    let mut one = one.clone();
                    one.bound.push((*var, value));
                    one
                })
            };
            all = all.iter().flat_map(with).collect();
        }
        all.truncate(MAX_INSTANCES);
        all
    }

    /// The symbol of `threadIdx.x`, in one-dimensional blocks.
    fn thread_symbol(&self) -> Option<Sym> {
        let flat = (1..3).all(|axis| self.builtin(Builtin::Thread, axis).as_constant() == Some(0));
        self.builtin(Builtin::Thread, 0).as_symbol().filter(|_| flat)
    }

    /// Solves `index of the claim = index of the element` for the claim's thread (`None`) or a bound variable.
    fn solve_index(
        &mut self,
        barrier: &BarrierInstance,
        claim: &Claim,
        pattern: &Pattern,
        place: &Poly,
    ) -> Option<(Option<VarId>, Poly)> {
        let mut state = barrier.state.clone();
        let mut digits: Vec<(Sym, Option<VarId>)> = Vec::new();
        for var in &claim.forall {
            let sym = self.prover.symbols.fresh("digit", Level::Thread);
            digits.push((sym, Some(*var)));
            state.vars[var.position()] = SymbolicValue::Int(Poly::symbol(sym));
        }
        digits.extend(self.thread_symbol().map(|sym| (sym, None)));
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let index = self.eval(&spec::index(&pattern.index), &state, false);
        self.mode = mode;
        let SymbolicValue::Int(index) = index else { return None };
        let mut index_digits = digits.iter().filter(|(sym, _)| index.mentions(*sym));
        let ((sym, var), None) = (index_digits.next()?, index_digits.next()) else { return None };
        let powers = index.by_powers(*sym);
        let [rest, coefficient] = &powers[..] else { return None };
        let sign = coefficient.as_constant().filter(|one| one.abs() == 1)?;
        if self.prover.symbols.level(rest) > Level::Block {
            return None;
        }
        Some((*var, place.minus(rest)?.scaled(sign)?))
    }

    /// Instantiates a claim. The result is guarded: the threads exist and differ, and the barrier was reached.
    pub(super) fn instantiate(
        &mut self,
        version: Sym,
        barrier: &BarrierInstance,
        claim: &Claim,
        wanted: &ClaimInstance,
        copies: &mut Option<&mut Copies>,
    ) -> Option<Formula> {
        let pairs = spec::has_other(&claim.condition);
        let vars = free_variables(claim);
        let (mut one, builtins) = self.state_of(&wanted.own, barrier, &vars, copies)?;
        let (mut two, others) = self.state_of(&wanted.other, barrier, &vars, copies)?;
        for (var, value) in &wanted.bound {
            one.vars[var.position()] = SymbolicValue::Int(value.clone());
            two.vars[var.position()] = SymbolicValue::Int(value.clone());
        }
        let mut guard = Vec::new();
        for (role, place) in [(&wanted.own, &builtins), (&wanted.other, &others)] {
            if let ThreadRole::At(at) = role {
                guard.push(Formula::ge(at.clone()));
                let size = &place[Builtin::BlockDim as usize][0];
                guard.push(Formula::ge(size.minus(at)?.offset(-1)?));
            }
        }
        if pairs {
            let [here, there] = [&builtins, &others].map(|one| &one[Builtin::Thread as usize]);
            let distinct: Option<Vec<Formula>> =
                here.iter().zip(there).map(|(a, b)| Some(Formula::eq(a.minus(b)?).not())).collect();
            guard.push(Formula::or(distinct?));
        }
        one.path.extend(guard.iter().cloned());
        let mode = std::mem::replace(&mut self.mode, Mode::Probe);
        let lookup = std::mem::replace(&mut self.lookup, ElementLookup::Barrier(version));
        let elements = std::mem::replace(&mut self.elements, true);
        let before = std::mem::replace(&mut self.builtins, builtins);
        let bound = claim.forall.clone();
        self.second = pairs.then_some(Second { state: two, builtins: others, bound });
        let claimed = self.condition(&claim.condition, &one);
        self.second = None;
        (self.builtins, self.elements, self.lookup, self.mode) = (before, elements, lookup, mode);
        guard.extend(barrier.state.path.iter().cloned());
        Some(self.without_false_disjuncts(Formula::and(guard).implies(claimed)))
    }

    /// The variables and built-in values of a thread at a barrier, as far as a claim uses them.
    fn state_of(
        &mut self,
        role: &ThreadRole,
        barrier: &BarrierInstance,
        vars: &[VarId],
        copies: &mut Option<&mut Copies>,
    ) -> Option<(State, [[Poly; 3]; 4])> {
        let mut state = barrier.state.clone();
        let mut builtins = self.builtins.clone();
        match (role, copies) {
            (ThreadRole::Own, _) => {}
            (ThreadRole::Second, None) => return None,
            (ThreadRole::Second, Some(copies)) => {
                let symbols = &mut self.prover.symbols;
                for one in builtins.iter_mut().flatten() {
                    *one = copies.poly(symbols, one);
                }
                for var in vars {
                    let value = &mut state.vars[var.position()];
                    *value = value.copied(copies, symbols);
                }
            }
            (ThreadRole::At(at), _) => {
                let thread = self.thread_symbol()?;
                builtins[Builtin::Thread as usize][0] = at.clone();
                let mut others: BTreeMap<Sym, Sym> = BTreeMap::new();
                for var in vars {
                    let value = state.vars[var.position()].clone();
                    state.vars[var.position()] = match value {
                        SymbolicValue::Int(poly) => SymbolicValue::Int(self.in_other_thread(
                            &poly,
                            (thread, at),
                            &mut others,
                        )?),
                        SymbolicValue::Bool(formula) => {
                            SymbolicValue::Bool(formula.mapped(&mut |poly| {
                                self.in_other_thread(poly, (thread, at), &mut others)
                            })?)
                        }
                        untracked @ SymbolicValue::Untracked(..) => untracked,
                    };
                }
            }
        }
        Some((state, builtins))
    }

    /// Returns another thread's value of a number. It is unknown unless the number is an explicit function of
    /// `threadIdx.x`.
    fn in_other_thread(
        &mut self,
        poly: &Poly,
        (own, at): (Sym, &Poly),
        others: &mut BTreeMap<Sym, Sym>,
    ) -> Option<Poly> {
        let symbols = &mut self.prover.symbols;
        let mut fresh = |sym: Sym| {
            if sym == own || symbols.get(sym).level <= Level::Block {
                return sym;
            }
            *others.entry(sym).or_insert_with(|| symbols.fresh("another", Level::Thread))
        };
        poly.renamed(&mut fresh).substituted(own, at)
    }
}

/// The variables of a claim, without its bound ones.
fn free_variables(claim: &Claim) -> Vec<VarId> {
    let mut found = Vec::new();
    kir::visit(&claim.condition, &mut |inner| {
        if let ExprKind::Var(var) = inner.kind
            && !claim.forall.contains(&var)
            && !found.contains(&var)
        {
            found.push(var);
        }
    });
    found
}
