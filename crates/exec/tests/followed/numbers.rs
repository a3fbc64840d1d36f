//! A domain that knows every input: integers, with exact arithmetic.
//!
//! The engine gets handles only. Its results must equal those of the machine on the numbers.

use exec::Mask;
use exec::concrete::{Conversion, convert};
use exec::domain::{Binary, Connective, Domain, Inputs, Truths, Unary, Value, Values};
use ir::{ArgumentRange, Format, RealFunction, Relation, Rounding, Scalar, Width};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The value of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Number(i128),
    Truth(bool),
    /// Not an integer, or too large a one.
    Other,
}

/// The amount of information that the domain gives. Each answer is a legal one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Precision {
    /// Comparisons return a handle of the truth.
    pub(crate) defers: bool,
    /// A number out of range is wrapped around rather than refused.
    pub(crate) wraps: bool,
    /// Single bits are not tracked.
    pub(crate) coarse: bool,
}

/// Numbers by handle.
#[derive(Debug)]
pub(crate) struct Numbers {
    contents: Vec<Content>,
    inputs: Vec<i128>,
    /// Handles of fields: the same bits are the same value.
    fields: HashMap<(Value, u32, u32), Value>,
    precision: Precision,
}

fn wrapped(number: i128, bits: u32, signed: bool) -> i128 {
    let low = number.rem_euclid(1 << bits);
    if signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

impl Numbers {
    pub(crate) fn new(inputs: Vec<i128>, precision: Precision) -> Self {
        Self { contents: Vec::new(), inputs, fields: HashMap::new(), precision }
    }

    /// The integer behind a handle, if it is one.
    pub(crate) fn number(&self, value: Value) -> Option<i128> {
        match self.contents[value as usize - 1] {
            Content::Number(number) => Some(number),
            Content::Truth(_) | Content::Other => None,
        }
    }

    fn truth_of(&self, value: Value) -> Option<bool> {
        match self.contents[value as usize - 1] {
            Content::Truth(truth) => Some(truth),
            Content::Number(_) | Content::Other => None,
        }
    }

    fn push(&mut self, content: Content) -> Value {
        self.contents.push(content);
        self.contents.len() as Value
    }

    fn push_number(&mut self, number: Option<i128>) -> Value {
        let small = number.filter(|number| number.unsigned_abs() < 1 << 120);
        self.push(small.map_or(Content::Other, Content::Number))
    }

    fn each(&mut self, lanes: Mask, out: &mut Values, f: impl Fn(&Self, usize) -> Option<i128>) {
        for lane in lanes.iter() {
            let number = f(self, lane);
            out[lane] = self.push_number(number);
        }
    }
}

impl Domain for Numbers {
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value> {
        let first = self.contents.len() as Value + 1;
        for at in 0..inputs.count as usize {
            self.push(Content::Number(self.inputs[at]));
        }
        Some(first)
    }

    fn constant(&mut self, format: Format, bits: u64) -> Value {
        let to = Conversion::nearest(Scalar::Float(format), Scalar::Float(Format::F64));
        let number = f64::from_bits(convert(to, bits));
        let whole = number.fract() == 0.0 && number.abs() < 1e30;
        self.push_number(whole.then_some(number as i128))
    }

    fn integer(&mut self, number: i128) -> Value {
        self.push_number(Some(number))
    }

    fn fma(&mut self, [a, b, c]: [&Values; 3], _: Rounding, lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| {
            let product = this.number(a[lane])?.checked_mul(this.number(b[lane])?)?;
            product.checked_add(this.number(c[lane])?)
        });
    }

    fn binary(&mut self, op: Binary, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| {
            let (a, b) = (this.number(a[lane])?, this.number(b[lane])?);
            match op {
                Binary::Add => a.checked_add(b),
                Binary::Sub => a.checked_sub(b),
                Binary::Mul => a.checked_mul(b),
                Binary::Min => Some(a.min(b)),
                Binary::Max => Some(a.max(b)),
                Binary::Div | Binary::CopySign => None,
            }
        });
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| match op {
            Unary::Negate => this.number(a[lane])?.checked_neg(),
            Unary::Abs => this.number(a[lane])?.checked_abs(),
            Unary::Rectify => Some(this.number(a[lane])?.max(0)),
            Unary::Saturate => Some(this.number(a[lane])?.clamp(0, 1)),
            Unary::Round(_) => this.number(a[lane]),
            _ => None,
        });
    }

    fn function(
        &mut self,
        _: (RealFunction, Option<ArgumentRange>),
        _: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        self.each(lanes, out, |_, _| None);
    }

    fn compare(&mut self, relation: Relation, [a, b]: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            let (Some(a), Some(b)) = (self.number(a[lane]), self.number(b[lane])) else {
                let value = self.push(Content::Other);
                out.defer(lane, value);
                continue;
            };
            let order = a.cmp(&b);
            let truth = match relation {
                Relation::Eq => order == Ordering::Equal,
                Relation::Ne => order != Ordering::Equal,
                Relation::Lt => order == Ordering::Less,
                Relation::Le => order != Ordering::Greater,
                Relation::Gt => order == Ordering::Greater,
                Relation::Ge => order != Ordering::Less,
            };
            if self.precision.defers {
                let value = self.push(Content::Truth(truth));
                out.defer(lane, value);
            } else {
                out.decide(lane, truth);
            }
        }
    }

    fn connect(&mut self, op: Connective, [a, b]: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            let content = match (self.truth_of(a[lane]), self.truth_of(b[lane])) {
                (Some(a), Some(b)) => Content::Truth(match op {
                    Connective::And => a & b,
                    Connective::Or => a | b,
                    Connective::Xor => a ^ b,
                }),
                _ => Content::Other,
            };
            let value = self.push(content);
            out.defer(lane, value);
        }
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        for lane in lanes.iter() {
            let truth = self.truth_of(a[lane]);
            out[lane] = self.push(truth.map_or(Content::Other, |truth| Content::Truth(!truth)));
        }
    }

    fn truth(&mut self, holds: bool) -> Value {
        self.push(Content::Truth(holds))
    }

    fn select(&mut self, c: &Values, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| {
            this.number(if this.truth_of(c[lane])? { a[lane] } else { b[lane] })
        });
    }

    fn round(&mut self, value: Value, _: Rounding) -> Option<i128> {
        self.number(value)
    }

    fn in_range(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        let number = self.number(value)?;
        let found = wrapped(number, width.bits(), signed);
        if found == number {
            return Some(value);
        }
        self.precision.wraps.then(|| self.push(Content::Number(found)))
    }

    fn field(&mut self, value: Value, width: Width, first: u32, bits: u32) -> Option<Value> {
        if bits == 1 && self.precision.coarse {
            return None;
        }
        if let Some(&known) = self.fields.get(&(value, first, bits)) {
            return Some(known);
        }
        let number = wrapped(self.number(value)?, width.bits(), false);
        let field = self.push(Content::Number(number >> first & ((1 << bits) - 1)));
        self.fields.insert((value, first, bits), field);
        Some(field)
    }

    fn number_of_bits(&mut self, bits: &[Value]) -> Option<Value> {
        let mut total = 0;
        for (at, bit) in bits.iter().enumerate() {
            let bit = self.number(*bit)?;
            assert!(bit == 0 || bit == 1, "a bit is {bit}");
            total += bit << at;
        }
        Some(self.push(Content::Number(total)))
    }

    fn explain(&self, value: Value) -> String {
        format!("{:?}", self.contents[value as usize - 1])
    }
}
