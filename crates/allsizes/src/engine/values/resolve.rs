//! Finds the contents of an element at a point of the kernel: the last store to it, and the value of that store.
//!
//! # Why one pass backwards is enough
//!
//! Races, barriers, bounds and overflow are proved before. Then all stores of a launch to one element can be ordered
//! by their place in the kernel (statements in order, iterations by their count). If two stores of different threads
//! lie in one barrier interval, at most one accesses the element or both store the same. If a barrier separates two
//! stores, the earlier in this order is the earlier in time. So a load sees the last store before it in that order,
//! by any thread of the block (for global arrays: of any block, since two blocks that access an element, one of them
//! storing, would race).
//!
//! So stores are tried in descending order (`hits.rs`). If the answer depends on a condition, each case is
//! considered.
//!
//! (The idea is that of assignment elimination in Kojima, Imanishi and Igarashi 2018, as an algorithm.)

use super::extremes::{self, extreme};
use super::instance::{Copies, Instance};
use super::kernel_summary::KernelSummary;
use super::lookups::ZERO_TIMES;
use super::value::{Atom, Entry, Load, Point, Sum, Value};
use crate::engine::state::Operation;
use crate::prover::Prover;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::{Index, Span};
use kir::{ArrayId, Compare, Space};
use std::collections::{BTreeMap, BTreeSet};

/// The reason for an unsupported value.
const INFINITE: &str = "a computation with infinity, or with a maximum of possibly no values";

/// Limit on chains of loads.
const MAX_DEPTH: usize = 24;

/// The reason why a value is not known yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unresolved {
    /// It depends on this condition: consider both cases.
    Split(Formula),
    /// It is unknown: the place, and the open claim.
    Open(Option<Span>, String),
}

pub(super) fn open<T>(span: Option<Span>, message: impl Into<String>) -> Result<T, Unresolved> {
    Err(Unresolved::Open(span, message.into()))
}

/// Looks up elements of one or two kernels, over the same symbols.
pub(super) struct Resolver {
    pub(super) prover: Prover,
    pub(super) sides: Vec<KernelSummary>,
    /// Symbols from here on are the resolver's own.
    pub(super) first_own: Sym,
    pub(super) copies: Copies,
    /// Variables of sums, and symbols that depend on them implicitly.
    pub(super) bound: BTreeSet<Sym>,
    pub(super) implicit: BTreeMap<Sym, BTreeSet<Sym>>,
    pub(super) spares: Vec<Sym>,
    /// Quotients: dividend and divisor of each.
    pub(super) quotients: BTreeMap<Sym, (Poly, Poly)>,
    /// Quotients whose divisor is only positive in some cases, likewise.
    pub(super) conditional_quotients: BTreeMap<Sym, (Poly, Poly)>,
    /// Symbols of all quotients, also of those whose divisor is only positive in the current case.
    pub(super) named_quotients: BTreeMap<(Poly, Poly), Sym>,
    /// The operations that define symbols of the kernels.
    pub(super) definitions: BTreeMap<Sym, Operation>,
    /// Names of variables of sums in normal forms, outermost first.
    pub(super) bound_names: Vec<Sym>,
    /// Symbols of inputs in comparisons of numbers.
    pub(super) inputs: BTreeMap<(ArrayId, Vec<Poly>), Sym>,
    /// Copies of symbols of comparisons: the original and the instance.
    pub(super) tests: BTreeMap<Sym, (Sym, Instance)>,
    /// Comparisons in the current claim: the symbol and the difference.
    pub(super) claim_tests: Vec<(Sym, Compare, Value)>,
    /// Values of symbols in the current case.
    pub(super) case_values: Vec<(Sym, Poly)>,
    /// Set if a solver is asked before a case is split.
    pub(super) proves_before_splitting: bool,
    /// Lengths of sums that are quotients: `top / stride`, rounded up.
    pub(super) lengths: BTreeMap<Sym, (Poly, Poly)>,
    /// The loop whose clauses are being proved: contents from before it stay symbolic.
    pub(super) symbolic_entry: Option<(usize, Vec<usize>)>,
    /// The total that is being proved. Contents at the head of its loop stay symbolic.
    pub(super) total_under_proof: Option<TotalUnderProof>,
}

