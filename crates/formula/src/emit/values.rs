//! Emits expressions: integers are registers of 64 bits, reals are floats of one format, truths are predicates.

use super::Emitter;
use crate::interval::interval;
use crate::resolve::type_of;
use crate::typed::{ArrayId, Function, Node, NodeKind, Reduction, Type};
use ir::{
    FloatBinary, FloatMode, FloatRelation, FloatUnary, IntBinary, IntUnary, Load, Op, Operand,
    Ordering, RealFunction, Reg, Relation, Rounding, Scalar, Space, Terminator, Width,
};

/// A maximum or minimum of numbers, as in `fmaxf`.
pub(super) const MAX: FloatBinary = FloatBinary::Max { propagate_nan: false, xor_sign_abs: false };
pub(super) const MIN: FloatBinary = FloatBinary::Min { propagate_nan: false, xor_sign_abs: false };

impl Emitter<'_> {
    /// Computes the value of a node.
    pub(super) fn value(&mut self, node: &Node) -> Operand {
        let before = std::mem::replace(&mut self.builder.span, node.span);
        // Each thread computes a constant expression once.
        let is_once = node.ty == Type::Real && is_constant(node);
        let setting = is_once.then(|| self.builder.set_in_entry(true));
        let value = self.emit(node);
        setting.map(|before| self.builder.set_in_entry(before));
        self.builder.span = before;
        value
    }

    fn emit(&mut self, node: &Node) -> Operand {
        match &node.kind {
            NodeKind::Number(number) if node.ty == Type::Integer => {
                Operand::Constant(number.to_i64().unwrap_or(0).cast_unsigned())
            }
            NodeKind::Number(number) => self.literal(number),
            NodeKind::Infinity => self.builder.number(f32::INFINITY),
            NodeKind::Float(format, bits) => self.float_literal(*format, *bits),
            NodeKind::Constant(constant) => self.constant(*constant),
            NodeKind::Index(index) => {
                self.indices[*index].map_or(Operand::Constant(0), Operand::from)
            }
            NodeKind::Scalar(position) => {
                let known = self.scalars.iter().find(|(one, _)| one == position);
                known.map_or(Operand::Constant(0), |(_, register)| (*register).into())
            }
            NodeKind::Element { array, indices, outside } => {
                self.element(*array, indices, outside.as_deref())
            }
            NodeKind::ToReal(inner) => self.integer_as_real(inner),
            NodeKind::Negate(a) => self.negation(a),
            NodeKind::Not(a) => {
                let a = self.value(a);
                let dst = self.builder.register(Width::B1);
                self.builder.push(Op::IntUnary { op: IntUnary::Not, width: Width::B1, dst, a });
                dst.into()
            }
            NodeKind::Arithmetic(op, a, b) => self.arithmetic(*op, a, b),
            NodeKind::Power(a, exponent) => self.power(a, exponent),
            NodeKind::IntegerPower(a, b) => self.integer_power(a, b),
            NodeKind::Compare(relation, a, b) => self.comparison(*relation, a, b),
            NodeKind::And(a, b) => self.connective(IntBinary::And, a, b),
            NodeKind::Or(a, b) => self.connective(IntBinary::Or, a, b),
            NodeKind::Function(function, arguments) => self.function(*function, arguments, node.ty),
            NodeKind::If { condition, value, otherwise } => {
                self.conditional(condition, value, otherwise)
            }
            NodeKind::Reduce(reduce) => self.reduce(reduce, node.ty),
        }
    }

    fn connective(&mut self, op: IntBinary, a: &Node, b: &Node) -> Operand {
        let (a, b) = (self.value(a), self.value(b));
        self.builder.logic(op, a, b).into()
    }

    /// Converts a loaded number to a real or an integer of 64 bits.
    pub(super) fn number_of(&mut self, raw: Reg, scalar: Scalar) -> Reg {
        match scalar {
            Scalar::Integer { width: Width::B64, .. } => raw,
            Scalar::Float(format) if format == self.builder.format => raw,
            Scalar::Float(_) => {
                let before = self.builder.set_in_entry(true);
                let converted = self.convert_to_real(raw.into(), scalar);
                self.builder.set_in_entry(before);
                match converted {
                    Operand::Register(register) => register,
                    Operand::Constant(_) => raw,
                }
            }
            Scalar::Integer { width, signed } => {
                let dst = self.builder.register(Width::B64);
                self.builder.push_to_entry(Op::Resize {
                    dst,
                    src: raw.into(),
                    from: width,
                    signed,
                });
                dst
            }
        }
    }

    /// Converts a number to a real.
    pub(super) fn convert_to_real(&mut self, value: Operand, from: Scalar) -> Operand {
        let to = Scalar::Float(self.builder.format);
        self.builder.convert(value, from, to, Rounding::NearestEven)
    }

    /// Converts a real or an integer of 64 bits to an element of a tensor.
    pub(super) fn as_stored(&mut self, value: Operand, scalar: Scalar) -> Operand {
        match scalar {
            Scalar::Integer { width: Width::B64, .. } => value,
            Scalar::Float(format) if format == self.builder.format => value,
            Scalar::Float(_) => {
                let real = Scalar::Float(self.builder.format);
                self.builder.convert(value, real, scalar, Rounding::NearestEven)
            }
            // The lowest bits, as integers wrap around in memory.
            Scalar::Integer { width, .. } => {
                if let Operand::Constant(number) = value {
                    return Operand::Constant(number & width.mask());
                }
                let dst = self.builder.register(width);
                self.builder.push(Op::Resize { dst, src: value, from: width, signed: false });
                dst.into()
            }
        }
    }

    /// Loads an element, or computes the value outside of the tensor.
    fn element(&mut self, array: ArrayId, indices: &[Node], outside: Option<&Node>) -> Operand {
        let places: Vec<Operand> = indices.iter().map(|index| self.value(index)).collect();
        let Some(outside) = outside else { return self.load(array, &places) };
        let inside = self.is_inside(array, indices, &places);
        let Some(inside) = inside else { return self.load(array, &places) };
        let dst =
            self.builder.register(self.builder.width(type_of(self.typed.arrays[array].scalar)));
        let (then, otherwise, end) =
            (self.builder.block(), self.builder.block(), self.builder.block());
        self.builder.branch(inside, then, otherwise);
        self.builder.switch_to(then);
        let value = self.load(array, &places);
        self.builder.copy(dst, value);
        self.builder.terminate(Terminator::Jump(end));
        self.builder.switch_to(otherwise);
        let value = self.value(outside);
        self.builder.copy(dst, value);
        self.builder.terminate(Terminator::Jump(end));
        self.builder.switch_to(end);
        dst.into()
    }

    /// Computes the condition that a position is in a tensor; `None` if it always is.
    fn is_inside(&mut self, array: ArrayId, indices: &[Node], places: &[Operand]) -> Option<Reg> {
        let shape = self.typed.arrays[array].shape.clone();
        let mut all: Option<Reg> = None;
        for ((index, place), size) in indices.iter().zip(places).zip(shape) {
            let known = interval(self.typed, index);
            if known.is_some_and(|(low, high)| low >= 0 && high < i128::from(size)) {
                continue;
            }
            let is_at_least = |least: i128| known.is_some_and(|(low, _)| low >= least);
            let low = (!is_at_least(0)).then_some((Relation::Ge, Operand::Constant(0)));
            for (relation, bound) in
                low.into_iter().chain([(Relation::Lt, Operand::Constant(size))])
            {
                let one = self.compare(relation, [*place, bound], true);
                all = Some(match all {
                    None => one,
                    Some(before) => self.builder.logic(IntBinary::And, before.into(), one.into()),
                });
            }
        }
        all
    }

    /// Loads the element at a position that is inside.
    fn load(&mut self, array: ArrayId, places: &[Operand]) -> Operand {
        let (scalar, shape) = {
            let array = &self.typed.arrays[array];
            (array.scalar, array.shape.clone())
        };
        let mut number = places.first().copied().unwrap_or(Operand::Constant(0));
        for (place, size) in places.iter().zip(shape).skip(1) {
            let row = self.builder.integer(IntBinary::Mul, number, Operand::Constant(size));
            number = self.builder.integer(IntBinary::Add, row.into(), *place).into();
        }
        let bytes = Operand::Constant(u64::from(scalar.width().bytes()));
        let offset = self.builder.integer(IntBinary::Mul, number, bytes);
        let address = self.address(array, offset);
        let (width, signed) = match scalar {
            Scalar::Float(format) => (format.width(), false),
            // A load extends the loaded value.
            Scalar::Integer { signed, .. } => (Width::B64, signed),
        };
        let dst = self.builder.register(width);
        self.builder.push(Op::Load(Load {
            dsts: vec![Some(dst)],
            width: scalar.width(),
            signed,
            space: Space::Global,
            address,
            ordering: Ordering::Weak,
            non_coherent: false,
        }));
        match scalar {
            Scalar::Integer { .. } => dst.into(),
            Scalar::Float(format) if format == self.builder.format => dst.into(),
            Scalar::Float(_) => self.convert_to_real(dst.into(), scalar),
        }
    }

    /// Computes an integer node as a real.
    fn integer_as_real(&mut self, inner: &Node) -> Operand {
        match &inner.kind {
            NodeKind::Number(number) => self.literal(number),
            // The integer that a real is rounded to, as a real.
            NodeKind::Function(Function::Round(rounding), arguments) => {
                let a = self.value(&arguments[0]);
                let mode = FloatMode { rounding: *rounding, ..FloatMode::NEAREST };
                self.float_unary(FloatUnary::RoundToIntegral, mode, a)
            }
            NodeKind::Reduce(reduce)
                if matches!(reduce.reduction, Reduction::ArgMax | Reduction::ArgMin) =>
            {
                self.reduce(reduce, Type::Real)
            }
            _ => {
                let value = self.value(inner);
                let size = |(low, high): (i128, i128)| low.abs().max(high.abs());
                // A data-dependent integer is a value of the domain and keeps its number.
                let most = if inner.is_data {
                    0
                } else {
                    interval(self.typed, inner).map_or(i128::MAX, size)
                };
                self.known_integer_as_real(value, most)
            }
        }
    }

    pub(super) fn float_unary(&mut self, op: FloatUnary, mode: FloatMode, a: Operand) -> Operand {
        let format = self.builder.format;
        let dst = self.builder.register(format.width());
        self.builder.push(Op::FloatUnary { op, format, lanes: 1, mode, dst, a });
        dst.into()
    }

    fn comparison(&mut self, relation: Relation, a: &Node, b: &Node) -> Operand {
        let is_integer = a.ty == Type::Integer;
        let (x, y) = (self.value(a), self.value(b));
        self.compare(relation, [x, y], is_integer).into()
    }

    pub(super) fn compare(
        &mut self,
        relation: Relation,
        [a, b]: [Operand; 2],
        is_integer: bool,
    ) -> Reg {
        let dst = self.builder.register(Width::B1);
        self.builder.push(match is_integer {
            true => Op::IntCompare { relation, signed: true, width: Width::B64, dst, a, b },
            false => Op::FloatCompare {
                relation: FloatRelation::Order { relation, or_unordered: false },
                format: self.builder.format,
                flush: false,
                dst,
                a,
                b,
            },
        });
        dst
    }

    fn function(&mut self, function: Function, arguments: &[Node], ty: Type) -> Operand {
        let is_integer = arguments.first().is_some_and(|one| one.ty == Type::Integer);
        let all: Vec<Operand> = arguments.iter().map(|argument| self.value(argument)).collect();
        let zero = Operand::Constant(0);
        match (function, all.as_slice()) {
            (Function::Real(function), [a]) => self.real(function, *a, None),
            (Function::Real(function), [a, b]) => self.real(function, *a, Some(*b)),
            (Function::Sqrt, [a]) => self.float_unary(FloatUnary::Sqrt, FloatMode::NEAREST, *a),
            (Function::ReciprocalSqrt, [a]) => {
                let one = self.builder.number(1.0);
                let root = self.float_unary(FloatUnary::Sqrt, FloatMode::NEAREST, *a);
                self.builder.float(FloatBinary::Div, one, root).into()
            }
            (Function::Abs, [a]) if is_integer => {
                let dst = self.builder.register(Width::B64);
                let (op, width) = (IntUnary::Abs, Width::B64);
                self.builder.push(Op::IntUnary { op, width, dst, a: *a });
                dst.into()
            }
            (Function::Abs, [a]) => self.float_unary(FloatUnary::Abs, FloatMode::NEAREST, *a),
            (Function::Sign, [a]) => self.sign(*a, is_integer),
            (Function::Sigmoid, [a]) => {
                let one = self.builder.number(1.0);
                let negated = self.float_unary(FloatUnary::Negate, FloatMode::NEAREST, *a);
                let power = self.real(RealFunction::Exp, negated, None);
                let below = self.builder.float(FloatBinary::Add, one, power);
                self.builder.float(FloatBinary::Div, one, below.into()).into()
            }
            (Function::Relu, [a]) => self.extreme(true, [*a, zero], is_integer),
            (Function::Max, [a, b]) => self.extreme(true, [*a, *b], is_integer),
            (Function::Min, [a, b]) => self.extreme(false, [*a, *b], is_integer),
            (Function::Clamp, [a, low, high]) => {
                let above = self.extreme(true, [*a, *low], is_integer);
                self.extreme(false, [above, *high], is_integer)
            }
            (Function::Round(rounding), [a]) => {
                debug_assert!(ty == Type::Integer, "as a real it is made elsewhere");
                let integer = Scalar::Integer { width: Width::B64, signed: true };
                let real = Scalar::Float(self.builder.format);
                self.builder.convert(*a, real, integer, rounding)
            }
            // The resolver counts arguments.
            _ => zero,
        }
    }

    /// Computes the larger or smaller of two numbers.
    pub(super) fn extreme(
        &mut self,
        larger: bool,
        [a, b]: [Operand; 2],
        is_integer: bool,
    ) -> Operand {
        let register = match (is_integer, larger) {
            (true, true) => self.builder.integer(IntBinary::Max { signed: true }, a, b),
            (true, false) => self.builder.integer(IntBinary::Min { signed: true }, a, b),
            (false, true) => self.builder.float(MAX, a, b),
            (false, false) => self.builder.float(MIN, a, b),
        };
        register.into()
    }

    fn sign(&mut self, a: Operand, is_integer: bool) -> Operand {
        let zero = Operand::Constant(0);
        let [one, minus_one] = match is_integer {
            true => [1, -1_i64].map(|number| Operand::Constant(number.cast_unsigned())),
            false => [1.0, -1.0].map(|number| self.builder.number(number)),
        };
        let above = self.compare(Relation::Gt, [a, zero], is_integer);
        let below = self.compare(Relation::Lt, [a, zero], is_integer);
        let width = self.builder.width(if is_integer { Type::Integer } else { Type::Real });
        let other = self.builder.select(below.into(), [minus_one, zero], width);
        self.builder.select(above.into(), [one, other.into()], width).into()
    }

    /// Computes `value if condition else otherwise`: branches on indices, selects on data.
    fn conditional(&mut self, condition: &Node, value: &Node, otherwise: &Node) -> Operand {
        let (decided, open) = condition.conjuncts();
        match (decided.is_empty(), open.is_empty()) {
            (true, _) => self.choice(&open, value, otherwise),
            (false, true) => self.branches(&decided, value, otherwise),
            (false, false) => {
                let inner = |emitter: &mut Self| emitter.choice(&open, value, otherwise);
                self.branch_between(&decided, inner, otherwise)
            }
        }
    }

    /// Selects a value by branching on conditions; only one of the two values is computed.
    fn branches(&mut self, conditions: &[&Node], value: &Node, otherwise: &Node) -> Operand {
        self.branch_between(conditions, |emitter| emitter.value(value), otherwise)
    }

    /// Like [`branches`](Self::branches), with the first value computed by a function.
    fn branch_between(
        &mut self,
        conditions: &[&Node],
        value: impl FnOnce(&mut Self) -> Operand,
        otherwise: &Node,
    ) -> Operand {
        let Some(condition) = self.all_of(conditions) else { return value(self) };
        let width = self.builder.width(otherwise.ty);
        let dst = self.builder.register(width);
        let (then, other, end) = (self.builder.block(), self.builder.block(), self.builder.block());
        self.builder.branch(condition, then, other);
        self.builder.switch_to(then);
        let chosen = value(self);
        self.builder.copy(dst, chosen);
        self.builder.terminate(Terminator::Jump(end));
        self.builder.switch_to(other);
        let chosen = self.value(otherwise);
        self.builder.copy(dst, chosen);
        self.builder.terminate(Terminator::Jump(end));
        self.builder.switch_to(end);
        dst.into()
    }

    /// Selects by conditions on data between two computed values.
    fn choice(&mut self, conditions: &[&Node], value: &Node, otherwise: &Node) -> Operand {
        if reads_at_data(value) || reads_at_data(otherwise) {
            return self.branches(conditions, value, otherwise);
        }
        let (a, b) = (self.value(value), self.value(otherwise));
        let Some(condition) = self.all_of(conditions) else { return a };
        let width = self.builder.width(value.ty);
        self.builder.select(condition.into(), [a, b], width).into()
    }

    /// Computes the conjunction of conditions; `None` if there are none.
    pub(super) fn all_of(&mut self, conditions: &[&Node]) -> Option<Reg> {
        let mut all: Option<Operand> = None;
        for condition in conditions {
            let one = self.value(condition);
            all = Some(match all {
                None => one,
                Some(before) => self.builder.logic(IntBinary::And, before, one).into(),
            });
        }
        all.map(|all| match all {
            Operand::Register(register) => register,
            constant @ Operand::Constant(_) => {
                let dst = self.builder.register(Width::B1);
                self.builder.copy(dst, constant);
                dst
            }
        })
    }
}

/// Returns `true` if a value reads an element at a data-dependent position. A guard may be what keeps it in bounds.
pub(super) fn reads_at_data(node: &Node) -> bool {
    let mut found = match &node.kind {
        NodeKind::Element { indices, .. } => indices.iter().any(|index| index.is_data),
        _ => false,
    };
    node.each_child(&mut |inner| found = found || reads_at_data(inner));
    found
}

/// Returns `true` if a value depends on nothing and needs no branch.
fn is_constant(node: &Node) -> bool {
    let mut all = !matches!(
        &node.kind,
        NodeKind::Index(_)
            | NodeKind::Scalar(_)
            | NodeKind::Element { .. }
            | NodeKind::If { .. }
            | NodeKind::IntegerPower(..)
            | NodeKind::Reduce(_)
    );
    node.each_child(&mut |inner| all = all && is_constant(inner));
    all
}
