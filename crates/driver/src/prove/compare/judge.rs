//! Decides if two runs left the same contents.
//!
//! Integers must be equal. Floats must be equal as numbers if every operation of the run was exact (the sign of zero
//! and the bits of a NaN are ignored). Otherwise our reading, which computes with doubles, is run again with
//! perturbations: every inexact result is moved by 4 to 8 units in the last place of the kernel's narrowest type,
//! more than any correct rounding, and every approximate function by more than its bound. An element must then lie
//! within 32 times the distance that these runs moved it, and within 2^-20 of its size (2^-8 with halves). This is an
//! estimate of the effect of rounding, not a bound. It is wide on purpose, because a wrong alarm is worse here than a
//! missed difference in the last digits. Integers are left out if these runs disagree on them.

use super::data::Discrepancy;
use interp::{CompiledResults, Elements, OrderDependence, Value};
use kir::{ArrayId, Kernel};
use std::collections::BTreeMap;

/// Allowed distance of an element, relative to the spread of perturbed runs.
const SLACK: f64 = 32.0;
/// Relative and absolute distance that is always allowed for inexact floats.
const RELATIVE: f64 = 1.0 / (1 << 20) as f64;
const ABSOLUTE: f64 = 1.0e-30;

/// A run of our reading, and perturbed ones if it was not exact.
pub(super) struct Judge<'j> {
    pub(super) kernel: &'j Kernel,
    pub(super) order: &'j OrderDependence,
    pub(super) left: &'j CompiledResults,
    pub(super) others: &'j [CompiledResults],
}

impl Judge<'_> {
    /// The first element that differs, and the number of compared elements.
    pub(super) fn compare(
        &self,
        compiled: &BTreeMap<ArrayId, Vec<Value>>,
    ) -> (Option<Discrepancy>, u64) {
        let mut elements = 0;
        for (array, values) in compiled {
            if self.order.has(*array) {
                continue;
            }
            for (at, value) in values.iter().enumerate() {
                let read = element(&self.left.after, *array, at);
                match self.agrees(*array, at, *value, read) {
                    Some(true) => elements += 1,
                    Some(false) => {
                        return (Some(self.discrepancy(*array, at, *value, read)), elements);
                    }
                    None => {}
                }
            }
        }
        (None, elements)
    }

    /// Returns `true` if two elements are equal; `None` if that cannot be decided.
    fn agrees(&self, array: ArrayId, at: usize, compiled: Value, read: Value) -> Option<bool> {
        let other_orders = self.others.iter().map(|other| element(&other.after, array, at));
        match (compiled, read) {
            (Value::Int { value: one, .. }, Value::Int { value: two, .. }) => {
                let mut other_orders = other_orders;
                let is_fixed = other_orders.all(|other| other.number() == Some(two));
                is_fixed.then_some(one == two)
            }
            (Value::Float(one), Value::Float(two)) => {
                let (one, two) = (one.value(), two.value());
                if one == two || one.is_nan() && two.is_nan() {
                    return Some(true);
                }
                if self.left.exact {
                    return Some(false);
                }
                // A number too large for a float is finite as a double.
                if self.left.out_of_range && !one.is_finite() || !two.is_finite() {
                    return None;
                }
                let mut spread = 0.0_f64;
                for other in other_orders {
                    match other {
                        Value::Float(other) if other.value().is_finite() => {
                            spread = spread.max((other.value() - two).abs());
                        }
                        _ => return None,
                    }
                }
                let allowed = SLACK * spread + self.relative() * two.abs() + ABSOLUTE;
                Some((one - two).abs() <= allowed)
            }
            (_, Value::Undefined) | (Value::Undefined, _) => None,
            _ => Some(false),
        }
    }

    fn relative(&self) -> f64 {
        if self.left.significand < 24 { 1.0 / 256.0 } else { RELATIVE }
    }

    fn discrepancy(&self, array: ArrayId, at: usize, compiled: Value, read: Value) -> Discrepancy {
        let [compiled, read] = [compiled, read].map(value_text);
        let array = self.kernel.arrays[array].name.clone();
        Discrepancy::Element { array, index: format!("[{at}]"), compiled, read }
    }
}

fn element(elements: &Elements, array: ArrayId, at: usize) -> Value {
    let found = elements.get(&array).and_then(|values| values.get(at));
    found.copied().unwrap_or(Value::Undefined)
}

fn value_text(value: Value) -> String {
    match value {
        Value::Int { value, .. } => value.to_string(),
        Value::Float(real) => real.value().to_string(),
        Value::Undefined => "nothing".to_owned(),
    }
}
