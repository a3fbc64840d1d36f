//! Folds of observed array elements over ranges (`low`, `low + step`, …), with cached results, for comparison with the
//! values that a run stored.

use crate::clause::Monoid;
use interp::{self, Value};
use kir::{self, FoldOp, Kernel, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The elements `low`, `low + step`, … below `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Range {
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) step: i128,
}

impl Range {
    pub(super) fn new(low: i128, high: i128) -> Self {
        Self { low, high, step: 1 }
    }
}

/// An operation on numbers of a type.
#[derive(Clone, Debug)]
pub(super) struct Combine {
    pub(super) op: FoldOp,
    pub(super) monoid: Option<Arc<kir::Monoid>>,
    name: Monoid,
    unit: Option<Value>,
    ty: Type,
}

impl Combine {
    pub(super) fn new(
        op: &FoldOp,
        monoid: Option<&Arc<kir::Monoid>>,
        ty: Type,
        kernel: &Kernel,
    ) -> Self {
        let name = Monoid::of(op, kernel);
        let unit = match (name.unit(ty, kernel), ty) {
            #[expect(clippy::cast_precision_loss, reason = "0 or 1")]
            (Some(unit), Type::Float) => Some(Value::float(unit as f64)),
            (unit, _) => unit.map(Value::int),
        };
        Self { op: op.clone(), monoid: monoid.cloned(), name, unit, ty }
    }

    /// All operations on a type.
    pub(super) fn all(ty: Type, kernel: &Kernel) -> Vec<Self> {
        let builtin = match ty {
            Type::Float => vec![FoldOp::Add, FoldOp::Max, FoldOp::Min],
            Type::Int { .. } => {
                let bits = [FoldOp::Or, FoldOp::And, FoldOp::Xor];
                [FoldOp::Add, FoldOp::Max, FoldOp::Min].into_iter().chain(bits).collect()
            }
            _ => Vec::new(),
        };
        let builtin = builtin.into_iter().map(|op| Self::new(&op, None, ty, kernel));
        let declared = kernel.monoids.iter().enumerate().filter(|(_, one)| one.result.ty == ty);
        let declared = declared.map(|(number, one)| {
            Self::new(&FoldOp::Monoid(number), Some(&Arc::new(one.clone())), ty, kernel)
        });
        builtin.chain(declared).collect()
    }

    fn apply(&self, one: Value, two: Value) -> Option<Value> {
        if let Some(monoid) = &self.monoid {
            return interp::apply_monoid(monoid, one, two);
        }
        let fit = |value: i128| self.ty.wrap(value);
        let name = self.name.name.as_str();
        if let (Value::Float(a), Value::Float(b)) = (one, two) {
            let (a, b) = (a.value(), b.value());
            return Some(Value::float(match name {
                "+" => a + b,
                "max" => a.max(b),
                "min" => a.min(b),
                _ => return None,
            }));
        }
        let (a, b) = (one.number()?, two.number()?);
        Some(Value::int(match name {
            "+" => fit(a + b),
            "max" => a.max(b),
            "min" => a.min(b),
            "|" => a | b,
            "&" => a & b,
            "^" => a ^ b,
            _ => return None,
        }))
    }
}

/// Elements of an array, with cached results of operations on ranges of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    values: BTreeMap<i128, Value>,
    known: BTreeMap<Range, Option<Value>>,
}

impl Ranges {
    pub(super) fn new(values: BTreeMap<i128, Value>) -> Self {
        Self { values, known: BTreeMap::new() }
    }

    /// The combination of a range; the unit if it is empty.
    pub(super) fn folded(&mut self, combine: &Combine, range: Range) -> Option<Value> {
        if let Some(known) = self.known.get(&range) {
            return *known;
        }
        let Range { low, high, step } = range;
        let value = if low >= high {
            combine.unit
        } else {
            let last = high - 1 - (high - 1 - low) % step;
            let last_value = self.values.get(&last).copied();
            if last == low {
                last_value
            } else {
                let rest = self.folded(combine, Range { low, high: last, step });
                rest.zip(last_value).and_then(|(rest, last)| combine.apply(rest, last))
            }
        };
        self.known.insert(range, value);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_every_step_of_their_elements() {
        let ty = Type::UNSIGNED;
        let unit = Some(Value::int(0));
        let name = Monoid::named("+");
        let sum = Combine { op: FoldOp::Add, monoid: None, name, unit, ty };
        let mut ranges = Ranges::new((0..12).map(|at| (at, Value::int(1 << at))).collect());
        for (low, high, step) in [(0, 12, 1), (3, 12, 4), (3, 11, 4), (2, 3, 1), (5, 5, 1)] {
            let wanted: i128 =
                (low..high).filter(|at| (at - low) % step == 0).map(|at| 1 << at).sum();
            let got = ranges.folded(&sum, Range { low, high, step });
            assert_eq!(got.and_then(|one| one.number()), Some(wanted), "{low} {high} {step}");
        }
        assert!(ranges.folded(&sum, Range::new(11, 13)).is_none(), "there is no such element");
    }
}
