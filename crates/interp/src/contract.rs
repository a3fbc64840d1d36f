//! Evaluates a contract on a launch: tests if it allows the launch and an access, computes the sizes of arrays, and
//! lists the arrays with requirements.

use crate::evaluate::{evaluate, truth};
use crate::launch::Launch;
use crate::outcome::AccessKind;
use crate::shadow::Memory;
use crate::value::{Environment, Value};
use base::Index;
use kir::{
    ArrayId, Builtin, Expr, ExprKind, Kernel, Precision, Requirement, Space, Type, VarId, When,
    visit,
};

/// The environment of contract expressions: sizes, quantified variables, elements.
pub(crate) struct Contract<'l> {
    pub(crate) launch: &'l Launch,
    pub(crate) bound: &'l [(VarId, i128)],
    pub(crate) elements: Option<&'l Memory>,
}

impl Environment for Contract<'_> {
    fn var(&self, var: VarId) -> Value {
        let bound = self.bound.iter().find(|(one, _)| *one == var).map(|(_, value)| value);
        let known = bound.or_else(|| self.launch.scalars.get(&var));
        known.map_or(Value::Undefined, |value| Value::int(*value))
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        match builtin {
            Builtin::BlockDim => Some(self.launch.block[axis]),
            Builtin::GridDim => Some(self.launch.grid[axis]),
            Builtin::Thread | Builtin::Block => None,
        }
    }

    fn element(&self, array: ArrayId, _: When, index: [i128; 3]) -> Value {
        let known = self.elements.and_then(|elements| elements.get(&(array, index)));
        known.copied().unwrap_or(Value::Undefined)
    }

    fn as_dyn(&self) -> &dyn Environment {
        self
    }
}

/// The shared memory of a block, in bytes: no GPU so far has more (CUDA Programming Guide, "Technical Specifications
/// per Compute Capability").
const MAX_SHARED: i128 = 227 << 10;

/// Returns `true` if a launch satisfies the contract, apart from requirements on contents, and hardware can run it with
/// its shared arrays; `None` if that cannot be evaluated.
#[must_use]
pub fn is_allowed(kernel: &Kernel, launch: &Launch) -> Option<bool> {
    if shared_bytes(kernel, launch) > MAX_SHARED {
        return Some(false);
    }
    let mut all = Some(true);
    for requirement in kernel.requires.iter().filter(|one| one.forall.is_empty()) {
        let env = Contract { launch, bound: &[], elements: None };
        match truth(&requirement.condition, &env) {
            Ok(true) => {}
            Ok(false) => return Some(false),
            Err(_) => all = None,
        }
    }
    all
}

/// The least number of bytes of a block's shared arrays on a launch. Arrays without a size count as empty.
fn shared_bytes(kernel: &Kernel, launch: &Launch) -> i128 {
    let of_float = if kernel.precision.significand < Precision::FLOAT.significand { 2 } else { 4 };
    let bytes = |element: Type| match element {
        Type::Int { bits, .. } => i128::from(bits) / 8,
        Type::Float => of_float,
        Type::Bool | Type::Whole => 1,
    };
    let shared = kernel.arrays.iter().filter(|array| array.space == Space::Shared);
    let sizes = shared.filter_map(|array| {
        let dimensions = array.dimensions.iter().map(|one| size(one.as_ref()?, launch));
        let numbers = dimensions.collect::<Option<Vec<i128>>>().filter(|all| !all.is_empty())?;
        Some(numbers.into_iter().fold(bytes(array.element), i128::saturating_mul).max(0))
    });
    sizes.fold(0, i128::saturating_add)
}

/// The value of a parameter on a launch.
pub(crate) fn parameter_value(kernel: &Kernel, launch: &Launch, var: VarId) -> Value {
    match launch.scalars.get(&var) {
        Some(value) => Value::int(*value),
        None if kernel.scalars.contains(&var) && kernel.vars[var].ty == Type::Float => {
            Value::float(launch.float(&kernel.vars[var].name))
        }
        None => Value::Undefined,
    }
}

/// Returns for each array if a requirement constrains it.
pub(crate) fn constrained_arrays(kernel: &Kernel) -> Vec<bool> {
    let mut marks = vec![false; kernel.arrays.len()];
    for array in kernel.requires.iter().flat_map(mentioned_arrays) {
        marks[array.position()] = true;
    }
    marks
}

/// The arrays that a requirement mentions.
pub(crate) fn mentioned_arrays(requirement: &Requirement) -> Vec<ArrayId> {
    let mut found = Vec::new();
    visit(&requirement.condition, &mut |inner| {
        if let ExprKind::Element(array, ..) = &inner.kind
            && !found.contains(array)
        {
            found.push(*array);
        }
    });
    found
}

/// Evaluates an expression over the sizes of a launch.
pub fn size(expr: &Expr, launch: &Launch) -> Option<i128> {
    let env = Contract { launch, bound: &[], elements: None };
    evaluate(expr, &env, false).ok().and_then(Value::number)
}

/// Returns how the contract forbids an access: `true` as a write, `false` as a read; `None` if it allows the access.
pub(crate) fn forbidden_access(
    kernel: &Kernel,
    launch: &Launch,
    (array, index): (ArrayId, &[i128]),
    kind: AccessKind,
) -> Option<bool> {
    if kernel.arrays[array].space != Space::Global {
        return None;
    }
    let env = Contract { launch, bound: &[], elements: None };
    let number = |one: &Expr| evaluate(one, &env, false).ok().and_then(Value::number);
    [false, true].into_iter().find(|writes| {
        let applies = kind == AccessKind::Atomic || (kind == AccessKind::Write) == *writes;
        let mut all = kernel.footprints.iter().filter(|one| one.writes == *writes).peekable();
        let is_limited = all.peek().is_some();
        let is_inside = all.filter(|one| one.array == array).any(|one| {
            // An undecided footprint counts as allowed.
            let (Some(low), Some(high), [at]) = (number(&one.low), number(&one.high), index) else {
                return true;
            };
            (low..=high).contains(at)
        });
        applies && is_limited && !is_inside
    })
}
