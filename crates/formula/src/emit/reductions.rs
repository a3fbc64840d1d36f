//! Reductions: nested loops over their indices that update an accumulator.
//!
//! A sum over nothing is 0, a product 1, a maximum −∞ and a minimum ∞. Of integers, a maximum over nothing is refused
//! before. Elements that a condition on indices leaves out are jumped over; those that a condition on data leaves out
//! change nothing.

use super::Emitter;
use crate::typed::{Arithmetic, Node, NodeKind, Reduce, Reduction, Type};
use ir::{
    BlockId, FloatBinary, FloatMode, Format, IntBinary, Op, Operand, Reg, Relation, Scalar,
    Terminator, Width,
};

/// The registers of a reduction.
struct Accumulator {
    /// The result so far.
    value: Reg,
    /// Of a mean, how many elements there are; of an extreme, where it was found.
    second: Option<Reg>,
    /// Of an extreme of integers or its place, whether no element was met yet.
    is_first: Option<Reg>,
}

/// A loop that is open.
struct Open {
    test: BlockId,
    end: BlockId,
    index: Reg,
}

impl Emitter<'_> {
    pub(super) fn reduce(&mut self, reduce: &Reduce, ty: Type) -> Operand {
        let accumulator = self.start(reduce, ty);
        let loops: Vec<Open> = reduce
            .ranges
            .iter()
            .map(|range| {
                let (low, high) = (self.value(&range.low), self.value(&range.high));
                let index = self.builder.register(Width::B64);
                self.indices[range.index] = Some(index);
                self.open(index, low, high)
            })
            .collect();
        let innermost = self.builder.block();
        let (decided, open) = match &reduce.filter {
            Some(filter) => filter.conjuncts(),
            None => (Vec::new(), Vec::new()),
        };
        if let Some(condition) = self.all_of(&decided) {
            let body = self.builder.block();
            self.builder.branch(condition, body, innermost);
            self.builder.go_on(body);
        }
        self.update(reduce, &accumulator, &open);
        self.builder.terminate(Terminator::Jump(innermost));
        self.builder.go_on(innermost);
        for one in loops.into_iter().rev() {
            self.close(&one);
        }
        self.result(reduce, &accumulator)
    }

    fn open(&mut self, index: Reg, low: Operand, high: Operand) -> Open {
        let (test, body, end) = (self.builder.block(), self.builder.block(), self.builder.block());
        self.builder.copy(index, low);
        self.builder.terminate(Terminator::Jump(test));
        self.builder.go_on(test);
        let goes_on = self.compare(Relation::Lt, [index.into(), high], true);
        self.builder.branch(goes_on, body, end);
        self.builder.go_on(body);
        Open { test, end, index }
    }

    fn close(&mut self, open: &Open) {
        let (width, one) = (Width::B64, Operand::Constant(1));
        let (dst, a) = (open.index, open.index.into());
        self.builder.push(Op::IntBinary { op: IntBinary::Add, width, dst, a, b: one });
        self.builder.terminate(Terminator::Jump(open.test));
        self.builder.go_on(open.end);
    }

    fn start(&mut self, reduce: &Reduce, ty: Type) -> Accumulator {
        let is_integer = reduce.body.ty == Type::Integer;
        let double = |number: f64| Operand::Constant(number.to_bits());
        let (zero, one) = (Operand::Constant(0), Operand::Constant(1));
        let first = match reduce.reduction {
            Reduction::Sum | Reduction::Mean | Reduction::Count | Reduction::Any => zero,
            Reduction::Product if is_integer => one,
            Reduction::Product => double(1.0),
            Reduction::All => one,
            _ if is_integer => zero,
            Reduction::Max | Reduction::ArgMax => double(f64::NEG_INFINITY),
            Reduction::Min | Reduction::ArgMin => double(f64::INFINITY),
        };
        let width = if ty == Type::Truth { Width::B1 } else { Width::B64 };
        let value = self.builder.register(width);
        self.builder.copy(value, first);
        let takes_place = matches!(reduce.reduction, Reduction::ArgMax | Reduction::ArgMin);
        let second = (takes_place || reduce.reduction == Reduction::Mean).then(|| {
            let register = self.builder.register(Width::B64);
            self.builder.copy(register, zero);
            register
        });
        let is_extreme = matches!(reduce.reduction, Reduction::Max | Reduction::Min);
        let is_first = (takes_place || is_extreme && is_integer).then(|| {
            let register = self.builder.register(Width::B1);
            self.builder.copy(register, one);
            register
        });
        Accumulator { value, second, is_first }
    }

    /// Takes one element in, unless conditions on data leave it out.
    fn update(&mut self, reduce: &Reduce, accumulator: &Accumulator, open: &[&Node]) {
        let is_integer = reduce.body.ty == Type::Integer;
        let kept = self.all_of(open);
        let value = accumulator.value;
        match reduce.reduction {
            Reduction::Sum | Reduction::Mean => {
                self.add(&reduce.body, value, kept);
                if let Some(count) = accumulator.second {
                    let one = self.one_if(kept);
                    let (op, width, a) = (IntBinary::Add, Width::B64, count.into());
                    self.builder.push(Op::IntBinary { op, width, dst: count, a, b: one });
                }
            }
            Reduction::Product => {
                let one = if is_integer { 1 } else { 1.0_f64.to_bits() };
                let factor = self.value(&reduce.body);
                let factor = self.kept_or(kept, factor, Operand::Constant(one));
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
            Reduction::Any | Reduction::All => self.junction(reduce, value, kept),
            Reduction::Max | Reduction::Min => {
                let element = self.value(&reduce.body);
                let larger = reduce.reduction == Reduction::Max;
                let new = self.extreme(larger, [value.into(), element], is_integer);
                let new = self.unless_first(accumulator, element, new);
                let new = self.kept_or(kept, new, value.into());
                self.builder.copy(value, new);
            }
            Reduction::ArgMax | Reduction::ArgMin => self.place(reduce, accumulator),
        }
    }

    /// Adds to a sum; a product is added in one step.
    fn add(&mut self, body: &Node, sum: Reg, kept: Option<Reg>) {
        if let (NodeKind::Arithmetic(Arithmetic::Multiply, a, b), None, Type::Real) =
            (&body.kind, kept, body.ty)
        {
            let (a, b) = (self.value(a), self.value(b));
            let (format, mode) = (Format::F64, FloatMode::NEAREST);
            self.builder.push(Op::Fma { format, lanes: 1, mode, dst: sum, a, b, c: sum.into() });
            return;
        }
        let element = self.value(body);
        let element = self.kept_or(kept, element, Operand::Constant(0));
        self.arithmetic_into(sum, Arithmetic::Add, element, body.ty == Type::Integer);
    }

    /// `dst = dst op b`.
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
                let (format, mode) = (Format::F64, FloatMode::NEAREST);
                Op::FloatBinary { op, format, lanes: 1, mode, dst, a, b }
            }
        });
    }

    fn junction(&mut self, reduce: &Reduce, value: Reg, kept: Option<Reg>) {
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

    /// The first index with the largest or smallest element.
    fn place(&mut self, reduce: &Reduce, accumulator: &Accumulator) {
        let is_integer = reduce.body.ty == Type::Integer;
        let element = self.value(&reduce.body);
        let relation = match reduce.reduction {
            Reduction::ArgMax => Relation::Gt,
            _ => Relation::Lt,
        };
        let best = accumulator.value;
        let better = self.compare(relation, [element, best.into()], is_integer);
        let (Some(place), Some(is_first)) = (accumulator.second, accumulator.is_first) else {
            return;
        };
        let better = self.builder.logic(IntBinary::Or, is_first.into(), better.into());
        self.builder.copy(is_first, Operand::Constant(0));
        let index = self.indices[reduce.ranges[0].index];
        let index = index.map_or(Operand::Constant(0), Operand::from);
        for (register, new) in [(best, element), (place, index)] {
            let new = self.builder.select(better.into(), [new, register.into()], Width::B64);
            self.builder.copy(register, new.into());
        }
    }

    /// The element itself if it is the first that counts.
    fn unless_first(
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

    fn kept_or(&mut self, kept: Option<Reg>, value: Operand, otherwise: Operand) -> Operand {
        match kept {
            Some(kept) => self.builder.select(kept.into(), [value, otherwise], Width::B64).into(),
            None => value,
        }
    }

    fn one_if(&mut self, kept: Option<Reg>) -> Operand {
        self.kept_or(kept, Operand::Constant(1), Operand::Constant(0))
    }

    fn result(&mut self, reduce: &Reduce, accumulator: &Accumulator) -> Operand {
        let value = accumulator.value.into();
        match (reduce.reduction, accumulator.second) {
            (Reduction::Mean, Some(count)) => {
                let integer = Scalar::Integer { width: Width::B64, signed: true };
                let count = self.converted(count.into(), integer);
                self.builder.double(FloatBinary::Div, value, count).into()
            }
            (Reduction::ArgMax | Reduction::ArgMin, Some(place)) => place.into(),
            _ => value,
        }
    }
}
