//! Builds the nodes of operations in the graph's normal form.

use super::graph::{Code, Edge, Node};
use super::values::{Values, for_each_write};
use ir::{
    BlockId, FloatBinary, FloatMode, FloatProperty, FloatRelation, FloatUnary, IntBinary, IntUnary,
    Op, Operand, Reg, Relation, Scalar, Width,
};

impl Values<'_> {
    /// Returns the value of an operand, resized to a width if its register has another.
    fn operand(&mut self, block: BlockId, operand: Operand, width: Width) -> Edge {
        match operand {
            Operand::Constant(bits) => self.graph.bits(bits & width.mask()),
            Operand::Register(register) => {
                let edge = self.register(block, register);
                if self.function.registers[register].width == width {
                    return edge;
                }
                let code = Code::Resize { from: width, signed: false, to: width };
                match self.graph.op(code, &[edge]) {
                    Some(edge) => edge,
                    None => self.graph.opaque(),
                }
            }
        }
    }

    /// Returns the registers that an operation writes and their values, without guards.
    pub(super) fn results_of(&mut self, block: BlockId, op: &Op) -> Vec<(Reg, Edge)> {
        if let Op::Split { dsts, src } = op {
            return self.parts(block, dsts, *src);
        }
        if let Some((register, value)) = self.value(block, op) {
            return vec![(register, value)];
        }
        let mut results = Vec::new();
        for_each_write(op, &mut |register| results.push((register, self.graph.opaque())));
        results
    }

    /// Returns the registers that a split writes, and their values.
    fn parts(&mut self, block: BlockId, dsts: &[Option<Reg>], src: Operand) -> Vec<(Reg, Edge)> {
        let width = match src {
            Operand::Register(register) => self.function.registers[register].width,
            Operand::Constant(_) => Width::B64,
        };
        let packed = self.operand(block, src, width);
        let count = u8::try_from(dsts.len()).unwrap_or(u8::MAX);
        let mut results = Vec::new();
        for (index, dst) in dsts.iter().enumerate() {
            let Some(dst) = *dst else { continue };
            let part = self.part(packed, index as u8, count);
            results.push((dst, part));
        }
        results
    }

    /// Returns one of some equal parts of a value.
    fn part(&mut self, whole: Edge, index: u8, count: u8) -> Edge {
        if let Node::Op(Code::Concat(parts), operands) = self.graph.node(whole.node())
            && parts == count
            && !whole.is_negated()
            && let Some(&part) = operands.as_slice().get(usize::from(index))
        {
            return part;
        }
        match self.graph.op(Code::Part(index, count), &[whole]) {
            Some(edge) => edge,
            None => self.graph.opaque(),
        }
    }

    /// Returns the result of an operation that the graph models.
    fn value(&mut self, block: BlockId, op: &Op) -> Option<(Reg, Edge)> {
        match op {
            Op::FloatCompare { .. } | Op::FloatTest { .. } => self.float_condition(block, op),
            Op::FloatUnary { .. } | Op::FloatBinary { .. } | Op::Fma { .. } => {
                self.float(block, op)
            }
            Op::Convert { dst, src, from, to, rounding, saturate, relu: false, .. } => {
                // A conversion from float to integer always saturates.
                let saturate = *saturate && matches!(to, Scalar::Float(_));
                let (from, to, rounding) = (*from, *to, *rounding);
                let code = Code::Convert { from, to, rounding, saturate };
                self.result(block, *dst, code, &[(*src, from.width())])
            }
            Op::Real { function, format, range, dst, a, b } => {
                let operands = std::iter::once(*a).chain(*b);
                let operands: Vec<_> = operands.map(|operand| (operand, format.width())).collect();
                self.result(block, *dst, Code::Real(*function, *format, *range), &operands)
            }
            Op::Copy { .. } | Op::Select { .. } | Op::Concat { .. } | Op::Resize { .. } => {
                self.moved(block, op)
            }
            _ => self.integer(block, op),
        }
    }

    /// Builds the result of an operation from its operands and their widths.
    fn result(
        &mut self,
        block: BlockId,
        dst: Reg,
        code: Code,
        operands: &[(Operand, Width)],
    ) -> Option<(Reg, Edge)> {
        let operands: Vec<Edge> =
            operands.iter().map(|&(operand, width)| self.operand(block, operand, width)).collect();
        Some((dst, self.graph.op(code, &operands)?))
    }

    /// Returns the result of an operation that moves bits.
    fn moved(&mut self, block: BlockId, op: &Op) -> Option<(Reg, Edge)> {
        let width_of = |register: Reg| self.function.registers[register].width;
        match op {
            Op::Copy { dst, src } => {
                let width = width_of(*dst);
                Some((*dst, self.operand(block, *src, width)))
            }
            Op::Select { dst, condition, if_true, if_false } => {
                let width = width_of(*dst);
                let operands = [(*condition, Width::B1), (*if_true, width), (*if_false, width)];
                self.result(block, *dst, Code::Select, &operands)
            }
            Op::Concat { dst, parts } => {
                let count = u8::try_from(parts.len()).ok()?;
                let width = Width::from_bits(width_of(*dst).bits() / u32::from(count.max(1)))?;
                let operands: Vec<_> = parts.iter().map(|&part| (part, width)).collect();
                self.result(block, *dst, Code::Concat(count), &operands)
            }
            Op::Resize { dst, src, from, signed } => {
                let code = Code::Resize { from: *from, signed: *signed, to: width_of(*dst) };
                self.result(block, *dst, code, &[(*src, *from)])
            }
            _ => None,
        }
    }

    /// Returns the result of an operation on integers or predicates.
    fn integer(&mut self, block: BlockId, op: &Op) -> Option<(Reg, Edge)> {
        match op {
            Op::IntUnary { op: IntUnary::Not, width: Width::B1, dst, a } => {
                Some((*dst, self.operand(block, *a, Width::B1).flipped(true)))
            }
            Op::IntUnary { op, width, dst, a } => {
                self.result(block, *dst, Code::Int1(*op, *width), &[(*a, *width)])
            }
            Op::IntBinary { op, width, dst, a, b } => {
                self.int_binary(block, *op, *width, *dst, [*a, *b])
            }
            Op::IntTernary { op, width, dst, a, b, c } => {
                let operands = [a, b, c].map(|&operand| (operand, *width));
                self.result(block, *dst, Code::Int3(*op, *width), &operands)
            }
            Op::InsertBits { width, dst, insert, base, position, length } => {
                let (wide, narrow) = (*width, Width::B32);
                let operands =
                    [(*insert, wide), (*base, wide), (*position, narrow), (*length, narrow)];
                self.result(block, *dst, Code::Insert(*width), &operands)
            }
            Op::IntCompare { relation, signed, width, dst, a, b } => {
                let operands = [*a, *b].map(|operand| self.operand(block, operand, *width));
                let value = self.int_compare(*relation, *signed, *width, operands)?;
                Some((*dst, value))
            }
            _ => None,
        }
    }

    /// Returns the result of a float comparison or test. The graph ignores NaN.
    fn float_condition(&mut self, block: BlockId, op: &Op) -> Option<(Reg, Edge)> {
        match op {
            Op::FloatCompare { relation, format, dst, a, b, .. } => {
                let relation = match relation {
                    FloatRelation::Order { relation, .. } => relation,
                    FloatRelation::BothNumbers => return Some((*dst, self.graph.bits(1))),
                    FloatRelation::EitherNan => return Some((*dst, self.graph.bits(0))),
                };
                let width = format.width();
                let [a, b] = [*a, *b].map(|operand| self.operand(block, operand, width));
                let (less, equal) = (Code::Less(*format), Code::Equal(*format));
                let value = self.compare(*relation, [less, equal], [a, b])?;
                Some((*dst, value))
            }
            Op::FloatTest { property, dst, .. } => {
                let holds = match property {
                    FloatProperty::Finite | FloatProperty::Number => 1,
                    FloatProperty::Infinite | FloatProperty::NotANumber => 0,
                    FloatProperty::Normal | FloatProperty::Subnormal => return None,
                };
                Some((*dst, self.graph.bits(holds)))
            }
            _ => None,
        }
    }

    /// Returns the result of an integer operation with two operands.
    fn int_binary(
        &mut self,
        block: BlockId,
        op: IntBinary,
        width: Width,
        dst: Reg,
        [a, b]: [Operand; 2],
    ) -> Option<(Reg, Edge)> {
        let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
        let b_width = if shifts { Width::B32 } else { width };
        let (a, b) = (self.operand(block, a, width), self.operand(block, b, b_width));
        let value = match (op, width) {
            (IntBinary::Or, Width::B1) => {
                let neither = [a.flipped(true), b.flipped(true)];
                self.graph.op(Code::Int2(IntBinary::And, width), &neither)?.flipped(true)
            }
            (IntBinary::Sub, Width::B32) => {
                // `a - constant` is a sum.
                match self.constant(b) {
                    Some(bits) => {
                        let opposite = self.graph.bits((bits as u32).wrapping_neg().into());
                        self.graph.op(Code::Int2(IntBinary::Add, width), &[a, opposite])?
                    }
                    None => self.graph.op(Code::Int2(op, width), &[a, b])?,
                }
            }
            _ => self.graph.op(Code::Int2(op, width), &[a, b])?,
        };
        Some((dst, value))
    }

    /// Returns the bits of a constant.
    fn constant(&self, edge: Edge) -> Option<u64> {
        match self.graph.node(edge.node()) {
            Node::Bits(bits) if !edge.is_negated() => Some(bits),
            _ => None,
        }
    }

    /// Expresses a relation by `<` and `=` alone, negated or with operands swapped.
    fn compare(
        &mut self,
        relation: Relation,
        [less, equal]: [Code; 2],
        [a, b]: [Edge; 2],
    ) -> Option<Edge> {
        let (code, operands, negate) = match relation {
            Relation::Eq => (equal, [a, b], false),
            Relation::Ne => (equal, [a, b], true),
            Relation::Lt => (less, [a, b], false),
            Relation::Ge => (less, [a, b], true),
            Relation::Gt => (less, [b, a], false),
            Relation::Le => (less, [b, a], true),
        };
        Some(self.graph.op(code, &operands)?.flipped(negate))
    }

    /// Like [`Self::compare`], but a constant stays on the right: `a > c` and `a ≤ c` become comparisons with `c + 1`.
    fn int_compare(
        &mut self,
        relation: Relation,
        signed: bool,
        width: Width,
        [a, b]: [Edge; 2],
    ) -> Option<Edge> {
        let codes = [Code::IntLess { signed, width }, Code::IntEqual(width)];
        let next = self.constant(b).and_then(|bits| {
            let last = if signed { width.mask() >> 1 } else { width.mask() };
            (bits != last).then(|| bits.wrapping_add(1) & width.mask())
        });
        match (relation, next) {
            (Relation::Gt, Some(next)) => {
                let next = self.graph.bits(next);
                Some(self.graph.op(codes[0], &[a, next])?.flipped(true))
            }
            (Relation::Le, Some(next)) => {
                let next = self.graph.bits(next);
                self.graph.op(codes[0], &[a, next])
            }
            _ => self.compare(relation, codes, [a, b]),
        }
    }

    /// Returns the result of float arithmetic: for packed numbers, lane by lane.
    fn float(&mut self, block: BlockId, op: &Op) -> Option<(Reg, Edge)> {
        let (format, lanes, mode, dst, operands) = match op {
            Op::FloatUnary { format, lanes, mode, dst, a, .. } => {
                (*format, *lanes, *mode, *dst, vec![*a])
            }
            Op::FloatBinary { format, lanes, mode, dst, a, b, .. } => {
                (*format, *lanes, *mode, *dst, vec![*a, *b])
            }
            Op::Fma { format, lanes, mode, dst, a, b, c } => {
                (*format, *lanes, *mode, *dst, vec![*a, *b, *c])
            }
            _ => return None,
        };
        let width = Width::from_bits(format.width().bits() * u32::from(lanes))?;
        let packed: Vec<Edge> =
            operands.into_iter().map(|operand| self.operand(block, operand, width)).collect();
        if lanes == 1 {
            return Some((dst, self.scalar(op, format, mode, &packed)?));
        }
        let mut results = Vec::new();
        for index in 0..lanes {
            let parts: Vec<Edge> =
                packed.iter().map(|&packed| self.lane(packed, index, lanes, format)).collect();
            results.push(self.scalar(op, format, mode, &parts)?);
        }
        Some((dst, self.graph.op(Code::Concat(lanes), &results)?))
    }

    /// Returns one of the packed numbers of a value.
    fn lane(&mut self, whole: Edge, index: u8, lanes: u8, format: ir::Format) -> Edge {
        match self.constant(whole) {
            Some(bits) => {
                let shift = u32::from(index) * format.width().bits();
                self.graph.bits(bits >> shift & format.width().mask())
            }
            None => self.part(whole, index, lanes),
        }
    }

    /// Returns the result of an operation on single numbers.
    fn scalar(
        &mut self,
        op: &Op,
        format: ir::Format,
        mode: FloatMode,
        operands: &[Edge],
    ) -> Option<Edge> {
        if mode.relu {
            return None;
        }
        let rounding = mode.rounding;
        let value = match (op, operands) {
            (Op::FloatUnary { op: FloatUnary::Negate, .. }, [a]) => a.flipped(true),
            (Op::FloatUnary { op, .. }, _) => {
                self.graph.op(Code::Float1(*op, format, rounding), operands)?
            }
            (Op::FloatBinary { op: FloatBinary::Add, .. }, _) => {
                self.graph.op(Code::Add(format, rounding), operands)?
            }
            (Op::FloatBinary { op: FloatBinary::Sub, .. }, [a, b]) => {
                self.graph.op(Code::Add(format, rounding), &[*a, b.flipped(true)])?
            }
            (Op::FloatBinary { op: FloatBinary::Mul, .. }, _) => {
                self.graph.op(Code::Mul(format, rounding), operands)?
            }
            (
                Op::FloatBinary {
                    op:
                        FloatBinary::Min { xor_sign_abs: true, .. }
                        | FloatBinary::Max { xor_sign_abs: true, .. },
                    ..
                },
                _,
            ) => return None,
            (Op::FloatBinary { op, .. }, _) => {
                self.graph.op(Code::Float2(*op, format), operands)?
            }
            (Op::Fma { .. }, _) => self.graph.op(Code::Fma(format, rounding), operands)?,
            _ => return None,
        };
        if !mode.saturate {
            return Some(value);
        }
        let scalar = Scalar::Float(format);
        let code = Code::Convert { from: scalar, to: scalar, rounding, saturate: true };
        self.graph.op(code, &[value])
    }
}
