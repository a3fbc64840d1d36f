//! What an element holds at a place of the kernel: which store wrote it, and what that stored.
//!
//! # Why one pass backwards is enough
//!
//! Races, barriers, bounds and overflow are proved before this is asked. Then all stores of a launch to one element can be put in an order
//! by their place in the kernel (statements in order, iterations by their count): of two that lie in one interval between
//! barriers and belong to different threads, at most one accesses the element or both store the same, and of two that a
//! barrier separates the earlier in this order is the earlier in time. What a load sees is the last store before
//! it in that order, by any thread of the block (for global arrays: of any block, since two blocks that access an element,
//! one of them storing, would race).
//!
//! So stores are asked in descending order whether they are the one (`writer.rs`). If that depends on a condition, the cases
//! are looked at one by one.
//!
//! (The idea is that of assignment elimination in Kojima, Imanishi and Igarashi 2018, as an algorithm.)

use super::extremes::{self, extreme};
use super::instance::{Copies, Instance};
use super::side::Side;
use super::value::{Atom, Entry, Load, Point, Sum, Value};
use super::writer::{Found, Group};
use crate::engine::state::Operation;
use crate::kir::{ArrayId, Compare, Space};
use crate::logic::formula::Formula;
use crate::logic::poly::{Poly, Sym};
use crate::logic::side::Prover;
use crate::logic::symbols::Level;
use base::{Index, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Loads behind loads, at most.
const MAX_DEPTH: usize = 24;

/// Why a value is not known yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// It depends on this condition: look at both cases.
    Split(Formula),
    /// Where it is not known at all, and what could not be shown.
    Open(Option<Span>, String),
}

pub(super) fn open<T>(span: Option<Span>, message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Open(span, message.into()))
}

/// Looks up elements of one or two kernels, over the same symbols.
pub(super) struct Resolver {
    pub(super) prover: Prover,
    pub(super) sides: Vec<Side>,
    /// Symbols from here on are the resolver's own.
    pub(super) first_own: Sym,
    pub(super) copies: Copies,
    /// Variables of sums, and symbols that depend on them in ways their name does not show.
    pub(super) bound: BTreeSet<Sym>,
    pub(super) implicit: BTreeMap<Sym, BTreeSet<Sym>>,
    pub(super) spares: Vec<Sym>,
    /// Quotients: dividend and divisor of each.
    pub(super) quotients: BTreeMap<Sym, (Poly, Poly)>,
    pub(super) named_quotients: BTreeMap<(Poly, Poly), Sym>,
    /// What symbols of the kernels are results of.
    pub(super) results: BTreeMap<Sym, Operation>,
    /// Names of variables of sums in normal forms, outermost first.
    pub(super) names: Vec<Sym>,
    /// Symbols of inputs where numbers are compared.
    pub(super) inputs: BTreeMap<(ArrayId, Vec<Poly>), Sym>,
    /// Copies of symbols of comparisons: of which, and for whom.
    pub(super) tests: BTreeMap<Sym, (Sym, Instance)>,
    /// Comparisons of the claim at hand: the symbol and the difference.
    pub(super) asked: Vec<(Sym, Compare, Value)>,
    /// What symbols are in the case at hand.
    pub(super) scoped: Vec<(Sym, Poly)>,
    /// Whether a solver is asked before a case is split.
    pub(super) patient: bool,
    /// Lengths of sums that are quotients: `top / stride`, rounded up.
    pub(super) lengths: BTreeMap<Sym, (Poly, Poly)>,
    /// The loop whose clauses are being shown: what elements held before it stays as it is.
    pub(super) held: Option<(usize, Vec<usize>)>,
}

/// When and by whom an element is looked at.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) side: usize,
    pub(super) point: Point,
    /// What the counts of the loops around are.
    pub(super) counts: Vec<Poly>,
    /// The thread; its block matters for shared arrays, itself for local ones.
    pub(super) who: Instance,
    pub(super) span: Option<Span>,
}

