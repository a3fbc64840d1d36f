//! Terms as a domain of the engine: what a kernel computes, as an expression of its inputs.
//!
//! A handle up to the number of inputs is that input; the others are positions in a table of terms.
//! Constants that are the correctly rounded value of a transcendental number in their own format are
//! taken for that number, and [`Symbolic::snapped`] lists them: the answer is about the programs
//! with those constants replaced.

use crate::expf::{EXPONENT_ORIGIN, LOG2_E_REST, Steps};
use exec::Mask;
use exec::concrete;
use exec::domain::{
    Binary, Connective, Domain, InputSource, Inputs as Given, LIMIT, Truths, Unary, Value, Values,
};
use ir::{Format, Relation, Rounding};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use term::{Function, Inputs, Node, Number, Term, Terms};

/// A domain of terms.
#[derive(Debug)]
pub struct Symbolic {
    /// The terms made so far.
    pub terms: Terms,
    /// Where the inputs of the launch are among all inputs.
    sources: FxHashMap<InputSource, usize>,
    /// Terms by handle, behind those of inputs.
    table: Vec<Term>,
    inputs: u32,
    snap: bool,
    snapped: BTreeSet<&'static str>,
    expf: Steps,
    /// Whether there were more values than handles.
    exhausted: bool,
}

/// Transcendental numbers that kernels write as constants.
const CONSTANTS: [(&str, f64); 9] = [
    ("log2 e", std::f64::consts::LOG2_E),
    ("ln 2", std::f64::consts::LN_2),
    ("pi", std::f64::consts::PI),
    ("pi/2", std::f64::consts::FRAC_PI_2),
    ("1/sqrt 2", std::f64::consts::FRAC_1_SQRT_2),
    ("sqrt 2", std::f64::consts::SQRT_2),
    ("sqrt(2/pi)", 0.797_884_560_802_865_4),
    ("2 sqrt(2/pi)", 1.595_769_121_605_730_8),
    ("e", std::f64::consts::E),
];

impl Symbolic {
    /// A domain for a launch whose inputs are at these positions of `inputs`.
    #[must_use]
    pub fn new(inputs: Arc<Inputs>, sources: FxHashMap<InputSource, usize>, snap: bool) -> Self {
        let count = u32::try_from(inputs.len()).unwrap_or(LIMIT);
        Self {
            terms: Terms::new(inputs),
            sources,
            table: Vec::new(),
            inputs: count,
            snap,
            snapped: BTreeSet::new(),
            expf: Steps::default(),
            exhausted: false,
        }
    }

    /// The term behind a handle.
    #[must_use]
    pub fn term(&self, value: Value) -> Term {
        match value.checked_sub(self.inputs + 1) {
            Some(position) => self.table[position as usize],
            None => match self.terms.inputs().at(value as usize - 1) {
                Some(input) => self.terms.input(input),
                None => self.terms.undefined(),
            },
        }
    }

