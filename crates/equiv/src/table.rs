//! Numbering of the common inputs of two sides, and the domain in which a side runs on them.
//!
//! Elements of a tensor are numbered in index order, for all strides. The gaps of a strided tensor
//! belong to no element: each such place is an extra input of its side, so an output that depends on it
//! differs.

use crate::assumed_ranges::{self, AssumedRange};
use crate::decisions::Decisions;
use crate::formula::{Formula, FormulaError};
use crate::mismatch::{DifferingProperty, Mismatch};
use crate::nearest::rounded_scalar;
use crate::number_sets::numbers_of;
use crate::side::{Assumption, Input, InputKind, Side, StructuredElement};
use crate::symbolic::Symbolic;
use ir::Scalar;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use term::{Inputs, Numbers, Term, Terms};

/// Largest tensor with `distinct`: each pair of its elements is a condition.
const MAX_DISTINCT: usize = 512;

/// All inputs of both sides, and the position of each by name.
pub(crate) struct Table {
    pub(crate) inputs: Arc<Inputs>,
    /// The position of each input's first element, and the length of a tensor.
    first: FxHashMap<String, (usize, Option<u32>)>,
    /// Declared bounds of inputs.
    pub(crate) assumed_ranges: Arc<Vec<AssumedRange>>,
    /// Assumptions of a comparison.
    assumptions: Vec<Assumption>,
    /// The conditions of these assumptions. They are the first terms of every domain, so they mean the same
    /// in all domains.
    pub(crate) conditions: Vec<Term>,
    /// For each side, the first gap between elements, by tensor name.
    gaps: [FxHashMap<String, usize>; 2],
    /// For each side, the tickets of its blocks, if these may take any.
    tickets: [std::ops::Range<usize>; 2],
    /// Structures of tensors, by name.
    structures: FxHashMap<String, Arc<[StructuredElement]>>,
}

