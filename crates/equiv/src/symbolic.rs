//! The symbolic domain of the engine: values are terms over the inputs of a kernel.
//!
//! A float constant that is a correctly rounded transcendental number becomes that number ([`Symbolic::snapped`]).
//!
//! Threads often compute the same value: all lanes of a warp the same maximum, all warps the same exponential. So
//! an operation with the same operands in all lanes is done once, and earlier results are looked up. Additions of a
//! product to a sum are not: they are most of a kernel, and a lookup costs more than making the term. Sums of two equally
//! long sums are: lanes that exchange partial sums add the same two.

mod bounded;
mod choosing;
mod divided;
mod enumerated;
mod equations;
mod fields;
mod given;
mod meaning;
mod narrowed;
mod notes;
mod operation;
mod places;
mod products;
mod same;
mod scattered;
mod steps;
#[cfg(test)]
mod tests;

use crate::assumed_properties::RunAssumptions;
use crate::assumed_ranges::AssumedRange;
use crate::conditions::Conditions;
use crate::decisions::{Decisions, has_inputs};
use crate::expf::Steps;
use crate::handles::{Handles, TermOrProduct};
use crate::marks::Marks;
use crate::place_integers::PlaceIntegers;
use crate::ranges::{Range, Ranges};
use crate::rounding::Constants;
use crate::term_memory::TermMemory;
use crate::undefined::FullyDefined;
use crate::{constants, functions, operations};
use decide::{Deadline, Numbering, Suspicion};
use exec::domain::{
    Binary, Bounds, Connective, DataPlace, Domain, InputSource, Inputs as Given, Instruction,
    Numbers, PlaceDifference, Truths, Unary, Value, Values,
};
use exec::{Mask, Place, concrete};
use ir::{ArgumentRange, Format, RealFunction, Relation, Rounding, Width};
use operation::Operation;
use products::uniform;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use term::{Inputs, NodeId, Number, Term, Terms};

/// The symbolic domain.
#[derive(Debug)]
pub struct Symbolic {
    /// The terms made so far.
    pub terms: Terms,
    /// The positions of the launch's inputs among all inputs.
    sources: FxHashMap<InputSource, usize>,
    /// Inputs of the launch defined by terms of others, element by element.
    given: FxHashMap<InputSource, given::Elements>,
    /// Positions of integer inputs, with the range of their type.
    integers: Vec<(std::ops::Range<usize>, Range)>,
    /// Declared ranges of integers, beyond their types.
    pub(crate) assumed_ranges: Arc<Vec<AssumedRange>>,
    ranges: Ranges,
    divided: divided::Divided,
    /// Tensor elements read by a computed index, by the tensor's first element and the index.
    elements: FxHashMap<(usize, Term), Value>,
    /// Terms of element indices, by their coefficients.
    places: FxHashMap<(Vec<(NodeId, i128)>, i128), Term>,
    /// Integers in the places of writes, numbered.
    place_integers: PlaceIntegers,
    /// Positions of the inputs that represent tickets of blocks.
    pub(crate) tickets: std::ops::Range<usize>,
    handles: Handles,
    /// Earlier results, by operation and operands.
    results: FxHashMap<(Operation, [Term; 3]), Value>,
    bits: fields::Bits,
    /// Set if float literals may stand for transcendental numbers.
    snap: bool,
    snapped: BTreeSet<constants::MeantNumber>,
    /// The place of the current instruction.
    place: Option<Place>,
    pub(crate) constants: Constants,
    expf: Steps,
    /// Conditions as propositional formulas.
    conditions: Conditions,
    /// Set for `check`: floats behave as on a machine, including NaN, and decide nothing.
    pub(crate) machine_floats: bool,
    /// Number of unconstrained conditions so far.
    free_conditions: i64,
    fully_defined: FullyDefined,
    /// Results of earlier equality queries.
    equalities: FxHashMap<[Term; 2], Option<bool>>,
    /// Finds structurally equal terms.
    numbering: Numbering,
    /// Finds terms that are likely different.
    suspicion: Suspicion,
    /// The deadline for queries about values.
    pub(crate) deadline: Deadline,
    /// Marks on results of functions known only in a range, if this run has them.
    pub(crate) marks: Option<Marks>,
    /// Set if a function known only in a range occurred.
    pub(crate) has_ranges: bool,
    pub(crate) assumed_properties: RunAssumptions,
    /// Outcomes of decisions, recorded if the user gives a scalar as an exact number that no float has.
    pub(crate) decisions: Option<Decisions>,
    /// Set in a run that rounds these scalars to the nearest floats.
    pub(crate) rounds_scalars: bool,
    pub(crate) memory: TermMemory,
}