/// A total that is being proved for the end of an iteration.
#[derive(Clone, Debug)]
pub(super) struct TotalUnderProof {
    pub(super) side: usize,
    /// The number of the clause.
    pub(super) number: usize,
    /// The head of the iteration.
    pub(super) head: Point,
}

/// The point and the thread of a lookup.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) side: usize,
    pub(super) point: Point,
    /// The counts of the enclosing loops.
    pub(super) counts: Vec<Poly>,
    /// The thread. Shared arrays depend on its block, local ones on the thread itself.
    pub(super) who: Instance,
    pub(super) span: Option<Span>,
}

impl Resolver {
    /// Creates a resolver for sides whose operations have these results.
    pub(super) fn new(
        prover: Prover,
        sides: Vec<KernelSummary>,
        operations: &BTreeMap<Operation, Poly>,
    ) -> Self {
        let first_own = prover.symbols.next();
        // The dividend of a quotient may mention the quotient's own symbol; then the operation does not define it.
        let named = operations.iter().filter_map(|(one, result)| {
            let sym = result.as_symbol()?;
            (!one.mentions(sym)).then_some((sym, one))
        });
        Self {
            prover,
            sides,
            first_own,
            copies: Copies::default(),
            bound: BTreeSet::new(),
            implicit: BTreeMap::new(),
            spares: Vec::new(),
            quotients: BTreeMap::new(),
            conditional_quotients: BTreeMap::new(),
            named_quotients: BTreeMap::new(),
            definitions: named.map(|(sym, one)| (sym, one.clone())).collect(),
            bound_names: Vec::new(),
            inputs: BTreeMap::new(),
            tests: BTreeMap::new(),
            claim_tests: Vec::new(),
            case_values: Vec::new(),
            proves_before_splitting: false,
            lengths: BTreeMap::new(),
            symbolic_entry: None,
            total_under_proof: None,
        }
    }

    /// Returns the value of an element at a moment.
    pub(super) fn element(
        &mut self,
        array: ArrayId,
        index: &[Poly],
        moment: &Moment,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let side = &self.sides[moment.side];
        let name = side.names[array.position()].clone();
        if side.atomics.contains(&array) {
            return open(
                moment.span,
                format!("the value that atomic operations leave in `{name}`"),
            );
        }
        if depth > MAX_DEPTH {
            let message = format!(
                "the values that loops pass through `{name}` from one iteration to the next"
            );
            return open(moment.span, message);
        }
        let groups = self.candidates(array, moment);
        self.last_store(&groups, (array, index), moment, known, depth)
    }

    /// Returns the contents of an element before any store.
    pub(super) fn initial_contents(
        &mut self,
        array: ArrayId,
        index: &[Poly],
        moment: &Moment,
        known: &[Formula],
    ) -> Result<Value, Unresolved> {
        let side = &self.sides[moment.side];
        if side.spaces[array.position()] == Space::Global {
            return Ok(Value::atom(Atom::Input(array, index.to_vec())));
        }
        let name = side.names[array.position()].clone();
        match self.prover.proves(known, &Formula::False) {
            true => Ok(Value::default()),
            false => open(
                moment.span,
                format!("that a thread has stored to the element of `{name}` that is read here"),
            ),
        }
    }

    pub(super) fn indices(&mut self, index: &[Poly], instance: &Instance) -> Option<Vec<Poly>> {
        index.iter().map(|one| self.poly(one, instance)).collect()
    }

