//! Emits reductions: nested loops over their indices that update an accumulator.
//!
//! A sum over nothing is 0, a product 1, a maximum −∞ and a minimum ∞. An extreme of integers over nothing, or its
//! position, was rejected earlier. Elements that a condition on indices excludes are skipped; those that a condition
//! on data excludes have no effect.

use super::Emitter;
use super::values::reads_at_data;
use crate::typed::{Arithmetic, Node, NodeKind, Reduce, Reduction, Type};
use ir::{
    BlockId, FloatBinary, FloatMode, IntBinary, Op, Operand, Reg, Relation, Terminator, Width,
};

/// The registers of a reduction.
struct Accumulator {
    /// The result so far.
    value: Reg,
    /// For a mean, the number of elements; for `argmax` and `argmin`, the position so far.
    count_or_position: Option<Reg>,
    /// Set if `count_or_position` is a real, because it depends on data; otherwise it is an integer.
    second_is_real: bool,
    /// For an extreme of integers or its position: set while no element was seen.
    is_first: Option<Reg>,
}

/// An open loop.
struct OpenLoop {
    test: BlockId,
    end: BlockId,
    index: Reg,
}

impl Emitter<'_> {
    /// Computes a reduction.
    pub(super) fn reduce(&mut self, reduce: &Reduce, ty: Type) -> Operand {
        let accumulator = self.start_reduction(reduce, ty);
        let loops: Vec<OpenLoop> = reduce
            .ranges
            .iter()
            .map(|range| {
                let (low, high) = (self.value(&range.low), self.value(&range.high));
                let index = self.builder.register(Width::B64);
                self.indices[range.index] = Some(index);
                self.open_loop(index, low, high)
            })
            .collect();
        let innermost = self.builder.block();
        let (decided, open) = match &reduce.filter {
            Some(filter) => filter.conjuncts(),
            None => (Vec::new(), Vec::new()),
        };
        self.jump_unless(&decided, innermost);
        // Elements at data-dependent positions may not exist if they are filtered out.
        let jumps = reads_at_data(&reduce.body);
        if jumps {
            self.jump_unless(&open, innermost);
        }
        self.update(reduce, &accumulator, if jumps { &[] } else { &open });
        self.builder.terminate(Terminator::Jump(innermost));
        self.builder.switch_to(innermost);
        for one in loops.into_iter().rev() {
            self.close_loop(&one);
        }
        self.result(reduce, &accumulator)
    }

    /// Continues only if the conditions hold; otherwise jumps to a block.
    fn jump_unless(&mut self, conditions: &[&Node], elsewhere: BlockId) {
        if let Some(condition) = self.all_of(conditions) {
            let next = self.builder.block();
            self.builder.branch(condition, next, elsewhere);
            self.builder.switch_to(next);
        }
    }

    /// Computes an integer to a power, by a loop.
    pub(super) fn integer_power(&mut self, a: &Node, b: &Node) -> Operand {
        let (base, power) = (self.value(a), self.value(b));
        let [result, count] =
            [self.builder.register(Width::B64), self.builder.register(Width::B64)];
        self.builder.copy(result, Operand::Constant(1));
        let one = self.open_loop(count, Operand::Constant(0), power);
        self.arithmetic_into(result, Arithmetic::Multiply, base, true);
        self.close_loop(&one);
        result.into()
    }

    /// Begins a loop over an index, from `low` to before `high`.
    fn open_loop(&mut self, index: Reg, low: Operand, high: Operand) -> OpenLoop {
        let (test, body, end) = (self.builder.block(), self.builder.block(), self.builder.block());
        self.builder.copy(index, low);
        self.builder.terminate(Terminator::Jump(test));
        self.builder.switch_to(test);
        let continues = self.compare(Relation::Lt, [index.into(), high], true);
        self.builder.branch(continues, body, end);
        self.builder.switch_to(body);
        OpenLoop { test, end, index }
    }

    /// Ends the body of a loop and continues after it.
    fn close_loop(&mut self, open: &OpenLoop) {
        let (width, one) = (Width::B64, Operand::Constant(1));
        let (dst, a) = (open.index, open.index.into());
        self.builder.push(Op::IntBinary { op: IntBinary::Add, width, dst, a, b: one });
        self.builder.terminate(Terminator::Jump(open.test));
        self.builder.switch_to(open.end);
    }

    /// Sets the registers of a reduction to the result over nothing.
    fn start_reduction(&mut self, reduce: &Reduce, ty: Type) -> Accumulator {
        let is_integer = reduce.body.ty == Type::Integer;
        let real = |number: f32| self.builder.number(number);
        let (zero, one) = (Operand::Constant(0), Operand::Constant(1));
        let first = match reduce.reduction {
            Reduction::Sum | Reduction::Mean | Reduction::Count | Reduction::Any => zero,
            Reduction::Product if is_integer => one,
            Reduction::Product => real(1.0),
            Reduction::All => one,
            _ if is_integer => zero,
            Reduction::Max | Reduction::ArgMax => real(f32::NEG_INFINITY),
            Reduction::Min | Reduction::ArgMin => real(f32::INFINITY),
        };
        let keeps_position = matches!(reduce.reduction, Reduction::ArgMax | Reduction::ArgMin);
        // The position of an extreme is an index; the accumulator holds the extreme itself.
        let width = self.builder.width(if keeps_position { reduce.body.ty } else { ty });
        let value = self.builder.register(width);
        self.builder.copy(value, first);
        let is_mean = reduce.reduction == Reduction::Mean;
        let leaves_out = reduce.filter.as_ref().is_some_and(|filter| filter.is_data);
        let second_is_real = is_mean && leaves_out || keeps_position && ty == Type::Real;
        let count_or_position = (keeps_position || is_mean).then(|| {
            let ty = if second_is_real { Type::Real } else { Type::Integer };
            let register = self.builder.register(self.builder.width(ty));
            self.builder.copy(register, zero);
            register
        });
        let is_extreme = matches!(reduce.reduction, Reduction::Max | Reduction::Min);
        let is_first = (keeps_position || is_extreme && is_integer).then(|| {
            let register = self.builder.register(Width::B1);
            self.builder.copy(register, one);
            register
        });
        Accumulator { value, count_or_position, second_is_real, is_first }
    }

    /// Accumulates one element, unless conditions on data exclude it.
    fn update(&mut self, reduce: &Reduce, accumulator: &Accumulator, open: &[&Node]) {
        let is_integer = reduce.body.ty == Type::Integer;
        let kept = self.all_of(open);
        let value = accumulator.value;
        match reduce.reduction {
            Reduction::Sum | Reduction::Mean => {
                self.update_sum(&reduce.body, value, kept);
                if let Some(count) = accumulator.count_or_position {
                    let is_integer = !accumulator.second_is_real;
                    let one = self.one_if(kept, is_integer);
                    self.arithmetic_into(count, Arithmetic::Add, one, is_integer);
                }
            }
            Reduction::Product => {
                let one = if is_integer { Operand::Constant(1) } else { self.builder.number(1.0) };
                let factor = self.value(&reduce.body);
                let factor = self.kept_or(kept, factor, one, reduce.body.ty);
                self.arithmetic_into(value, Arithmetic::Multiply, factor, is_integer);
            }
            Reduction::Count => {
                let holds = self.value(&reduce.body);
                let holds = match kept {
                    Some(kept) => self.builder.logic(IntBinary::And, kept.into(), holds).into(),
                    None => holds,
                };
                let [one, zero] = [1, 0].map(Operand::Constant);
                let one = self.builder.select(holds, [one, zero], Width::B64);
                self.arithmetic_into(value, Arithmetic::Add, one.into(), true);
            }
            Reduction::Any | Reduction::All => self.update_truth(reduce, value, kept),
            Reduction::Max | Reduction::Min => {
                let element = self.value(&reduce.body);
                let larger = reduce.reduction == Reduction::Max;
                let new = self.extreme(larger, [value.into(), element], is_integer);
                let new = self.element_if_first(accumulator, element, new);
                let new = self.kept_or(kept, new, value.into(), reduce.body.ty);
                self.builder.copy(value, new);
            }
            Reduction::ArgMax | Reduction::ArgMin => self.update_position(reduce, accumulator),
        }
    }

    /// Adds an element to a sum; a product is added in one step.
    fn update_sum(&mut self, body: &Node, sum: Reg, kept: Option<Reg>) {
        if let (NodeKind::Arithmetic(Arithmetic::Multiply, a, b), None, Type::Real) =
            (&body.kind, kept, body.ty)
        {
            let (a, b) = (self.value(a), self.value(b));
            let (format, mode) = (self.builder.format, FloatMode::NEAREST);
            self.builder.push(Op::Fma { format, lanes: 1, mode, dst: sum, a, b, c: sum.into() });
            return;
        }
        let element = self.value(body);
        let element = self.kept_or(kept, element, Operand::Constant(0), body.ty);
        self.arithmetic_into(sum, Arithmetic::Add, element, body.ty == Type::Integer);
    }

    /// Computes `dst = dst op b`.
    fn arithmetic_into(&mut self, dst: Reg, op: Arithmetic, b: Operand, is_integer: bool) {
        let a = dst.into();
        let adds = op == Arithmetic::Add;
        self.builder.push(match is_integer {
            true => {
                let op = if adds { IntBinary::Add } else { IntBinary::Mul };
                Op::IntBinary { op, width: Width::B64, dst, a, b }
            }
            false => {
                let op = if adds { FloatBinary::Add } else { FloatBinary::Mul };
                let (format, mode) = (self.builder.format, FloatMode::NEAREST);
                Op::FloatBinary { op, format, lanes: 1, mode, dst, a, b }
            }
        });
    }

    /// Updates `any` or `all` by a condition.
    fn update_truth(&mut self, reduce: &Reduce, value: Reg, kept: Option<Reg>) {
        let is_any = reduce.reduction == Reduction::Any;
        let holds = self.value(&reduce.body);
        let neutral = Operand::Constant(u64::from(!is_any));
        let holds = match kept {
            Some(kept) => self.builder.select(kept.into(), [holds, neutral], Width::B1).into(),
            None => holds,
        };
        let op = if is_any { IntBinary::Or } else { IntBinary::And };
        let new = self.builder.logic(op, value.into(), holds);
        self.builder.copy(value, new.into());
    }

    /// Updates the extreme and its position: the first index with the largest or smallest element.
    fn update_position(&mut self, reduce: &Reduce, accumulator: &Accumulator) {
        let is_integer = reduce.body.ty == Type::Integer;
        let element = self.value(&reduce.body);
        let relation = match reduce.reduction {
            Reduction::ArgMax => Relation::Gt,
            _ => Relation::Lt,
        };
        let best = accumulator.value;
        let better = self.compare(relation, [element, best.into()], is_integer);
        let (Some(position), Some(is_first)) =
            (accumulator.count_or_position, accumulator.is_first)
        else {
            return;
        };
        let better = self.builder.logic(IntBinary::Or, is_first.into(), better.into());
        self.builder.copy(is_first, Operand::Constant(0));
        let index = self.indices[reduce.ranges[0].index];
        let mut index = index.map_or(Operand::Constant(0), Operand::from);
        let mut index_width = Width::B64;
        if accumulator.second_is_real {
            let (low, high) = self.typed.indices[reduce.ranges[0].index].bounds;
            index = self.known_integer_as_real(index, low.abs().max(high.abs()));
            index_width = self.builder.width(Type::Real);
        }
        let width = self.builder.width(reduce.body.ty);
        for (register, new, width) in [(best, element, width), (position, index, index_width)] {
            let new = self.builder.select(better.into(), [new, register.into()], width);
            self.builder.copy(register, new.into());
        }
    }

    /// Returns the element itself if it is the first one, else the new extreme.
    fn element_if_first(
        &mut self,
        accumulator: &Accumulator,
        element: Operand,
        new: Operand,
    ) -> Operand {
        let Some(is_first) = accumulator.is_first else { return new };
        let new = self.builder.select(is_first.into(), [element, new], Width::B64);
        self.builder.copy(is_first, Operand::Constant(0));
        new.into()
    }

    /// Returns `value` if the element is kept, else `otherwise`.
    fn kept_or(
        &mut self,
        kept: Option<Reg>,
        value: Operand,
        otherwise: Operand,
        ty: Type,
    ) -> Operand {
        let width = self.builder.width(ty);
        match kept {
            Some(kept) => self.builder.select(kept.into(), [value, otherwise], width).into(),
            None => value,
        }
    }

    /// Returns 1 if the element is kept, else 0.
    fn one_if(&mut self, kept: Option<Reg>, is_integer: bool) -> Operand {
        let one = if is_integer { Operand::Constant(1) } else { self.builder.number(1.0) };
        let ty = if is_integer { Type::Integer } else { Type::Real };
        self.kept_or(kept, one, Operand::Constant(0), ty)
    }

    /// Computes the result from the registers.
    fn result(&mut self, reduce: &Reduce, accumulator: &Accumulator) -> Operand {
        let value = accumulator.value.into();
        match (reduce.reduction, accumulator.count_or_position) {
            (Reduction::Mean, Some(count)) if accumulator.second_is_real => {
                self.builder.float(FloatBinary::Div, value, count.into()).into()
            }
            (Reduction::Mean, Some(count)) => {
                let most = reduce.ranges.iter().map(|range| self.typed.indices[range.index].bounds);
                let most =
                    most.map(|(low, high)| high.saturating_sub(low).saturating_add(1).max(0));
                let most = most.fold(1, i128::saturating_mul);
                let count = self.known_integer_as_real(count.into(), most);
                self.builder.float(FloatBinary::Div, value, count).into()
            }
            (Reduction::ArgMax | Reduction::ArgMin, Some(position)) => position.into(),
            _ => value,
        }
    }
}
