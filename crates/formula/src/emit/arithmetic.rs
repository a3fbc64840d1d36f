//! Emits sums, products, quotients and powers.

use super::Emitter;
use crate::interval::interval;
use crate::typed::{Arithmetic, Node, Type};
use ir::{
    FloatBinary, FloatMode, FloatUnary, IntBinary, Op, Operand, RealFunction, Reg, Relation, Width,
};
use term::Number;

/// Powers up to this one are products.
const MAX_PRODUCT: u64 = 64;

impl Emitter<'_> {
    pub(super) fn negation(&mut self, a: &Node) -> Operand {
        let value = self.value(a);
        match a.ty {
            Type::Integer => {
                self.builder.integer(IntBinary::Sub, Operand::Constant(0), value).into()
            }
            _ => self.float_unary(FloatUnary::Negate, FloatMode::NEAREST, value),
        }
    }

    pub(super) fn arithmetic(&mut self, op: Arithmetic, a: &Node, b: &Node) -> Operand {
        let is_integer = a.ty == Type::Integer;
        let (x, y) = (self.value(a), self.value(b));
        let register = match (op, is_integer) {
            (Arithmetic::Add, true) => self.builder.integer(IntBinary::Add, x, y),
            (Arithmetic::Subtract, true) => self.builder.integer(IntBinary::Sub, x, y),
            (Arithmetic::Multiply, true) => self.builder.integer(IntBinary::Mul, x, y),
            (Arithmetic::Add, false) => self.builder.float(FloatBinary::Add, x, y),
            (Arithmetic::Subtract, false) => self.builder.float(FloatBinary::Sub, x, y),
            (Arithmetic::Multiply, false) => self.builder.float(FloatBinary::Mul, x, y),
            (Arithmetic::Divide, _) => self.builder.float(FloatBinary::Div, x, y),
            (Arithmetic::FloorDivide | Arithmetic::Remainder, _) => {
                self.division(op, (a, x), (b, y))
            }
        };
        register.into()
    }

    /// Computes a quotient rounded down, or its remainder; instructions round towards zero.
    fn division(
        &mut self,
        op: Arithmetic,
        (a, x): (&Node, Operand),
        (b, y): (&Node, Operand),
    ) -> Reg {
        let is_quotient = op == Arithmetic::FloorDivide;
        let size = b.number().and_then(Number::to_i64).and_then(|size| u64::try_from(size).ok());
        // Runs track the bits of data, and shifts and masks round down for either sign.
        if let Some(size) = size.filter(|size| size.is_power_of_two()) {
            let bits = Operand::Constant(u64::from(size.trailing_zeros()));
            let mask = Operand::Constant(size - 1);
            return match is_quotient {
                true => self.builder.integer(IntBinary::Shr { signed: true }, x, bits),
                false => self.builder.integer(IntBinary::And, x, mask),
            };
        }
        let instruction = match is_quotient {
            true => IntBinary::Div { signed: true },
            false => IntBinary::Rem { signed: true },
        };
        let result = self.builder.integer(instruction, x, y);
        let at_least = |node: &Node, least: i128| {
            interval(self.typed, node).is_some_and(|(low, _)| low >= least)
        };
        if at_least(a, 0) && at_least(b, 1) {
            return result;
        }
        let remainder = match is_quotient {
            true => self.builder.integer(IntBinary::Rem { signed: true }, x, y),
            false => result,
        };
        // A nonzero remainder whose sign differs from the divisor's: the quotient is one too large.
        let [not_zero, differs] =
            [self.builder.register(Width::B1), self.builder.register(Width::B1)];
        let signs = self.builder.integer(IntBinary::Xor, remainder.into(), y);
        for (dst, relation, a) in
            [(not_zero, Relation::Ne, remainder), (differs, Relation::Lt, signs)]
        {
            let (a, b) = (a.into(), Operand::Constant(0));
            let (signed, width) = (true, Width::B64);
            self.builder.push(Op::IntCompare { relation, signed, width, dst, a, b });
        }
        let adjusts = self.builder.logic(IntBinary::And, not_zero.into(), differs.into());
        let other = match is_quotient {
            true => self.builder.integer(IntBinary::Sub, result.into(), Operand::Constant(1)),
            false => self.builder.integer(IntBinary::Add, result.into(), y),
        };
        self.builder.select(adjusts.into(), [other.into(), result.into()], Width::B64)
    }

    /// Computes a power with a literal exponent: small multiples of 1/2 by products and a root.
    pub(super) fn power(&mut self, a: &Node, exponent: &Number) -> Operand {
        let base = self.value(a);
        let is_integer = a.ty == Type::Integer;
        let one = if is_integer { Operand::Constant(1) } else { self.builder.number(1.0) };
        let doubled = (exponent * &Number::from(2)).to_i64();
        match doubled.map(|doubled| (doubled.unsigned_abs(), doubled < 0)) {
            Some((doubled, negative)) if doubled / 2 <= MAX_PRODUCT => {
                let mut result =
                    self.power_by_squaring(base, doubled / 2, is_integer).unwrap_or(one);
                if doubled % 2 == 1 {
                    let root = self.float_unary(FloatUnary::Sqrt, FloatMode::NEAREST, base);
                    result = self.builder.float(FloatBinary::Mul, result, root).into();
                }
                match negative {
                    true => self.builder.float(FloatBinary::Div, one, result).into(),
                    false => result,
                }
            }
            _ => {
                let exponent = self.literal(exponent);
                self.real(RealFunction::Pow, base, Some(exponent))
            }
        }
    }

    /// Computes a power by squaring; `None` for exponent 0.
    fn power_by_squaring(
        &mut self,
        base: Operand,
        exponent: u64,
        is_integer: bool,
    ) -> Option<Operand> {
        let (mut result, mut square, mut rest) = (None, base, exponent);
        let mut multiply = |a, b| -> Operand {
            match is_integer {
                true => self.builder.integer(IntBinary::Mul, a, b).into(),
                false => self.builder.float(FloatBinary::Mul, a, b).into(),
            }
        };
        while rest > 0 {
            if rest % 2 == 1 {
                result = Some(result.map_or(square, |before| multiply(before, square)));
            }
            rest /= 2;
            if rest > 0 {
                square = multiply(square, square);
            }
        }
        result
    }

    /// Applies a function of reals.
    pub(super) fn real(
        &mut self,
        function: RealFunction,
        a: Operand,
        b: Option<Operand>,
    ) -> Operand {
        let format = self.builder.format;
        let dst = self.builder.register(format.width());
        self.builder.push(Op::Real { function, format, range: None, dst, a, b });
        dst.into()
    }
}
