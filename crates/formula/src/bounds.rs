//! Checks bounds before a run: elements are inside of their tensors, no integer is divided by 0, and integers are
//! small enough to be exact.
//!
//! Bounds of the index expressions show it for most elements at once. Otherwise all values of the indices are
//! enumerated, with exact conditions on indices. Elements at data-dependent positions are not checked here: the run
//! checks them, as it does for a kernel. The same holds for a formula with too many values to enumerate.

use crate::error::Error;
use crate::interval::interval;
use crate::resolve::floor_divide;
use crate::typed::{
    Arithmetic, Function, IndexId, Node, NodeKind, Range, Reduce, Reduction, Step, Type, Typed,
};
use base::{IndexVec, Span};

/// Limit on the enumerated values of indices.
const MAX_VISITS: u64 = 10_000_000;

/// Integers up to this one are doubles.
const LARGEST_DOUBLE: i128 = 1 << 53;

/// Checks all definitions of a formula.
pub(crate) fn check(typed: &Typed) -> Result<(), Error> {
    for step in &typed.steps {
        check_integers(typed, &step.value)?;
        if !is_suspect(typed, &step.value) {
            continue;
        }
        let values = typed.indices.iter().map(|_| None).collect();
        let mut walk = Walk { typed, values, visits: MAX_VISITS };
        match walk.check_elements(step, 0) {
            Ok(()) => {}
            Err(BoundsError::Wrong(error)) => return Err(error),
            // The run checks the rest, except for extremes over nothing.
            Err(BoundsError::TooMany) if !has_open_extremes(typed, &step.value) => {}
            Err(BoundsError::TooMany) => {
                let message = "there are too many elements to show that every maximum and minimum here has \
                    at least one";
                return Err(Error::new(step.span, message));
            }
        }
    }
    Ok(())
}

/// Checks that integers fit in 64 bits, intermediate ones too, and in 53 where they become reals.
fn check_integers(typed: &Typed, node: &Node) -> Result<(), Error> {
    let is_within = |node: &Node, most: i128| {
        interval(typed, node).is_some_and(|(low, high)| -most <= low && high <= most)
    };
    let wrong = |node: &Node| {
        Error::new(node.span, "this integer may exceed 2^53, up to which integers are exact here")
    };
    match &node.kind {
        NodeKind::ToReal(inner) if !inner.is_data && !is_within(inner, LARGEST_DOUBLE) => {
            return Err(wrong(inner));
        }
        // An element alone has its stored value, and a rounded real saturates.
        NodeKind::Element { .. }
        | NodeKind::Scalar(_)
        | NodeKind::Function(Function::Round(_), _) => {}
        _ if node.ty == Type::Integer && !is_within(node, i64::MAX.into()) => {
            let message = "this integer may exceed 64 bits; state the range of an s64 tensor (`:0..100`), clamp a rounded \
                           real, or compute with reals: `1.0*…`";
            return Err(Error::new(node.span, message));
        }
        _ => {}
    }
    let mut result = Ok(());
    node.each_child(&mut |inner| {
        if result.is_ok() {
            result = check_integers(typed, inner);
        }
    });
    result
}

/// Returns `true` if interval bounds alone do not show that a node is defined.
fn is_suspect(typed: &Typed, node: &Node) -> bool {
    let is_suspect_itself = match &node.kind {
        NodeKind::Element { array, indices, outside: None } => {
            let shape = &typed.arrays[*array].shape;
            let is_inside = |(index, size): (&Node, &u64)| {
                interval(typed, index)
                    .is_some_and(|(low, high)| low >= 0 && high < i128::from(*size) || low > high)
            };
            !indices.iter().zip(shape).all(is_inside)
        }
        NodeKind::Arithmetic(Arithmetic::FloorDivide | Arithmetic::Remainder, _, b) => {
            interval(typed, b).is_none_or(|(low, high)| low <= 0 && high >= 0)
        }
        NodeKind::Reduce(reduce) => needs_element(reduce) && may_be_empty(typed, reduce),
        _ => false,
    };
    let mut found = is_suspect_itself;
    node.each_child(&mut |inner| found |= is_suspect(typed, inner));
    found
}

/// Returns `true` if an extreme may be over nothing, where that is undefined.
fn has_open_extremes(typed: &Typed, node: &Node) -> bool {
    let mut found = matches!(&node.kind, NodeKind::Reduce(reduce) if needs_element(reduce) && may_be_empty(typed, reduce));
    node.each_child(&mut |inner| found |= has_open_extremes(typed, inner));
    found
}