impl Table {
    /// Numbers the inputs of two sides.
    ///
    /// # Errors
    /// If the sides do not fit together.
    pub(crate) fn new(sides: [&Side<'_>; 2]) -> Result<Self, Mismatch> {
        let mut inputs = Inputs::new();
        let mut known: FxHashMap<&str, &Input> = FxHashMap::default();
        let mut first = FxHashMap::default();
        let mut structures = FxHashMap::default();
        for input in sides.iter().flat_map(|side| side.own_inputs()) {
            let name = input.name.as_str();
            let numbers = || numbers_of(sides, name);
            if let Some(other) = known.get(name) {
                check_same_input(other, input)?;
                continue;
            }
            known.insert(name, input);
            if let InputKind::Tensor { structure: Some(structure), .. } = &input.kind {
                structures.insert(name.to_owned(), Arc::clone(structure));
            }
            let place = match &input.kind {
                InputKind::Related(_) => continue,
                InputKind::Scalar => (inputs.scalar(name), None),
                InputKind::Tensor { shape, .. } => {
                    let length = u32::try_from(shape.iter().product::<u64>());
                    let length = length.map_err(|_| Mismatch::TooManyInputs)?;
                    (inputs.tensor(name, length), Some(length))
                }
            };
            let position = place.0.map_err(|_| Mismatch::TooManyInputs)?.position();
            if let InputKind::Tensor { shape, .. } = &input.kind
                && !shape.contains(&0)
            {
                inputs.describe(shape, numbers());
            } else if input.kind == InputKind::Scalar {
                inputs.describe(&[], numbers());
            }
            first.insert(name.to_owned(), (position, place.1));
        }
        let gaps = [number_gaps(sides[0], &mut inputs)?, number_gaps(sides[1], &mut inputs)?];
        let tickets =
            [number_tickets(sides[0], &mut inputs)?, number_tickets(sides[1], &mut inputs)?];
        let (inputs, assumed_ranges) = (Arc::new(inputs), Arc::default());
        let (assumptions, conditions) = (Vec::new(), Vec::new());
        Ok(Self {
            inputs,
            first,
            assumed_ranges,
            assumptions,
            conditions,
            gaps,
            tickets,
            structures,
        })
    }

    /// Adds the conditions of assumptions, for a comparison.
    ///
    /// # Errors
    /// If an assumption does not fit the inputs.
    pub(crate) fn with_conditions(mut self, assumptions: &[Assumption]) -> Result<Self, Mismatch> {
        let mut terms = Terms::new(Arc::clone(&self.inputs));
        self.conditions = self.all_conditions(assumptions, &mut terms)?;
        self.assumptions = assumptions.to_vec();
        Ok(self)
    }

    /// Adds the integer bounds that assumptions imply.
    ///
    /// # Errors
    /// If an assumption names something other than an input.
    pub(crate) fn with_ranges(mut self, assumptions: &[Assumption]) -> Result<Self, Mismatch> {
        self.assumed_ranges = Arc::new(assumed_ranges::find(&self, assumptions)?);
        Ok(self)
    }

    /// Creates the domain of a side for its first launch.
    ///
    /// # Errors
    /// If a relation names something other than a scalar input.
    pub(crate) fn domain(
        &self,
        side: &Side<'_>,
        number: usize,
        snap: bool,
    ) -> Result<Symbolic, Mismatch> {
        self.new_domain(side, number, snap, false)
    }

    /// Like [`domain`](Self::domain), with scalars defined by expressions without names rounded to the
    /// nearest floats.
    ///
    /// # Errors
    /// If a relation names something other than a scalar input.
    pub(crate) fn domain_of_floats(
        &self,
        side: &Side<'_>,
        number: usize,
        snap: bool,
    ) -> Result<Symbolic, Mismatch> {
        self.new_domain(side, number, snap, true)
    }

    fn new_domain(
        &self,
        side: &Side<'_>,
        number: usize,
        snap: bool,
        rounds: bool,
    ) -> Result<Symbolic, Mismatch> {
        let mut domain = Symbolic::new(Arc::clone(&self.inputs), FxHashMap::default(), snap);
        let mut inputs = side.launches().flat_map(|launch| &launch.inputs);
        domain.decisions =
            inputs.any(|input| rounded_scalar(input).is_some()).then(Decisions::default);
        domain.rounds_scalars = rounds;
        // The conditions come first in every domain: their terms, as node numbers, are used in all domains.
        if self.all_conditions(&self.assumptions, &mut domain.terms)? != self.conditions {
            return Err(Mismatch::Unfollowed);
        }
        domain.assumed_ranges = Arc::clone(&self.assumed_ranges);
        domain.tickets = self.tickets[number.min(1)].clone();
        self.begin(&mut domain, side, 0, number)?;
        Ok(domain)
    }

    /// Defines the inputs of a launch, apart from those that earlier launches leave.
    ///
    /// # Errors
    /// If a relation names something other than a scalar input.
    pub(crate) fn begin(
        &self,
        domain: &mut Symbolic,
        side: &Side<'_>,
        launch: usize,
        number: usize,
    ) -> Result<(), Mismatch> {
        let inputs = side.launches().nth(launch).map_or(&[][..], |one| &one.inputs);
        let unwritten = || inputs.iter().filter(|input| side.writer(launch, &input.name).is_none());
        let mut sources = FxHashMap::default();
        for input in unwritten() {
            match &input.kind {
                InputKind::Scalar | InputKind::Tensor { order: None, .. } => {
                    sources.insert(input.source, self.first[&input.name].0);
                }
                InputKind::Related(_) | InputKind::Tensor { .. } => {}
            }
        }
        domain.begin(sources);
        for input in unwritten() {
            match &input.kind {
                InputKind::Related(formula) => {
                    let term = match rounded_scalar(input).filter(|_| domain.rounds_scalars) {
                        Some(nearest) => domain.terms.float(nearest),
                        None => self.scalar_term(formula, &mut domain.terms)?,
                    };
                    domain.define_input(input.source, vec![term]);
                }
                InputKind::Tensor { order: Some(order), .. } => {
                    let positions = self.positions(number, &input.name, order);
                    let terms = &mut domain.terms;
                    let zero = terms.integer(0);
                    let term = |at| terms.inputs().at(at).map(|input| terms.input(input));
                    let term = |at: Option<usize>| at.map_or(Some(zero), term);
                    let values = positions.map(|at| term(at).unwrap_or(terms.undefined()));
                    let values = values.collect();
                    domain.define_input(input.source, values);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the position of each element of a side's memory among all inputs; `None` where it is zero.
    pub(crate) fn positions<'t>(
        &'t self,
        side: usize,
        name: &'t str,
        order: &'t [Option<u32>],
    ) -> impl Iterator<Item = Option<usize>> + 't {
        let mut gaps = self.gaps[side].get(name).copied().unwrap_or(0);
        let (first, structure) = (self.first(name), self.structures.get(name));
        order.iter().map(move |element| match element {
            Some(index) => {
                let cell = structure.and_then(|structure| structure.get(*index as usize));
                position_of_element(first, cell, *index as usize)
            }
            None => {
                gaps += 1;
                Some(gaps - 1)
            }
        })
    }

    /// Returns the position of a scalar or tensor element among all inputs; `None` where it is zero.
    pub(crate) fn position(&self, name: &str, element: usize) -> Option<usize> {
        let cell = self.structures.get(name).and_then(|structure| structure.get(element));
        position_of_element(self.first(name), cell, element)
    }

    /// Returns `true` if a tensor has a structure.
    pub(crate) fn has_structure(&self, name: &str) -> bool {
        self.structures.contains_key(name)
    }

    /// Returns `true` if no tensor's structure determines the input at a position.
    pub(crate) fn is_free(&self, position: usize) -> bool {
        self.structures.iter().all(|(name, structure)| {
            let element = position.checked_sub(self.first(name)).filter(|at| *at < structure.len());
            element.is_none_or(|element| self.position(name, element) == Some(position))
        })
    }

    /// Returns the position of an input's first element among all inputs.
    pub(crate) fn first(&self, name: &str) -> usize {
        self.first.get(name).map_or(0, |place| place.0)
    }

    /// Returns the number of elements of an input; 1 for a scalar.
    pub(crate) fn length(&self, name: &str) -> usize {
        let length = self.first.get(name).and_then(|place| place.1);
        length.map_or(1, |length| length as usize)
    }

    /// Returns the term of an expression over scalars and the first elements of tensors.
    pub(crate) fn scalar_term(
        &self,
        formula: &Formula,
        terms: &mut Terms,
    ) -> Result<Term, FormulaError> {
        let names = self.terms_of_names(formula, terms, 0);
        formula.term(terms, &|name| names.get(name).copied())
    }

    /// Like [`scalar_term`](Self::scalar_term), over inputs alone: the first element of a tensor stands for
    /// all nonzero ones.
    pub(crate) fn term_of_inputs(
        &self,
        formula: &Formula,
        terms: &mut Terms,
    ) -> Result<Term, FormulaError> {
        let names: FxHashMap<String, Term> = formula
            .names()
            .into_iter()
            .filter_map(|name| {
                let input = terms.inputs().at(self.first.get(&name)?.0)?;
                Some((name, terms.input(input)))
            })
            .collect();
        formula.term(terms, &|name| names.get(name).copied())
    }

    /// Returns terms for the names in a formula; a tensor stands for its element of this number.
    fn terms_of_names(
        &self,
        formula: &Formula,
        terms: &mut Terms,
        element: usize,
    ) -> FxHashMap<String, Term> {
        let names = formula.names().into_iter().filter_map(|name| {
            let element = if self.first.get(&name)?.1.is_some() { element } else { 0 };
            let term = self.element(&name, element, terms)?;
            Some((name, term))
        });
        names.collect()
    }

    /// Returns the term of a scalar or tensor element.
    fn element(&self, name: &str, element: usize, terms: &mut Terms) -> Option<Term> {
        match self.position(name, element) {
            Some(at) => terms.inputs().at(at).map(|input| terms.input(input)),
            None => Some(terms.integer(0)),
        }
    }

    /// Returns the conditions that the elements of a tensor are pairwise different.
    fn distinct(&self, name: &str, terms: &mut Terms) -> Result<Vec<Term>, Mismatch> {
        if self.length(name) > MAX_DISTINCT {
            return Err(Mismatch::Distinct { name: name.to_owned(), most: MAX_DISTINCT });
        }
        let elements: Vec<Term> = (0..self.length(name))
            .filter_map(|element| self.element(name, element, terms))
            .collect();
        let mut conditions = Vec::new();
        for (at, &one) in elements.iter().enumerate() {
            for &other in &elements[at + 1..] {
                let same = terms.compare(term::Relation::Equal, one, other);
                conditions.push(terms.not(same));
            }
        }
        Ok(conditions)
    }

    /// Returns the conditions of all assumptions.
    ///
    /// # Errors
    /// As for [`conditions`](Self::conditions).
    pub(crate) fn all_conditions(
        &self,
        assumptions: &[Assumption],
        terms: &mut Terms,
    ) -> Result<Vec<Term>, Mismatch> {
        let mut all = Vec::new();
        for assumption in assumptions {
            all.extend(self.conditions(assumption, terms)?);
        }
        Ok(all)
    }

    /// Returns the conditions that an assumption stands for: one for each element of its tensors.
    ///
    /// # Errors
    /// If its tensors have different sizes, or if it names something other than an input.
    pub(crate) fn conditions(
        &self,
        assumption: &Assumption,
        terms: &mut Terms,
    ) -> Result<Vec<Term>, Mismatch> {
        let formula = &assumption.condition;
        if let Some(name) = formula.distinct() {
            return self.distinct(name, terms);
        }
        let lengths: BTreeSet<u32> = formula
            .names()
            .iter()
            .filter_map(|name| self.first.get(name).and_then(|place| place.1))
            .collect();
        if lengths.len() > 1 {
            return Err(Mismatch::Sizes { formula: formula.to_string() });
        }
        let count = lengths.first().map_or(1, |length| *length as usize);
        let mut conditions = Vec::new();
        for element in 0..count {
            let names = self.terms_of_names(formula, terms, element);
            conditions.push(formula.term(terms, &|name| names.get(name).copied())?);
        }
        Ok(conditions)
    }
}

/// Numbers the gaps between the elements of a side's strided tensors. Returns the first gap of each tensor.
fn number_gaps(side: &Side<'_>, inputs: &mut Inputs) -> Result<FxHashMap<String, usize>, Mismatch> {
    let mut gaps = FxHashMap::default();
    let mut orders: FxHashMap<&str, &InputKind> = FxHashMap::default();
    for input in side.own_inputs() {
        let InputKind::Tensor { order: Some(order), .. } = &input.kind else { continue };
        if let Some(other) = orders.insert(&input.name, &input.kind) {
            if *other != input.kind {
                return Err(Mismatch::Strides { name: input.name.clone() });
            }
            continue;
        }
        let count = order.iter().filter(|one| one.is_none()).count();
        let name = format!("memory between elements of {}", input.name);
        let count = u32::try_from(count).map_err(|_| Mismatch::TooManyInputs)?;
        let place = inputs.tensor(&name, count).map_err(|_| Mismatch::TooManyInputs)?;
        gaps.insert(input.name.clone(), place.position());
    }
    Ok(gaps)
}

/// Numbers the tickets of a side's blocks, if these may take any, and returns their positions.
fn number_tickets(
    side: &Side<'_>,
    inputs: &mut Inputs,
) -> Result<std::ops::Range<usize>, Mismatch> {
    let takers = side.launches().filter(|launch| exec::may_take_tickets(launch.program));
    let Some(blocks) = takers.map(|taker| taker.launch.blocks()).max() else { return Ok(0..0) };
    let count = u32::try_from(blocks).map_err(|_| Mismatch::TooManyInputs)?;
    let place = inputs.tensor("the ticket of a block", count);
    let first = place.map_err(|_| Mismatch::TooManyInputs)?.position();
    // The last ticket is a known number: each run chooses the block that takes it.
    let most = i64::from(count).saturating_sub(2).max(0);
    inputs.describe(&[count.into()], Numbers::Integers(0, most));
    Ok(first..first + count as usize)
}

/// Checks that an input of both sides is the same on both.
fn check_same_input(one: &Input, other: &Input) -> Result<(), Mismatch> {
    let wrong =
        |property: DifferingProperty| Err(Mismatch::Different { name: one.name.clone(), property });
    match (&one.kind, &other.kind) {
        (
            InputKind::Tensor { shape: a, order: x, structure },
            InputKind::Tensor { shape: b, order: y, structure: other },
        ) => {
            if a.iter().product::<u64>() != b.iter().product::<u64>() {
                return wrong(DifferingProperty::Size);
            }
            // Elements with shared memory are equal on one side, so they must share it on both.
            if (repeats(a, x) || repeats(b, y)) && (a != b || x != y) {
                return wrong(DifferingProperty::Sharing);
            }
            if structure != other {
                return wrong(DifferingProperty::Structure);
            }
        }
        (a, b) if a == b => {}
        (InputKind::Related(_), _) | (_, InputKind::Related(_)) => {
            return wrong(DifferingProperty::Relation);
        }
        _ => return wrong(DifferingProperty::Kind),
    }
    if !same_numbers(one.scalar, other.scalar) {
        return wrong(DifferingProperty::Type);
    }
    Ok(())
}

/// Returns `true` if elements share memory.
fn repeats(shape: &[u64], order: &Option<Vec<Option<u32>>>) -> bool {
    let stored = order.iter().flatten().flatten().count() as u64;
    order.is_some() && stored != shape.iter().product::<u64>()
}

/// Returns `true` if one symbol can stand for elements of both types: floats are reals in every format, and
/// integers are the bits as interpreted by their type.
fn same_numbers(a: Scalar, b: Scalar) -> bool {
    matches!((a, b), (Scalar::Float(_), Scalar::Float(_))) || a == b
}

/// Returns the position among all inputs of an element of a tensor that begins at `first`; `None` where it is zero.
fn position_of_element(
    first: usize,
    cell: Option<&StructuredElement>,
    element: usize,
) -> Option<usize> {
    match cell {
        Some(StructuredElement::Zero) => None,
        Some(StructuredElement::Element(other)) => Some(first + *other as usize),
        None => Some(first + element),
    }
}
