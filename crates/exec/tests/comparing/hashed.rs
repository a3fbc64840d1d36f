//! A domain with hashes of queries as values: two runs with the same queries give equal hashes, with any
//! handles.

use exec::concrete::{Conversion, convert};
use exec::domain::{Binary, Connective, Domain, Inputs, Truths, Unary, Value, Values};
use exec::{Mask, WARP};
use ir::{ArgumentRange, Format, RealFunction, Relation, Rounding, Scalar, Width};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Hashes by handle. Decides some comparisons by the hashes of their operands.
#[derive(Debug, Default)]
pub(crate) struct Hashed {
    hashes: Vec<u64>,
    handles: HashMap<u64, Value>,
}

fn hash(query: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    query.hash(&mut hasher);
    hasher.finish()
}

impl Hashed {
    /// The hash behind a handle.
    pub(crate) fn hash_of(&self, value: Value) -> u64 {
        self.hashes[value as usize - 1]
    }

    fn intern(&mut self, query: impl Hash) -> Value {
        let hash = hash(query);
        let next = self.hashes.len() as Value + 1;
        let handle = *self.handles.entry(hash).or_insert(next);
        if handle == next {
            self.hashes.push(hash);
        }
        handle
    }

    fn number(&mut self, number: f64) -> Value {
        let number = if number == 0.0 { 0.0 } else { number };
        self.intern(("number", if number.is_nan() { 0 } else { number.to_bits() }))
    }

    fn each<const N: usize>(
        &mut self,
        name: &str,
        operands: [&Values; N],
        lanes: Mask,
        out: &mut Values,
    ) {
        for lane in lanes.iter() {
            let operands = operands.map(|values| self.hash_of(values[lane]));
            out[lane] = self.intern((name, operands));
        }
    }

    fn truths(&mut self, name: &str, operands: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            let operands = operands.map(|values| self.hash_of(values[lane]));
            let handle = self.intern((name, operands));
            match self.hash_of(handle) % 4 {
                0 => out.decide(lane, true),
                1 => out.decide(lane, false),
                _ => out.defer(lane, handle),
            }
        }
    }
}

impl Domain for Hashed {
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value> {
        let first = self.hashes.len() as Value + 1;
        for at in 0..inputs.count {
            let hash = hash(("input", inputs.source, at));
            self.hashes.push(hash);
            self.handles.insert(hash, self.hashes.len() as Value);
        }
        Some(first)
    }

    fn constant(&mut self, format: Format, bits: u64) -> Value {
        let to = Conversion::nearest(Scalar::Float(format), Scalar::Float(Format::F64));
        self.number(f64::from_bits(convert(to, bits)))
    }

    fn integer(&mut self, number: i128) -> Value {
        match number.unsigned_abs() < 1 << 53 {
            true => self.number(number as f64),
            false => self.intern(("integer", number)),
        }
    }

    fn fma(&mut self, operands: [&Values; 3], _: Rounding, lanes: Mask, out: &mut Values) {
        self.each("fma", operands, lanes, out);
    }

    fn binary(&mut self, op: Binary, operands: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each(&format!("{op:?}"), operands, lanes, out);
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        self.each(&format!("{op:?}"), [a], lanes, out);
    }

    fn function(
        &mut self,
        (function, _): (RealFunction, Option<ArgumentRange>),
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        self.each(&format!("{function:?}"), operands, lanes, out);
    }

    fn compare(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        self.truths(&format!("{relation:?}"), operands, lanes, out);
    }

    fn connect(&mut self, op: Connective, operands: [&Values; 2], lanes: Mask, out: &mut Truths) {
        self.truths(&format!("{op:?}"), operands, lanes, out);
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        self.each("not", [a], lanes, out);
    }

    fn select(&mut self, condition: &Values, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each("select", [condition, a, b], lanes, out);
    }

    fn follows_conditions(&self) -> bool {
        true
    }

    fn round(&mut self, value: Value, rounding: Rounding) -> Option<i128> {
        let hash = hash((self.hash_of(value), format!("{rounding:?}")));
        (hash % 2 == 0).then_some(i128::from(hash as u8) - 20)
    }

    fn in_range(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        hash((self.hash_of(value), width.bits(), signed)).is_multiple_of(3).then_some(value)
    }

    fn field(&mut self, value: Value, width: Width, first: u32, bits: u32) -> Option<Value> {
        let query = ("field", self.hash_of(value), width.bits(), first, bits);
        hash(query).is_multiple_of(3).then(|| self.intern(query))
    }

    fn number_of_bits(&mut self, bits: &[Value]) -> Option<Value> {
        let query = bits.iter().map(|&bit| self.hash_of(bit)).collect::<Vec<u64>>();
        (hash(&query) % 2 == 0).then(|| self.intern(query))
    }

    fn power_of_exponent(&mut self, value: Value) -> Option<Value> {
        let query = ("power", self.hash_of(value));
        hash(query).is_multiple_of(2).then(|| self.intern(query))
    }

    fn explain(&self, value: Value) -> String {
        format!("{:x} of {WARP}", self.hash_of(value))
    }
}