/// Returns `true` if a reduction is undefined over an empty range: no integer is infinite, and an extreme of
/// nothing has no position.
fn needs_element(reduce: &Reduce) -> bool {
    match reduce.reduction {
        Reduction::Max | Reduction::Min => reduce.body.ty == Type::Integer,
        Reduction::ArgMax | Reduction::ArgMin => true,
        _ => false,
    }
}

/// Returns `true` if interval bounds do not exclude that a reduction is over nothing.
fn may_be_empty(typed: &Typed, reduce: &Reduce) -> bool {
    let is_full = |range: &Range| {
        let info = &typed.indices[range.index];
        info.is_fixed && info.bounds.0 <= info.bounds.1
    };
    reduce.filter.is_some() || !reduce.ranges.iter().all(is_full)
}

/// The reason why an enumeration ended early.
enum BoundsError {
    Wrong(Error),
    /// More values than [`MAX_VISITS`].
    TooMany,
}

/// An enumeration of index values.
struct Walk<'w> {
    typed: &'w Typed,
    /// Current values of the indices.
    values: IndexVec<IndexId, Option<i128>>,
    /// Number of visits that are left.
    visits: u64,
}

impl Walk<'_> {
    /// Checks the elements of a definition, enumerating its indices from dimension `axis` on.
    fn check_elements(&mut self, step: &Step, axis: usize) -> Result<(), BoundsError> {
        let Some(index) = step.indices.get(axis) else { return self.visit(&step.value) };
        let (low, high) = self.typed.indices[*index].bounds;
        for value in low..=high {
            self.set(*index, Some(value));
            self.check_elements(step, axis + 1)?;
        }
        self.set(*index, None);
        Ok(())
    }

    fn set(&mut self, index: IndexId, value: Option<i128>) {
        self.values[index] = value;
    }

    /// Checks a node for the current values of the indices.
    fn visit(&mut self, node: &Node) -> Result<(), BoundsError> {
        if !is_suspect(self.typed, node) {
            return Ok(());
        }
        self.visits = self.visits.checked_sub(1).ok_or(BoundsError::TooMany)?;
        match &node.kind {
            NodeKind::If { condition, value, otherwise } => {
                self.visit(condition)?;
                let (decided, open) = condition.conjuncts();
                let holds = decided.iter().all(|one| self.truth(one) != Some(false));
                if holds {
                    self.visit(value)?;
                }
                if !holds || !open.is_empty() || self.truth(condition) != Some(true) {
                    self.visit(otherwise)?;
                }
                Ok(())
            }
            NodeKind::Reduce(reduce) => {
                let kept = self.reduce(reduce, 0)?;
                if kept || !needs_element(reduce) {
                    return Ok(());
                }
                let (name, here) = (reduce.reduction.name(), self.here(node));
                let message = format!("`{name}` of no elements{here} is not a number");
                Err(BoundsError::Wrong(Error::new(node.span, message)))
            }
            _ => {
                let mut result = Ok(());
                node.each_child(&mut |inner| {
                    if result.is_ok() {
                        result = self.visit(inner);
                    }
                });
                result?;
                self.check_node(node).map_err(BoundsError::Wrong)
            }
        }
    }

    /// Checks the elements of a reduction, enumerating its indices from number `at` on. Returns `true` if
    /// there is an element for certain.
    fn reduce(&mut self, reduce: &Reduce, at: usize) -> Result<bool, BoundsError> {
        let Some(range) = reduce.ranges.get(at) else {
            let Some(filter) = &reduce.filter else {
                self.visit(&reduce.body)?;
                return Ok(true);
            };
            self.visit(filter)?;
            let truths: Vec<Option<bool>> =
                filter.conjuncts().0.into_iter().map(|one| self.truth(one)).collect();
            if truths.iter().all(|holds| *holds != Some(false)) {
                self.visit(&reduce.body)?;
            }
            return Ok(truths.iter().all(|holds| *holds == Some(true)));
        };
        self.visit(&range.low)?;
        self.visit(&range.high)?;
        let (Some(low), Some(high)) = (self.integer(&range.low), self.integer(&range.high)) else {
            return Ok(false);
        };
        let mut any = false;
        for value in low..high {
            self.visits = self.visits.checked_sub(1).ok_or(BoundsError::TooMany)?;
            self.set(range.index, Some(value));
            any |= self.reduce(reduce, at + 1)?;
        }
        self.set(range.index, None);
        Ok(any)
    }

    /// Checks a node itself, without its operands.
    fn check_node(&self, node: &Node) -> Result<(), Error> {
        match &node.kind {
            NodeKind::Element { array, indices, outside: None } => {
                let array = &self.typed.arrays[*array];
                let values: Option<Vec<i128>> =
                    indices.iter().map(|index| self.integer(index)).collect();
                let Some(values) = values else { return Ok(()) };
                let outside =
                    |(value, size): (&i128, &u64)| *value < 0 || *value >= i128::from(*size);
                if !values.iter().zip(&array.shape).any(outside) {
                    return Ok(());
                }
                let shown = |all: Vec<String>| all.join(",");
                let at = shown(values.iter().map(ToString::to_string).collect());
                let shape = shown(array.shape.iter().map(ToString::to_string).collect());
                let (name, here) = (&array.name, self.here(node));
                Err(Error::new(
                    node.span,
                    format!(
                        "`{name}[{at}]` is outside ([{shape}]){here}; `{name}[… else 0]` gives a value there"
                    ),
                ))
            }
            NodeKind::Arithmetic(Arithmetic::FloorDivide | Arithmetic::Remainder, _, b)
                if self.integer(b) == Some(0) =>
            {
                Err(self.division_error(b.span, node))
            }
            _ => Ok(()),
        }
    }

    fn division_error(&self, span: Span, node: &Node) -> Error {
        Error::new(span, format!("a division by 0{}", self.here(node)))
    }

    /// Describes the values of the indices that a node depends on.
    fn here(&self, node: &Node) -> String {
        let value = |index: IndexId| {
            let value = self.values[index]?;
            Some(format!("{} = {value}", self.typed.indices[index].name))
        };
        let all: Vec<String> = node.free_indices().into_iter().filter_map(value).collect();
        if all.is_empty() { String::new() } else { format!(" for {}", all.join(", ")) }
    }

    /// Returns the value of an integer that depends on indices alone.
    fn integer(&self, node: &Node) -> Option<i128> {
        match &node.kind {
            NodeKind::Number(number) => number.to_i64().map(i128::from),
            NodeKind::Index(index) => self.values[*index],
            NodeKind::Negate(a) => self.integer(a)?.checked_neg(),
            NodeKind::Arithmetic(op, a, b) => {
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                match op {
                    Arithmetic::Add => a.checked_add(b),
                    Arithmetic::Subtract => a.checked_sub(b),
                    Arithmetic::Multiply => a.checked_mul(b),
                    Arithmetic::FloorDivide => floor_divide(a, b),
                    Arithmetic::Remainder => a.checked_sub(floor_divide(a, b)?.checked_mul(b)?),
                    Arithmetic::Divide => None,
                }
            }
            NodeKind::IntegerPower(a, b) => {
                let power = u32::try_from(self.integer(b)?).ok()?;
                self.integer(a)?.checked_pow(power)
            }
            NodeKind::Power(a, exponent) => {
                let power = u32::try_from(exponent.to_i64()?).ok()?;
                self.integer(a)?.checked_pow(power)
            }
            NodeKind::If { condition, value, otherwise } => match self.truth(condition)? {
                true => self.integer(value),
                false => self.integer(otherwise),
            },
            NodeKind::Function(function, arguments) => {
                let all: Option<Vec<i128>> =
                    arguments.iter().map(|argument| self.integer(argument)).collect();
                match (function, all?.as_slice()) {
                    (Function::Max, [a, b]) => Some(*a.max(b)),
                    (Function::Min, [a, b]) => Some(*a.min(b)),
                    (Function::Abs, [a]) => a.checked_abs(),
                    (Function::Sign, [a]) => Some(a.signum()),
                    (Function::Relu, [a]) => Some((*a).max(0)),
                    (Function::Clamp, [a, low, high]) => Some((*a).max(*low).min(*high)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the truth of a condition that depends on indices alone.
    fn truth(&self, node: &Node) -> Option<bool> {
        match &node.kind {
            NodeKind::Compare(relation, a, b) => {
                let (a, b) = (self.integer(a)?, self.integer(b)?);
                Some(match relation {
                    ir::Relation::Eq => a == b,
                    ir::Relation::Ne => a != b,
                    ir::Relation::Lt => a < b,
                    ir::Relation::Le => a <= b,
                    ir::Relation::Gt => a > b,
                    ir::Relation::Ge => a >= b,
                })
            }
            NodeKind::Not(a) => self.truth(a).map(|holds| !holds),
            NodeKind::And(a, b) => Some(self.truth(a)? && self.truth(b)?),
            NodeKind::Or(a, b) => Some(self.truth(a)? || self.truth(b)?),
            _ => None,
        }
    }
}