impl Symbolic {
    /// Creates a domain for a launch whose inputs are at these positions of `inputs`.
    #[must_use]
    pub fn new(inputs: Arc<Inputs>, sources: FxHashMap<InputSource, usize>, snap: bool) -> Self {
        Self {
            handles: Handles::new(inputs.len()),
            terms: Terms::new(inputs),
            sources,
            given: FxHashMap::default(),
            integers: Vec::new(),
            assumed_ranges: Arc::default(),
            ranges: Ranges::default(),
            divided: Default::default(),
            elements: FxHashMap::default(),
            places: FxHashMap::default(),
            place_integers: Default::default(),
            tickets: 0..0,
            results: FxHashMap::default(),
            bits: fields::Bits::default(),
            snap,
            snapped: BTreeSet::new(),
            place: None,
            constants: Constants::default(),
            expf: Steps::default(),
            conditions: Conditions::default(),
            machine_floats: false,
            free_conditions: 0,
            fully_defined: FullyDefined::default(),
            equalities: FxHashMap::default(),
            numbering: Numbering::default(),
            suspicion: Suspicion::default(),
            deadline: Deadline::default(),
            marks: None,
            has_ranges: false,
            assumed_properties: RunAssumptions::new(),
            decisions: None,
            rounds_scalars: false,
            memory: TermMemory::default(),
        }
    }

    /// Returns the term behind a handle.
    #[inline]
    pub fn term(&mut self, value: Value) -> Term {
        match self.handles.find(&self.terms, value) {
            TermOrProduct::Term(term) => term,
            TermOrProduct::Product(factors) => self.product(value, factors),
        }
    }

    /// Makes the term of a product that had none.
    #[cold]
    fn product(&mut self, value: Value, factors: [Value; 2]) -> Term {
        let made = self.make(Operation::Binary(Binary::Mul), factors);
        let product = self.term(made);
        self.handles.set_term(value, product);
        product
    }

    /// Returns `true` if there were more values than handles; then values are missing.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.handles.exhausted
    }

    /// Applies an operation in some lanes.
    fn apply_in_lanes<const N: usize>(
        &mut self,
        operation: Operation,
        operands: [&Values; N],
        lanes: Mask,
        out: &mut Values,
    ) {
        if let Some(first) = uniform(&operands, lanes) {
            let value = self.make(operation, operands.map(|operand| operand[first]));
            lanes.iter().for_each(|lane| out[lane] = value);
            return;
        }
        for lane in lanes.iter() {
            out[lane] = self.make(operation, operands.map(|operand| operand[lane]));
        }
    }

    /// Applies an operation to the terms behind some handles.
    #[inline]
    fn make<const N: usize>(&mut self, operation: Operation, values: [Value; N]) -> Value {
        let mut operands = [self.terms.zero(); 3];
        for (operand, value) in operands.iter_mut().zip(values) {
            *operand = self.term(value);
        }
        if !operation.adds_sums_of_same_length(operands)
            && let Some(position) = operation.extended_sum(operands)
        {
            let term = self.apply(operation, operands);
            return self.handles.handle_after(values[position], operands[position], term);
        }
        let key = (operation, operation.ordered(operands));
        if let Some(&value) = self.results.get(&key) {
            return value;
        }
        let term = self.apply(operation, operands);
        let value = self.handles.handle(term);
        self.results.insert(key, value);
        value
    }

    fn apply(&mut self, operation: Operation, [a, b, c]: [Term; 3]) -> Term {
        match operation {
            Operation::Unary(Unary::Finite(format)) => {
                self.assumed_properties.satfinite(&mut self.terms, a, format)
            }
            Operation::Binary(Binary::CopySign) => {
                self.assumed_properties.copy_sign(&mut self.terms, a, b)
            }
            Operation::Unary(op) => operations::unary(&mut self.terms, op, a),
            Operation::Binary(op) => operations::binary(&mut self.terms, op, a, b),
            Operation::Function(function, range) => {
                let result = functions::apply(&mut self.terms, function, a, b);
                self.mark_range(function, range, [a, b], result)
            }
            Operation::Fma => self.terms.fused_multiply_add(a, b, c),
            Operation::Compare(relation) => self.compare_terms(relation, a, b),
            Operation::CompareFloats(relation) => {
                let [a, b] = [a, b].map(|side| self.as_float(side));
                operations::compare(&mut self.terms, relation, a, b)
            }
            Operation::Connect(op) => self.connect_terms(op, a, b),
            Operation::Not => self.terms.not(a),
            Operation::Select => self.choose(a, [b, c]),
        }
    }
}