    /// Constants that were taken for transcendental numbers.
    #[must_use]
    pub fn snapped(&self) -> &BTreeSet<&'static str> {
        &self.snapped
    }

    /// Whether there were more values than handles; then values are missing.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    fn handle(&mut self, term: Term) -> Value {
        let next = self.inputs as usize + self.table.len() + 1;
        if next >= LIMIT as usize {
            self.exhausted = true;
            return self.inputs.max(1);
        }
        self.table.push(term);
        next as Value
    }

    fn each(
        &mut self,
        lanes: Mask,
        out: &mut Values,
        mut make: impl FnMut(&mut Self, usize) -> Term,
    ) {
        for lane in lanes.iter() {
            let term = make(self, lane);
            out[lane] = self.handle(term);
        }
    }

    /// The real number that a constant stands for, if it is one of the known ones.
    fn snap(&mut self, format: Format, bits: u64) -> Option<Term> {
        if !self.snap {
            return None;
        }
        let negative = bits >> (format.width().bits() - 1) & 1 == 1;
        let magnitude = bits & (format.width().mask() >> 1);
        let (name, _) = CONSTANTS.into_iter().find(|(_, value)| match format {
            Format::F32 => u64::from((*value as f32).to_bits()) == magnitude,
            Format::F64 => value.to_bits() == magnitude,
            // Few bits: too many other numbers look the same.
            _ => false,
        })?;
        self.snapped.insert(name);
        let term = self.named(name);
        Some(if negative { self.terms.negate(term) } else { term })
    }

    fn named(&mut self, name: &str) -> Term {
        let terms = &mut self.terms;
        let (one, two) = (terms.one(), terms.integer(2));
        match name {
            "log2 e" => {
                let ln2 = terms.log(two);
                terms.divide(one, ln2)
            }
            "ln 2" => terms.log(two),
            "pi" => terms.pi(),
            "pi/2" => {
                let pi = terms.pi();
                terms.divide(pi, two)
            }
            "1/sqrt 2" => terms.reciprocal_square_root(two),
            "sqrt 2" => terms.square_root(two),
            "sqrt(2/pi)" | "2 sqrt(2/pi)" => {
                let pi = terms.pi();
                let ratio = terms.divide(two, pi);
                let root = terms.square_root(ratio);
                if name.starts_with('2') { terms.multiply(two, root) } else { root }
            }
            _ => terms.exp(one),
        }
    }

    fn apply_unary(&mut self, op: Unary, a: Term) -> Term {
        let terms = &mut self.terms;
        match op {
            Unary::Negate => terms.negate(a),
            Unary::Abs => terms.absolute(a),
            Unary::Sqrt => terms.square_root(a),
            Unary::ReciprocalSqrt => terms.reciprocal_square_root(a),
            Unary::Reciprocal => {
                let one = terms.one();
                terms.divide(one, a)
            }
            Unary::Exp2 => terms.exp2(a),
            Unary::Log2 => terms.log2(a),
            Unary::Sin => terms.apply(Function::Sin, a),
            Unary::Cos => terms.apply(Function::Cos, a),
            Unary::Tanh => terms.apply(Function::Tanh, a),
            Unary::Round(rounding) => match rounding {
                Rounding::Down => terms.apply(Function::Floor, a),
                Rounding::Up => terms.apply(Function::Ceil, a),
                Rounding::Zero => terms.apply(Function::Trunc, a),
                Rounding::NearestEven => terms.apply(Function::Round, a),
                // Nothing is known of it but that equal arguments give equal values.
                Rounding::NearestAway => match terms.function("round_away") {
                    Some(function) => terms.apply(function, a),
                    None => terms.undefined(),
                },
            },
            Unary::Saturate => {
                let (zero, one) = (terms.zero(), terms.one());
                let above = terms.maximum(a, zero);
                terms.minimum(above, one)
            }
            Unary::Rectify => {
                let zero = terms.zero();
                terms.maximum(a, zero)
            }
        }
    }

    fn apply_binary(&mut self, op: Binary, a: Term, b: Term) -> Term {
        let terms = &mut self.terms;
        match op {
            Binary::Add => terms.add(a, b),
            Binary::Sub => terms.subtract(a, b),
            Binary::Mul => terms.multiply(a, b),
            Binary::Div => terms.divide(a, b),
            Binary::Min => terms.minimum(a, b),
            Binary::Max => terms.maximum(a, b),
            Binary::CopySign => {
                let magnitude = terms.absolute(b);
                let negated = terms.negate(magnitude);
                let zero = terms.zero();
                let negative = terms.compare(term::Relation::Less, a, zero);
                terms.select(negative, negated, magnitude)
            }
        }
    }

    fn compared(&mut self, relation: Relation, a: Term, b: Term) -> Term {
        use term::Relation::{Equal, Less, LessEqual};
        let terms = &mut self.terms;
        match relation {
            Relation::Eq => terms.compare(Equal, a, b),
            Relation::Ne => {
                let equal = terms.compare(Equal, a, b);
                terms.not(equal)
            }
            Relation::Lt => terms.compare(Less, a, b),
            Relation::Le => terms.compare(LessEqual, a, b),
            Relation::Gt => terms.compare(Less, b, a),
            Relation::Ge => terms.compare(LessEqual, b, a),
        }
    }

    /// `⌊a·b⌋ + c`
    fn rounded_down(&mut self, a: Term, b: Term, c: Term) -> Value {
        let product = self.terms.multiply(a, b);
        let floor = self.terms.apply(Function::Floor, product);
        let sum = self.terms.add(floor, c);
        let value = self.handle(sum);
        self.expf.note_exponent(value);
        value
    }

    /// Sets a lane to a condition, decided if it is a constant.
    fn conclude(&mut self, lane: usize, condition: Term, out: &mut Truths) {
        match self.terms.node(condition) {
            Node::Truth(holds) => out.decide(lane, holds),
            _ => {
                let value = self.handle(condition);
                out.defer(lane, value);
            }
        }
    }
}

