//! Handles that carry an enclosure beside a value of the domain.
//!
//! A float computed from known numbers alone gets an *alias*: a handle of the engine for both the domain's
//! value and an [`Enclosure`], the interval of results that the manual allows ([`crate::legal`]). Registers,
//! memory, packs and shuffles move aliases like other handles. [`Aliased`] wraps the domain and replaces
//! aliases by the domain's handles in every query, so an operation without support for enclosures loses the
//! enclosure and keeps the value.

use super::Enclosure;
use crate::concrete::Conversion;
use crate::domain::{
    Binary, Bounds, Connective, DataPlace, Domain, Inputs, Instruction, Numbers, PlaceDifference,
    Truths, Unary, Value, Values,
};
use crate::finding::Place;
use crate::handle::Handle;
use crate::lanes::Mask;
use ir::{ArgumentRange, Format, RealFunction, Relation, Rounding, Width};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The domain's values behind aliases.
type Targets = Rc<RefCell<Vec<Value>>>;

/// The aliases of a run.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    targets: Targets,
    enclosures: Vec<Enclosure>,
    /// Positions by value and ends: loops compute the same numbers repeatedly.
    known: FxHashMap<(Value, [u64; 2]), Vec<u32>>,
}

impl Aliases {
    /// Creates a handle for a value with its enclosure; returns the value itself if the table is full.
    pub(crate) fn add(&mut self, value: Value, enclosure: Enclosure) -> Value {
        let value = self.target(value);
        let positions = self.known.entry((value, enclosure.key())).or_default();
        let same = |position: &&u32| self.enclosures[**position as usize] == enclosure;
        if let Some(position) = positions.iter().find(same) {
            return Handle::of_alias(*position).map_or(value, |alias| alias.0);
        }
        let next = self.enclosures.len() as u32;
        let Some(Handle(alias)) = Handle::of_alias(next) else { return value };
        positions.push(next);
        self.targets.borrow_mut().push(value);
        self.enclosures.push(enclosure);
        alias
    }

    /// The enclosure of a handle, if it is an alias.
    pub(crate) fn enclosure(&self, value: Value) -> Option<&Enclosure> {
        self.enclosures.get(Handle(value).alias()?)
    }

    /// The domain's handle.
    pub(crate) fn target(&self, value: Value) -> Value {
        match Handle(value).alias() {
            Some(position) => self.targets.borrow().get(position).copied().unwrap_or(value),
            None => value,
        }
    }

    /// Returns `true` if there are no aliases.
    pub(crate) fn is_empty(&self) -> bool {
        self.enclosures.is_empty()
    }

    /// Wraps a domain so that it never receives an alias.
    pub(crate) fn wrap<'d>(&self, inner: &'d mut dyn Domain) -> Aliased<'d> {
        Aliased { inner, targets: Rc::clone(&self.targets) }
    }
}

/// A domain behind aliases.
pub(crate) struct Aliased<'d> {
    inner: &'d mut dyn Domain,
    targets: Targets,
}

impl Aliased<'_> {
    /// Replaces an alias by the domain's handle.
    fn resolve(&self, value: Value) -> Value {
        match Handle(value).alias() {
            Some(position) => self.targets.borrow().get(position).copied().unwrap_or(value),
            None => value,
        }
    }

    /// Replaces aliases in operands. `None` if there are none, as in most runs.
    fn resolve_all<const N: usize>(&self, operands: [&Values; N]) -> Option<[Values; N]> {
        let is_alias = |value: &Value| Handle(*value).is_alias();
        if self.targets.borrow().is_empty()
            || !operands.iter().any(|values| values.iter().any(is_alias))
        {
            return None;
        }
        Some(operands.map(|values| values.map(|value| self.resolve(value))))
    }
}

/// Calls the domain with operands without aliases.
macro_rules! without_aliases {
    ($self:ident, $operands:expr, |$plain:ident| $call:expr) => {
        match $self.resolve_all($operands) {
            Some(found) => {
                let $plain = found.each_ref();
                $call
            }
            None => {
                let $plain = $operands;
                $call
            }
        }
    };
}