    /// Instantiates a value for a thread, and looks up its loads.
    pub(super) fn instantiate(
        &mut self,
        value: &Value,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let mut parts = Vec::new();
        for (product, ratio) in &value.terms {
            let mut known = known.to_vec();
            let mut scale = Value { terms: BTreeMap::from([(Vec::new(), *ratio)]) };
            // Conditions first: a factor multiplied by 0 is not looked up.
            for (atom, _) in product {
                let Atom::Truth(formula) = atom else { continue };
                let formula = self.formula(formula, instance).ok_or_else(too_large)?;
                let truth = self.truth(&formula, &known)?;
                scale = scale.times(&truth).ok_or_else(too_large)?;
                if !truth.is_zero() && truth != Value::constant(1) {
                    known.push(formula);
                }
            }
            if scale.is_zero() {
                continue;
            }
            let mut factors = Vec::new();
            for (atom, power) in product.iter().filter(|(atom, _)| !matches!(atom, Atom::Truth(_)))
            {
                let factor = self.instantiate_atom(atom, instance, side, &known, depth)?;
                factors.extend((0..*power).map(|_| factor.clone()));
            }
            parts.push((scale, factors, known));
        }
        // Infinities from memory are passed on, but no arithmetic on them is supported.
        let computes = match &parts[..] {
            [(scale, factors, _)] => {
                factors.len() > 1 || ![1, -1].map(Value::constant).contains(scale)
            }
            _ => true,
        };
        let mut sum = Value::default();
        for (scale, factors, known) in parts {
            let mut result = scale;
            for factor in factors {
                if computes && !self.is_number(&factor, &known) {
                    return open(None, INFINITE);
                }
                result = result.times(&factor).ok_or_else(too_large)?;
            }
            sum = sum.plus(&result).ok_or_else(too_large)?;
        }
        Ok(sum)
    }

    /// Returns the value of a condition: 1 or 0 if it is decided, symbolic if it depends on the variable of a sum.
    /// Otherwise the case is split.
    pub(super) fn truth(
        &mut self,
        formula: &Formula,
        known: &[Formula],
    ) -> Result<Value, Unresolved> {
        if self.proves_quickly(known, formula) {
            return Ok(Value::constant(1));
        }
        if self.proves_quickly(known, &formula.clone().not()) {
            return Ok(Value::default());
        }
        match self.is_bound(formula) {
            true => Ok(Value::atom(Atom::Truth(formula.clone()))),
            false => Err(Unresolved::Split(formula.clone())),
        }
    }