impl Resolver {
    /// For sides whose operations have these results.
    pub(super) fn new(
        prover: Prover,
        sides: Vec<Side>,
        operations: &BTreeMap<Operation, Poly>,
    ) -> Self {
        let first_own = prover.symbols.next();
        // A quotient may be a symbol that its own dividend mentions; that symbol is not defined by it.
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
            named_quotients: BTreeMap::new(),
            results: named.map(|(sym, one)| (sym, one.clone())).collect(),
            names: Vec::new(),
            inputs: BTreeMap::new(),
            tests: BTreeMap::new(),
            asked: Vec::new(),
            scoped: Vec::new(),
            patient: false,
            lengths: BTreeMap::new(),
            held: None,
        }
    }

    /// The value of an element at a moment.
    pub(super) fn element(
        &mut self,
        array: ArrayId,
        index: &[Poly],
        moment: &Moment,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Stop> {
        let side = &self.sides[moment.side];
        let name = side.names[array.position()].clone();
        if side.atomics.contains(&array) {
            return open(moment.span, format!("what atomic operations leave in `{name}`"));
        }
        if depth > MAX_DEPTH {
            let message =
                format!("what loops hand on through `{name}` from iteration to iteration");
            return open(moment.span, message);
        }
        let groups = self.candidates(array, moment);
        self.last_of(&groups, (array, index), moment, known, depth)
    }

    fn last_of(
        &mut self,
        groups: &[Group],
        (array, index): (ArrayId, &[Poly]),
        moment: &Moment,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Stop> {
        let Some((group, earlier)) = groups.split_first() else {
            return self.at_first(array, index, moment, known);
        };
        let group = match group {
            Group::Stores(stores) => stores,
            Group::Head(record, count) => {
                return self.covered((*record, Some(count)), (array, index), moment, known, depth);
            }
            Group::Exit(record) => {
                return self.covered((*record, None), (array, index), moment, known, depth);
            }
        };
        let mut found: Option<(usize, Instance, Formula)> = None;
        for candidate in group {
            match self.find(*candidate, index, moment, known) {
                Found::Missed => {}
                Found::Hit(instance, condition) if found.is_none() => {
                    found = Some((candidate.site, instance, condition));
                }
                // Which of two is the one depends on a condition.
                Found::Hit(..)
                    if found.as_ref().is_some_and(|(.., first)| {
                        *first != Formula::True && !self.is_bound(first)
                    }) =>
                {
                    let first = found.as_ref().and_then(|(.., first)| first.conjuncts().first());
                    return Err(Stop::Split(first.cloned().unwrap_or(Formula::True)));
                }
                Found::Hit(..) | Found::Neither => {
                    let side = &self.sides[moment.side];
                    let span = side.sites[candidate.site].span;
                    let name = &side.names[array.position()];
                    let message = format!(
                        "whether and by whom the element of `{name}` is stored here that is {}",
                        if moment.span.is_some() { "read later" } else { "looked at in the end" }
                    );
                    return open(Some(span), message);
                }
            }
        }
        let Some((site, instance, condition)) = found else {
            return self.last_of(earlier, (array, index), moment, known, depth);
        };
        let value = self.sides[moment.side].sites[site].value.clone();
        let mut condition = condition;
        if self.patient && condition != Formula::True && !self.is_bound(&condition) {
            if self.shows(known, &condition) {
                condition = Formula::True;
            } else if condition.conjuncts().iter().any(|one| self.shows(known, &one.clone().not()))
            {
                return self.last_of(earlier, (array, index), moment, known, depth);
            }
        }
        if condition == Formula::True {
            return self.instantiated(&value, &instance, moment.side, known, depth + 1);
        }
        if !self.is_bound(&condition) {
            let first = condition.conjuncts().first().cloned();
            return Err(Stop::Split(first.unwrap_or(condition)));
        }
        // Of what only a sum's variable decides there are no cases to look at one by one.
        if self.shows(known, &condition) {
            return self.instantiated(&value, &instance, moment.side, known, depth + 1);
        }
        let with = self.with(known, &condition);
        let then = self.instantiated(&value, &instance, moment.side, &with, depth + 1)?;
        let otherwise = self.with(known, &condition.clone().not());
        let rest = self.last_of(earlier, (array, index), moment, &otherwise, depth)?;
        Value::chosen(&condition, &then, &rest).ok_or_else(too_large)
    }

    /// What nobody has stored to before.
    fn at_first(
        &mut self,
        array: ArrayId,
        index: &[Poly],
        moment: &Moment,
        known: &[Formula],
    ) -> Result<Value, Stop> {
        let side = &self.sides[moment.side];
        if side.spaces[array.position()] == Space::Global {
            return Ok(Value::atom(Atom::Input(array, index.to_vec())));
        }
        let name = side.names[array.position()].clone();
        match self.prover.proves(known, &Formula::False) {
            true => Ok(Value::default()),
            false => open(
                moment.span,
                format!("that somebody has stored the element of `{name}` read here"),
            ),
        }
    }

    pub(super) fn indices(&mut self, index: &[Poly], instance: &Instance) -> Option<Vec<Poly>> {
        index.iter().map(|one| self.poly(one, instance)).collect()
    }

    /// A value with its loads looked up, for a particular thread.
    pub(super) fn instantiated(
        &mut self,
        value: &Value,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Stop> {
        let mut parts = Vec::new();
        for (product, ratio) in &value.terms {
            let mut known = known.to_vec();
            let mut scale = Value { terms: BTreeMap::from([(Vec::new(), *ratio)]) };
            // Conditions first: what is multiplied by 0 is not looked up.
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
                let factor = self.atom(atom, instance, side, &known, depth)?;
                factors.extend((0..*power).map(|_| factor.clone()));
            }
            parts.push((scale, factors, known));
        }
        // Infinities that come out of memory are handed on, but nothing is computed with them.
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
                    let what =
                        "what is computed with infinity, or with the greatest of perhaps no values";
                    return open(None, what);
                }
                result = result.times(&factor).ok_or_else(too_large)?;
            }
            sum = sum.plus(&result).ok_or_else(too_large)?;
        }
        Ok(sum)
    }

    /// A condition: decided, left to the sum it is in, or to be split.
    pub(super) fn truth(&mut self, formula: &Formula, known: &[Formula]) -> Result<Value, Stop> {
        if self.shows_quickly(known, formula) {
            return Ok(Value::constant(1));
        }
        if self.shows_quickly(known, &formula.clone().not()) {
            return Ok(Value::default());
        }
        match self.is_bound(formula) {
            true => Ok(Value::atom(Atom::Truth(formula.clone()))),
            false => Err(Stop::Split(formula.clone())),
        }
    }

    fn atom(
        &mut self,
        atom: &Atom,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Stop> {
        Ok(match atom {
            Atom::Scalar(_) | Atom::Number(_) => Value::atom(atom.clone()),
            Atom::Truth(_) => return open(None, "a condition"),
            Atom::Carried(..) => return open(None, "what a loop hands on"),
            Atom::Unknown(why, _) => return open(None, why.clone()),
            Atom::Int(sym) => {
                let poly = self.poly(&Poly::symbol(*sym), instance).ok_or_else(too_large)?;
                Value::of_poly(&poly, &mut |_| None).ok_or_else(too_large)?
            }
            Atom::Input(array, index) => {
                let index = self.indices(index, instance).ok_or_else(too_large)?;
                Value::atom(Atom::Input(*array, index))
            }
            Atom::Entry(entry) => self.entered(entry, instance, known, depth)?,
            Atom::Load(load) => self.loaded(load, instance, side, known, depth)?,
            Atom::Call(name, arguments) if extremes::extent(name).is_some() => {
                let [condition, value] = &arguments[..] else { return open(None, "a condition") };
                let place = (side, known, depth);
                self.guarded(name, (condition, value), instance, place)?
            }
            Atom::Call(name, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.instantiated(argument, instance, side, known, depth)?);
                }
                called(name, values).ok_or_else(too_large)?
            }
            Atom::Sum(sum) => self.sum(sum, instance, side, known, depth)?,
            Atom::Fold(fold) => self.fold(fold, instance, side, known, depth)?,
        })
    }

    fn loaded(
        &mut self,
        load: &Load,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Stop> {
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

    /// What an element held before a loop. Where clauses of that very loop are shown it stands for itself.
    fn entered(
        &mut self,
        entry: &Entry,
        instance: &Instance,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Stop> {
        let index = self.indices(&entry.index, instance).ok_or_else(too_large)?;
        let mut around = Vec::new();
        for (digit, value) in &entry.around {
            around.push((*digit, self.poly(value, instance).ok_or_else(too_large)?));
        }
        if self.held.as_ref() == Some(&(entry.side, entry.point.position.clone())) {
            let entry = Entry { index, around, ..entry.clone() };
            return Ok(Value::atom(Atom::Entry(Box::new(entry))));
        }
        let who = Instance { digits: around.into_iter().collect() };
        let count = |(_, count): &(usize, Sym)| who.digits.get(count).cloned();
        let counts: Option<Vec<Poly>> = entry.point.loops.iter().map(count).collect();
        let counts = counts.ok_or_else(too_large)?;
        let (side, point) = (entry.side, entry.point.clone());
        let moment = Moment { side, point, counts, who, span: None };
        self.element(entry.array, &index, &moment, known, depth)
    }

    fn sum(
        &mut self,
        sum: &Sum,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Stop> {
        let Sum { digit, high, body } = self.ranged(sum, instance, side, known, depth)?;
        let mut inside = known.to_vec();
        inside.extend(range(digit, &high).ok_or_else(too_large)?);
        if !self.is_number(&body, &inside) {
            return open(None, "a sum of what may be infinite");
        }
        self.summed(digit, &high, &body, known)
    }

    /// A sum, or a part of a fold, with its body looked up.
    pub(super) fn ranged(
        &mut self,
        sum: &Sum,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Sum, Stop> {
        let high = self.length(&sum.high, instance, side).ok_or_else(too_large)?;
        let digit = self.variable();
        let mut inner = instance.clone();
        inner.digits.insert(sum.digit, Poly::symbol(digit));
        let mut inside = known.to_vec();
        inside.extend(range(digit, &high).ok_or_else(too_large)?);
        let body = self.instantiated(&sum.body, &inner, side, &inside, depth)?;
        Ok(Sum { digit, high, body })
    }

    /// How long a sum is, which may be a quotient.
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
    let own = Poly::symbol(digit);
    let below = high.minus(&own)?.offset(-1)?;
    Some([Formula::ge(own), Formula::ge(below)])
}

pub(super) fn too_large() -> Stop {
    Stop::Open(None, "a value that is too large".to_owned())
}

pub(super) fn differences(one: &[Poly], other: &[Poly]) -> Option<Vec<Poly>> {
    if one.len() != other.len() {
        return None;
    }
    one.iter().zip(other).map(|(a, b)| a.minus(b)).collect()
}

/// A function of values, in normal form.
fn called(name: &str, arguments: Vec<Value>) -> Option<Value> {
    match (name, &arguments[..]) {
        ("inverse", [one]) => one.inverse(),
        ("exp" | "exp2", [one]) if one.is_zero() => Some(Value::constant(1)),
        ("min" | "max", [_, _]) => Some(extreme(name, arguments)),
        _ => Some(Value::atom(Atom::Call(name.to_owned(), arguments))),
    }
}