impl Domain for Aliased<'_> {
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value> {
        self.inner.inputs(inputs)
    }

    fn constant(&mut self, format: Format, bits: u64) -> Value {
        self.inner.constant(format, bits)
    }

    fn integer(&mut self, number: i128) -> Value {
        self.inner.integer(number)
    }

    fn instruction(&mut self, instruction: Instruction) {
        self.inner.instruction(instruction);
    }

    fn no_instruction(&mut self) {
        self.inner.no_instruction();
    }

    fn matrix_instruction(&mut self, place: Place) {
        self.inner.matrix_instruction(place);
    }

    fn memory_flag(&self) -> Option<Arc<AtomicBool>> {
        self.inner.memory_flag()
    }

    fn reads_sign(&mut self, value: Value, place: Place) {
        let value = self.resolve(value);
        self.inner.reads_sign(value, place);
    }

    fn tests_number(&mut self, value: Value, place: Place) {
        let value = self.resolve(value);
        self.inner.tests_number(value, place);
    }

    fn convert(&mut self, conversion: &Conversion, a: &Values, lanes: Mask, out: &mut Values) {
        without_aliases!(self, [a], |plain| self.inner.convert(conversion, plain[0], lanes, out));
    }

    fn unordered_sum(&mut self, sum: Value, more: Value) -> Value {
        let (sum, more) = (self.resolve(sum), self.resolve(more));
        self.inner.unordered_sum(sum, more)
    }

    fn fma(&mut self, operands: [&Values; 3], rounding: Rounding, lanes: Mask, out: &mut Values) {
        without_aliases!(self, operands, |plain| self.inner.fma(plain, rounding, lanes, out));
    }

    fn fma_of_one(&mut self, operands: [Value; 3], rounding: Rounding) -> Value {
        let operands = operands.map(|operand| self.resolve(operand));
        self.inner.fma_of_one(operands, rounding)
    }

    fn dot(&mut self, a: &[Value], b: &[Value], c: Value) -> Value {
        if self.targets.borrow().is_empty() {
            return self.inner.dot(a, b, c);
        }
        let plain = |values: &[Value]| values.iter().map(|&value| self.resolve(value)).collect();
        let (a, b): (Vec<Value>, Vec<Value>) = (plain(a), plain(b));
        let c = self.resolve(c);
        self.inner.dot(&a, &b, c)
    }

    fn binary(&mut self, op: Binary, operands: [&Values; 2], lanes: Mask, out: &mut Values) {
        without_aliases!(self, operands, |plain| self.inner.binary(op, plain, lanes, out));
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        without_aliases!(self, [a], |plain| self.inner.unary(op, plain[0], lanes, out));
    }

    fn function(
        &mut self,
        function: (RealFunction, Option<ArgumentRange>),
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        without_aliases!(self, operands, |plain| {
            self.inner.function(function, plain, lanes, out);
        });
    }

    fn compare(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        without_aliases!(self, operands, |plain| self.inner.compare(relation, plain, lanes, out));
    }

    fn compare_floats(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        without_aliases!(self, operands, |plain| {
            self.inner.compare_floats(relation, plain, lanes, out);
        });
    }

    fn connect(&mut self, op: Connective, operands: [&Values; 2], lanes: Mask, out: &mut Truths) {
        self.inner.connect(op, operands, lanes, out);
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        self.inner.not(a, lanes, out);
    }

    fn truth(&mut self, holds: bool) -> Value {
        self.inner.truth(holds)
    }

    fn select(
        &mut self,
        condition: &Values,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        without_aliases!(self, operands, |plain| {
            self.inner.select(condition, plain, lanes, out);
        });
    }

    fn same(&mut self, a: Value, b: Value) -> Option<bool> {
        let (a, b) = (self.resolve(a), self.resolve(b));
        self.inner.same(a, b)
    }

    fn differ_anywhere(&mut self, a: Value, b: Value) -> bool {
        let [a, b] = [a, b].map(|value| self.resolve(value));
        self.inner.differ_anywhere(a, b)
    }

    fn seem_different(&mut self, a: Value, b: Value) -> bool {
        let (a, b) = (self.resolve(a), self.resolve(b));
        self.inner.seem_different(a, b)
    }

    fn any_of(&mut self, values: &[Value]) -> Option<Value> {
        let values: Vec<Value> = values.iter().map(|&value| self.resolve(value)).collect();
        self.inner.any_of(&values)
    }

    fn follows_conditions(&self) -> bool {
        self.inner.follows_conditions()
    }

    fn unknown_condition(&mut self) -> Option<Value> {
        self.inner.unknown_condition()
    }

    fn compares_floats(&self) -> bool {
        self.inner.compares_floats()
    }

    fn bounds_under(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        let value = self.resolve(value);
        self.inner.bounds_under(value, condition)
    }

    fn enumerated_bounds_under(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        let value = self.resolve(value);
        self.inner.enumerated_bounds_under(value, condition)
    }

    fn chooses_undefined(&self) -> bool {
        self.inner.chooses_undefined()
    }

    fn is_data(&self, value: Value) -> bool {
        self.inner.is_data(self.resolve(value))
    }

    fn numbers(&self) -> Numbers {
        self.inner.numbers()
    }

    fn round(&mut self, value: Value, rounding: Rounding) -> Option<i128> {
        let value = self.resolve(value);
        self.inner.round(value, rounding)
    }

    fn in_range(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        let value = self.resolve(value);
        self.inner.in_range(value, width, signed)
    }

    fn bounds(&mut self, value: Value) -> Option<Bounds> {
        let value = self.resolve(value);
        self.inner.bounds(value)
    }

    fn is_multiple(&mut self, (value, more): (Value, i128), divisor: u32) -> bool {
        let value = self.resolve(value);
        self.inner.is_multiple((value, more), divisor)
    }

    fn element(
        &mut self,
        table: (Value, u64),
        (offset, more): (Value, i128),
        size: u32,
    ) -> Option<Value> {
        let offset = self.resolve(offset);
        self.inner.element(table, (offset, more), size)
    }

    fn extreme(&mut self, value: Value, largest: bool) -> Option<String> {
        let value = self.resolve(value);
        self.inner.extreme(value, largest)
    }

    fn data_place(&mut self, (value, more): (Value, i128)) -> Option<DataPlace> {
        let value = self.resolve(value);
        self.inner.data_place((value, more))
    }

    fn difference(&mut self, a: &DataPlace, b: &DataPlace) -> Option<PlaceDifference> {
        self.inner.difference(a, b)
    }

    fn inputs_for(&mut self, a: &DataPlace, b: &DataPlace, factor: i128) -> Option<(String, i128)> {
        self.inner.inputs_for(a, b, factor)
    }

    fn ticket(&mut self, block: u64, most: i128) -> Option<Value> {
        self.inner.ticket(block, most)
    }

    fn is_place(&mut self, place: &DataPlace, number: i128) -> Truths {
        self.inner.is_place(place, number)
    }

    fn is_never(&mut self, condition: Value) -> bool {
        self.inner.is_never(condition)
    }

    fn quotient(&mut self, value: Value, by: u32) -> Option<Value> {
        let value = self.resolve(value);
        self.inner.quotient(value, by)
    }

    fn field(&mut self, value: Value, width: Width, first: u32, bits: u32) -> Option<Value> {
        let value = self.resolve(value);
        self.inner.field(value, width, first, bits)
    }

    fn complement(&mut self, a: Value) -> Value {
        let a = self.resolve(a);
        self.inner.complement(a)
    }

    fn number_of_bits(&mut self, bits: &[Value]) -> Option<Value> {
        let bits: Vec<Value> = bits.iter().map(|&value| self.resolve(value)).collect();
        self.inner.number_of_bits(&bits)
    }

    fn power_of_exponent(&mut self, value: Value) -> Option<Value> {
        let value = self.resolve(value);
        self.inner.power_of_exponent(value)
    }

    fn explain(&self, value: Value) -> String {
        self.inner.explain(self.resolve(value))
    }
}