impl Domain for Symbolic {
    fn inputs(&mut self, inputs: &Given) -> Option<Value> {
        self.given_handle(inputs).unwrap_or_else(|| self.own_handle(inputs))
    }

    fn constant(&mut self, format: Format, bits: u64) -> Value {
        let bits = self.constants.record(format, bits);
        let snapped = self.snap(format, bits);
        let term = snapped.unwrap_or_else(|| self.terms.float(concrete::to_double(format, bits)));
        let value = self.handles.handle(term);
        if self.snap && format == Format::F32 {
            self.expf.note_constant(bits, value);
        }
        value
    }

    fn integer(&mut self, number: i128) -> Value {
        let term = self.constant_term(number);
        self.handles.handle(term)
    }

    fn fma(&mut self, operands: [&Values; 3], rounding: Rounding, lanes: Mask, out: &mut Values) {
        self.multiply_add(operands, rounding, lanes, out);
    }

    fn fma_of_one(&mut self, operands: [Value; 3], rounding: Rounding) -> Value {
        self.multiply_add_one(operands, rounding)
    }

    fn dot(&mut self, a: &[Value], b: &[Value], c: Value) -> Value {
        self.inner_product(a, b, c)
    }

    fn binary(&mut self, op: Binary, operands: [&Values; 2], lanes: Mask, out: &mut Values) {
        match op {
            Binary::Mul => return self.multiply(operands, lanes, out),
            Binary::Add if self.add_product(operands, lanes, out) => return,
            _ => self.apply_in_lanes(Operation::Binary(op), operands, lanes, out),
        }
        if op == Binary::CopySign {
            self.note_signs(operands[0], lanes);
        }
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        self.apply_in_lanes(Operation::Unary(op), [a], lanes, out);
        if matches!(op, Unary::Round(_)) {
            self.note_decisions(out, lanes);
        }
        if op == Unary::Saturate {
            lanes.iter().for_each(|lane| self.expf.note_saturated(out[lane]));
        }
    }

    fn instruction(&mut self, instruction: Instruction) {
        self.place = Some(instruction.place);
        self.memory.watch(&self.terms);
    }

