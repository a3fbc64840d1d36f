//! A domain that samples: values are integers and truths at a few inputs at once. It decides nothing that
//! depends on an input, so every branch on one is followed on both sides.

use exec::Mask;
use exec::domain::{Binary, Connective, Domain, Inputs, Truths, Unary, Value, Values};
use ir::{ArgumentRange, Format, RealFunction, Relation, Rounding, Width};

/// The number of inputs.
pub(crate) const POINTS: usize = 12;

/// A number at each of them; `None` where it is undefined.
pub(crate) type Numbers = [Option<i128>; POINTS];

/// The domain.
pub(crate) struct Sampled {
    values: Vec<Numbers>,
    /// Contents of the input buffer, at each point.
    given: Vec<[i32; POINTS]>,
}

impl Sampled {
    pub(crate) fn new(given: Vec<[i32; POINTS]>) -> Self {
        Self { values: Vec::new(), given }
    }

    pub(crate) fn at(&self, value: Value) -> Numbers {
        self.values[value as usize - 1]
    }

    fn push(&mut self, numbers: Numbers) -> Value {
        self.values.push(numbers);
        self.values.len() as Value
    }

    fn each<const N: usize>(
        &mut self,
        operands: [&Values; N],
        lanes: Mask,
        out: &mut Values,
        of: impl Fn([Option<i128>; N]) -> Option<i128>,
    ) {
        for lane in lanes.iter() {
            let operands = operands.map(|operand| self.at(operand[lane]));
            let at = |point: usize| of(operands.map(|operand| operand[point]));
            out[lane] = self.push(std::array::from_fn(at));
        }
    }

    fn truths(
        &mut self,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
        of: impl Fn(i128, i128) -> bool,
    ) {
        let mut values = [0; exec::WARP];
        self.each(operands, lanes, &mut values, |[a, b]| Some(of(a?, b?).into()));
        lanes.iter().for_each(|lane| out.defer(lane, values[lane]));
    }
}

impl Domain for Sampled {
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value> {
        let first = self.values.len() as Value + 1;
        for at in 0..inputs.count as usize {
            let numbers = self.given[at % self.given.len()].map(|number| Some(number.into()));
            self.push(numbers);
        }
        Some(first)
    }

    fn constant(&mut self, _: Format, _: u64) -> Value {
        // Kernels use no floats: this is the engine's encoding of an undefined value.
        self.push([None; POINTS])
    }

    fn integer(&mut self, number: i128) -> Value {
        self.push([Some(number); POINTS])
    }

    fn fma(&mut self, operands: [&Values; 3], _: Rounding, lanes: Mask, out: &mut Values) {
        self.each(operands, lanes, out, |[a, b, c]| Some(a? * b? + c?));
    }

    fn binary(&mut self, op: Binary, operands: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each(operands, lanes, out, |[a, b]| {
            let (a, b) = (a?, b?);
            match op {
                Binary::Add => Some(a + b),
                Binary::Sub => Some(a - b),
                Binary::Mul => a.checked_mul(b),
                Binary::Min => Some(a.min(b)),
                Binary::Max => Some(a.max(b)),
                Binary::Div | Binary::CopySign => None,
            }
        });
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        self.each([a], lanes, out, |[a]| match op {
            Unary::Negate => Some(-a?),
            Unary::Abs => Some(a?.abs()),
            _ => None,
        });
    }

    fn function(
        &mut self,
        _: (RealFunction, Option<ArgumentRange>),
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        self.each(operands, lanes, out, |_| None);
    }

    fn compare(
        &mut self,
        relation: Relation,
        operands: [&Values; 2],
        lanes: Mask,
        out: &mut Truths,
    ) {
        self.truths(operands, lanes, out, |a, b| match relation {
            Relation::Eq => a == b,
            Relation::Ne => a != b,
            Relation::Lt => a < b,
            Relation::Le => a <= b,
            Relation::Gt => a > b,
            Relation::Ge => a >= b,
        });
    }

    fn connect(&mut self, op: Connective, operands: [&Values; 2], lanes: Mask, out: &mut Truths) {
        self.truths(operands, lanes, out, |a, b| {
            let (a, b) = (a != 0, b != 0);
            match op {
                Connective::And => a && b,
                Connective::Or => a || b,
                Connective::Xor => a != b,
            }
        });
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        self.each([a], lanes, out, |[a]| Some((a? == 0).into()));
    }

    fn select(&mut self, condition: &Values, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each([condition, a, b], lanes, out, |[holds, a, b]| if holds? != 0 { a } else { b });
    }

    fn follows_conditions(&self) -> bool {
        true
    }

    fn round(&mut self, _: Value, _: Rounding) -> Option<i128> {
        None
    }

    fn in_range(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        let modulus = 1_i128 << width.bits();
        let wrapped = self.at(value).map(|number| {
            let low = number?.rem_euclid(modulus);
            Some(if signed && low >= modulus / 2 { low - modulus } else { low })
        });
        Some(self.push(wrapped))
    }

    fn explain(&self, value: Value) -> String {
        format!("{:?}", self.at(value))
    }
}