    fn instantiate_atom(
        &mut self,
        atom: &Atom,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        Ok(match atom {
            Atom::Scalar(_) | Atom::Number(_) => Value::atom(atom.clone()),
            Atom::Truth(_) => return open(None, "a condition"),
            Atom::Carried(..) => return open(None, "a value that a loop carries"),
            Atom::Unknown(why, _) => return open(None, why.clone()),
            Atom::Int(sym) => {
                let poly = self.poly(&Poly::symbol(*sym), instance).ok_or_else(too_large)?;
                Value::of_poly(&poly, &mut |_| None).ok_or_else(too_large)?
            }
            Atom::Input(array, index) => {
                let index = self.indices(index, instance).ok_or_else(too_large)?;
                Value::atom(Atom::Input(*array, index))
            }
            Atom::Entry(entry) => self.resolve_entry(entry, instance, known, depth)?,
            Atom::Load(load) => self.resolve_load(load, instance, side, known, depth)?,
            Atom::Call(name, arguments) if extremes::conditional_finiteness(name).is_some() => {
                let [condition, value] = &arguments[..] else { return open(None, "a condition") };
                let place = (side, known, depth);
                self.guarded(name, (condition, value), instance, place)?
            }
            Atom::Call(name, arguments) if name == ZERO_TIMES => {
                for argument in arguments {
                    let value = self.instantiate(argument, instance, side, known, depth)?;
                    if !self.is_number(&value, known) {
                        return open(None, INFINITE);
                    }
                }
                Value::default()
            }
            Atom::Call(name, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.instantiate(argument, instance, side, known, depth)?);
                }
                normal_call(name, values).ok_or_else(too_large)?
            }
            Atom::Sum(sum) => self.sum(sum, instance, side, known, depth)?,
            Atom::Fold(fold) => self.fold(fold, instance, side, known, depth)?,
        })
    }

    fn resolve_load(
        &mut self,
        load: &Load,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let index = self.indices(&load.index, instance).ok_or_else(too_large)?;
        let mut counts = Vec::new();
        for (_, count) in &load.point.loops {
            let count = Poly::symbol(*count);
            counts.push(self.poly(&count, instance).ok_or_else(too_large)?);
        }
        let (point, who) = (load.point.clone(), instance.clone());
        let moment = Moment { side, point, counts, who, span: Some(load.span) };
        self.element(load.array, &index, &moment, known, depth)
    }

    /// Contents of an element before a loop. While clauses of that very loop are proved, they stay symbolic.
    fn resolve_entry(
        &mut self,
        entry: &Entry,
        instance: &Instance,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let index = self.indices(&entry.index, instance).ok_or_else(too_large)?;
        let mut around = Vec::new();
        for (digit, value) in &entry.around {
            around.push((*digit, self.poly(value, instance).ok_or_else(too_large)?));
        }
        let is_head = self.total_under_proof.as_ref();
        let is_head =
            is_head.is_some_and(|one| (one.side, &one.head) == (entry.side, &entry.point));
        let before = self.symbolic_entry.as_ref();
        if is_head || before == Some(&(entry.side, entry.point.position.clone())) {
            let entry = Entry { index, around, ..entry.clone() };
            return Ok(Value::atom(Atom::Entry(Box::new(entry))));
        }
        let who = Instance { digits: around.into_iter().collect() };
        let count = |(_, count): &(usize, Sym)| who.digits.get(count).cloned();
        let counts: Option<Vec<Poly>> = entry.point.loops.iter().map(count).collect();
        let counts = counts.ok_or_else(too_large)?;
        let (side, point) = (entry.side, entry.point.clone());
        let moment = Moment { side, point, counts, who, span: None };
        let value = self.element(entry.array, &index, &moment, known, depth)?;
        // The clause was proved under this assumption.
        match self.has_finiteness(&value, entry.finiteness, known) {
            true => Ok(value),
            false => open(None, INFINITE),
        }
    }

    fn sum(
        &mut self,
        sum: &Sum,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let Sum { digit, high, body } = self.resolve_run(sum, instance, side, known, depth)?;
        let mut inside = known.to_vec();
        inside.extend(range(digit, &high).ok_or_else(too_large)?);
        if !self.is_number(&body, &inside) {
            return open(None, "a sum of possibly infinite values");
        }
        self.sum_over(digit, &high, &body, known)
    }

    /// Looks up the loads in the body of a sum or of a part of a fold.
    pub(super) fn resolve_run(
        &mut self,
        sum: &Sum,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Sum, Unresolved> {
        let high = self.length(&sum.high, instance, side).ok_or_else(too_large)?;
        let digit = self.variable();
        let mut inner = instance.clone();
        inner.digits.insert(sum.digit, Poly::symbol(digit));
        let mut inside = known.to_vec();
        inside.extend(range(digit, &high).ok_or_else(too_large)?);
        let body = self.instantiate(&sum.body, &inner, side, &inside, depth)?;
        Ok(Sum { digit, high, body })
    }

    /// Returns the length of a sum, which may be a quotient.
    fn length(&mut self, high: &Poly, instance: &Instance, side: usize) -> Option<Poly> {
        let value = self.poly(high, instance)?;
        let quotient = high.as_symbol().and_then(|sym| self.sides[side].lengths.get(&sym).cloned());
        if let (Some((top, stride)), Some(sym)) = (quotient, value.as_symbol()) {
            let quotient = (self.poly(&top, instance)?, self.poly(&stride, instance)?);
            self.lengths.insert(sym, quotient);
        }
        Some(value)
    }

    /// A new variable of a sum.
    pub(super) fn variable(&mut self) -> Sym {
        let digit = self.prover.symbols.fresh("z", Level::Thread);
        self.bound.insert(digit);
        digit
    }
}

/// `0 ≤ digit < high`.
pub(super) fn range(digit: Sym, high: &Poly) -> Option<[Formula; 2]> {
    let value = Poly::symbol(digit);
    let below = high.minus(&value)?.offset(-1)?;
    Some([Formula::ge(value), Formula::ge(below)])
}

pub(super) fn too_large() -> Unresolved {
    Unresolved::Open(None, "a value that is too large".to_owned())
}

pub(super) fn differences(one: &[Poly], other: &[Poly]) -> Option<Vec<Poly>> {
    if one.len() != other.len() {
        return None;
    }
    one.iter().zip(other).map(|(a, b)| a.minus(b)).collect()
}

/// A function of values, in normal form.
fn normal_call(name: &str, arguments: Vec<Value>) -> Option<Value> {
    match (name, &arguments[..]) {
        ("inverse", [one]) => one.inverse(),
        ("exp" | "exp2", [one]) if one.is_zero() => Some(Value::constant(1)),
        ("min" | "max", [_, _]) => Some(extreme(name, arguments)),
        _ => Some(Value::atom(Atom::Call(name.to_owned(), arguments))),
    }
}