    fn memory_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(self.memory.flag())
    }

    fn is_data(&self, value: Value) -> bool {
        match self.handles.find(&self.terms, value) {
            TermOrProduct::Term(term) => has_inputs(&self.terms, term),
            TermOrProduct::Product(_) => true,
        }
    }

    fn reads_sign(&mut self, value: Value, place: Place) {
        let term = self.term(value);
        self.assumed_properties.reads_sign(term, place);
    }

    fn tests_number(&mut self, value: Value, place: Place) {
        let term = self.term(value);
        self.assumed_properties.tests_number(term, place);
    }

    fn function(
        &mut self,
        (function, range): (RealFunction, Option<ArgumentRange>),
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        self.apply_in_lanes(Operation::Function(function, range), operands, lanes, out);
    }

    fn compare(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        self.compare_with(Operation::Compare(relation), operands, lanes, out);
    }

    fn compare_floats(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        self.compare_with(Operation::CompareFloats(relation), operands, lanes, out);
    }

    fn connect(&mut self, op: Connective, operands: [&Values; 2], lanes: Mask, out: &mut Truths) {
        let mut conditions = [0; exec::WARP];
        self.apply_in_lanes(Operation::Connect(op), operands, lanes, &mut conditions);
        self.conclude_connected(&conditions, lanes, out);
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        self.apply_in_lanes(Operation::Not, [a], lanes, out);
    }

    fn truth(&mut self, holds: bool) -> Value {
        let term = self.terms.truth(holds);
        self.handles.handle(term)
    }

    fn numbers(&self) -> Numbers {
        Numbers::Confirmed
    }

    fn select(&mut self, condition: &Values, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.apply_in_lanes(Operation::Select, [condition, a, b], lanes, out);
    }

    fn same(&mut self, a: Value, b: Value) -> Option<bool> {
        self.are_same(a, b)
    }

    fn seem_different(&mut self, a: Value, b: Value) -> bool {
        self.are_suspicious(a, b)
    }

    fn follows_conditions(&self) -> bool {
        true
    }

    fn chooses_undefined(&self) -> bool {
        !self.machine_floats
    }

    fn compares_floats(&self) -> bool {
        !self.machine_floats
    }

    fn unknown_condition(&mut self) -> Option<Value> {
        if self.machine_floats { self.free_condition() } else { None }
    }

    fn bounds_under(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        self.narrowed_bounds(value, condition)
    }

    fn enumerated_bounds_under(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        self.enumerated_bounds(value, condition)
    }

    fn round(&mut self, value: Value, rounding: Rounding) -> Option<i128> {
        let term = self.term(value);
        let number: &Number = self.terms.as_number(term)?;
        let integer = number.to_i64().map(i128::from);
        integer.filter(|_| rounding != Rounding::NearestAway)
    }

    fn in_range(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        self.wrap_into_type(value, width, signed)
    }

    fn bounds(&mut self, value: Value) -> Option<Bounds> {
        self.bounds_of(value)
    }

    fn is_multiple(&mut self, (value, offset): (Value, i128), of: u32) -> bool {
        self.linear(value).is_some_and(|linear| linear.plus(offset).divided(of.into()).is_some())
    }

    fn element(&mut self, table: (Value, u64), offset: (Value, i128), size: u32) -> Option<Value> {
        self.element_at(table, offset, size)
    }

    fn extreme(&mut self, value: Value, largest: bool) -> Option<String> {
        self.named_extreme(value, largest)
    }

    fn data_place(&mut self, place: (Value, i128)) -> Option<DataPlace> {
        self.place_of(place)
    }

    fn difference(&mut self, a: &DataPlace, b: &DataPlace) -> Option<PlaceDifference> {
        self.difference_of(a, b)
    }

    fn inputs_for(&mut self, a: &DataPlace, b: &DataPlace, factor: i128) -> Option<(String, i128)> {
        self.inputs_apart(a, b, factor)
    }

    fn differ_anywhere(&mut self, a: Value, b: Value) -> bool {
        self.differ_freely(a, b)
    }

    fn ticket(&mut self, block: u64, most: i128) -> Option<Value> {
        self.ticket_of(block, most)
    }

    fn is_place(&mut self, place: &DataPlace, number: i128) -> Truths {
        self.compare_place(place, number)
    }

    fn is_never(&mut self, condition: Value) -> bool {
        self.is_false(condition)
    }

    fn quotient(&mut self, value: Value, by: u32) -> Option<Value> {
        self.shifted_right(value, by)
    }

    fn field(&mut self, value: Value, width: Width, first: u32, bits: u32) -> Option<Value> {
        self.bit_field(value, width, first, bits)
    }

    fn complement(&mut self, a: Value) -> Value {
        self.complement_of(a)
    }

    fn number_of_bits(&mut self, bits: &[Value]) -> Option<Value> {
        self.number_from_bits(bits)
    }

    fn power_of_exponent(&mut self, value: Value) -> Option<Value> {
        self.power_with_exponent(value)
    }

    fn explain(&self, value: Value) -> String {
        const SHOWN: usize = 80;
        match self.handles.find(&self.terms, value) {
            TermOrProduct::Term(term) => self.terms.print_limited(term, SHOWN),
            TermOrProduct::Product(factors) => {
                factors.map(|factor| self.explain(factor)).join(" * ")
            }
        }
    }
}