impl Domain for Symbolic {
    fn inputs(&mut self, inputs: &Given) -> Option<Value> {
        let first = *self.sources.get(&inputs.source)?;
        Value::try_from(first + 1).ok()
    }

    fn constant(&mut self, format: Format, bits: u64) -> Value {
        let snapped = self.snap(format, bits);
        let term = snapped.unwrap_or_else(|| self.terms.float(concrete::to_double(format, bits)));
        let value = self.handle(term);
        if self.snap && format == Format::F32 {
            let log2_e = u64::from(std::f32::consts::LOG2_E.to_bits());
            match bits {
                _ if bits == log2_e => self.expf.log2_e = Some(value),
                _ if bits == u64::from(LOG2_E_REST) => self.expf.rest = Some(value),
                _ => {}
            }
        }
        value
    }

    fn integer(&mut self, number: i128) -> Value {
        // Beyond 2^63 as a sum of two parts, which are exact.
        let (high, low) = ((number >> 32) as i64, (number & 0xffff_ffff) as i64);
        let high = self.terms.integer(high);
        let scale = self.terms.integer(1 << 32);
        let low = self.terms.integer(low);
        let term = self.terms.fused_multiply_add(high, scale, low);
        self.handle(term)
    }

    fn fma(&mut self, [a, b, c]: [&Values; 3], rounding: Rounding, lanes: Mask, out: &mut Values) {
        for lane in lanes.iter() {
            let operands = [a[lane], b[lane], c[lane]];
            if self.expf.is_rest(operands) {
                out[lane] = c[lane];
                continue;
            }
            let [x, y, z] = operands.map(|operand| self.term(operand));
            if self.expf.rounds_down(&self.terms, a[lane], [y, z], rounding) {
                out[lane] = self.rounded_down(x, y, z);
                continue;
            }
            let sum = self.terms.fused_multiply_add(x, y, z);
            out[lane] = self.handle(sum);
            self.expf.note_product([a[lane], b[lane]], out[lane]);
        }
    }

    fn binary(&mut self, op: Binary, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |domain, lane| {
            let (a, b) = (domain.term(a[lane]), domain.term(b[lane]));
            domain.apply_binary(op, a, b)
        });
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |domain, lane| {
            let a = domain.term(a[lane]);
            domain.apply_unary(op, a)
        });
        if op == Unary::Saturate {
            lanes.iter().for_each(|lane| self.expf.note_saturated(out[lane]));
        }
    }

    fn compare(&mut self, relation: Relation, [a, b]: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            let (a, b) = (self.term(a[lane]), self.term(b[lane]));
            let condition = self.compared(relation, a, b);
            self.conclude(lane, condition, out);
        }
    }

    fn connect(&mut self, op: Connective, [a, b]: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            let (a, b) = (self.term(a[lane]), self.term(b[lane]));
            let terms = &mut self.terms;
            let condition = match op {
                Connective::And => terms.and(a, b),
                Connective::Or => terms.or(a, b),
                Connective::Xor => {
                    let (either, both) = (terms.or(a, b), terms.and(a, b));
                    let not_both = terms.not(both);
                    terms.and(either, not_both)
                }
            };
            self.conclude(lane, condition, out);
        }
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |domain, lane| {
            let a = domain.term(a[lane]);
            domain.terms.not(a)
        });
    }

    fn select(&mut self, condition: &Values, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |domain, lane| {
            let condition = domain.term(condition[lane]);
            let (a, b) = (domain.term(a[lane]), domain.term(b[lane]));
            domain.terms.select(condition, a, b)
        });
    }

    fn round(&mut self, value: Value, rounding: Rounding) -> Option<i128> {
        let term = self.term(value);
        let number: &Number = self.terms.as_number(term)?;
        let whole = number.to_i64().map(i128::from);
        whole.filter(|_| rounding != Rounding::NearestAway)
    }

    fn power_of_exponent(&mut self, value: Value) -> Option<Value> {
        if !self.expf.is_exponent(value) {
            return None;
        }
        let term = self.term(value);
        let origin = self.terms.integer(EXPONENT_ORIGIN);
        let exponent = self.terms.subtract(term, origin);
        let power = self.terms.exp2(exponent);
        Some(self.handle(power))
    }

    fn explain(&self, value: Value) -> String {
        const SHOWN: usize = 80;
        self.terms.print_limited(self.term(value), SHOWN)
    }
}
