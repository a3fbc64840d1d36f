//! Evaluates expressions and values on numbers, and computes the result of a base kernel.

use super::machine::Fault;
use super::sample::Launch;
use crate::bases::Base;
use crate::expr::{ArrayId, Cond, Int, Val, ValOp, compare, int_op};
use crate::nest::{Array, Axis};

/// Evaluates an integer expression; `None` for a division by 0.
pub(super) fn int(expr: &Int, vars: &[i64]) -> Option<i64> {
    match expr {
        Int::Const(number) => Some(*number),
        Int::Var(var) => Some(vars[var.0]),
        Int::Bin(op, a, b) => int_op(*op, int(a, vars)?, int(b, vars)?),
        Int::Select(cond, a, b) => {
            if self::cond(cond, vars)? {
                int(a, vars)
            } else {
                int(b, vars)
            }
        }
    }
}

/// Evaluates a condition, from left to right as far as needed.
pub(super) fn cond(expr: &Cond, vars: &[i64]) -> Option<bool> {
    match expr {
        Cond::Cmp(op, a, b) => Some(compare(*op, int(a, vars)?, int(b, vars)?)),
        Cond::And(conds) => {
            for part in conds {
                if !cond(part, vars)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        Cond::Or(conds) => {
            for part in conds {
                if cond(part, vars)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        Cond::PowerOfTwo(number) => {
            let number = int(number, vars)?;
            Some(number > 0 && number.count_ones() == 1)
        }
    }
}

/// Computes the linear index of coordinates; `None` for a division by 0.
pub(super) fn linear(array: &Array, coords: &[Int], vars: &[i64]) -> Option<i64> {
    if coords.len() != array.shape.len() {
        return int(coords.first()?, vars);
    }
    let mut index = 0;
    for (coord, extent) in coords.iter().zip(&array.shape) {
        index = index * int(extent, vars)? + int(coord, vars)?;
    }
    Some(index)
}

/// Less than every value that occurs.
pub(super) const LOWEST: i128 = -(1 << 90);

pub(super) fn apply(op: ValOp, a: i128, b: i128) -> i128 {
    match op {
        ValOp::Add => a.wrapping_add(b),
        ValOp::Sub => a.wrapping_sub(b),
        ValOp::Mul => a.wrapping_mul(b),
        ValOp::Max => a.max(b),
        ValOp::Min => a.min(b),
    }
}

/// The source of loaded values.
pub(super) trait Source {
    fn load(&mut self, array: ArrayId, coords: &[Int], vars: &[i64]) -> Result<i128, Fault>;
    fn local(&self, local: crate::expr::Local) -> i128;
}

/// Evaluates a value; of a select only the chosen side.
pub(super) fn value(expr: &Val, vars: &[i64], source: &mut dyn Source) -> Result<i128, Fault> {
    match expr {
        Val::Const(number) => Ok(i128::from(*number)),
        Val::Lowest => Ok(LOWEST),
        Val::Highest => Ok(-LOWEST),
        Val::Load(access) => source.load(access.array, &access.coords, vars),
        Val::Local(local) => Ok(source.local(*local)),
        Val::Bin(op, a, b) => {
            let a = value(a, vars, source)?;
            Ok(apply(*op, a, value(b, vars, source)?))
        }
        Val::Select(choice, a, b) => {
            let chosen = if cond(choice, vars).ok_or(Fault::Division)? { a } else { b };
            value(chosen, vars, source)
        }
        Val::Fold(fold) => {
            let from = int(&fold.from, vars).ok_or(Fault::Division)?;
            let to = int(&fold.to, vars).ok_or(Fault::Division)?;
            let mut result = value(&fold.op.identity(), vars, source)?;
            let mut vars = vars.to_vec();
            for number in from..to {
                vars[fold.var.0] = number;
                result = apply(fold.op, result, value(&fold.body, &vars, source)?);
            }
            Ok(result)
        }
    }
}

/// Final contents of an output array.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The elements.
    pub elements: Vec<i128>,
    /// Marks the elements that the base kernel computes.
    pub claimed: Vec<bool>,
}

/// The contents of global arrays before the launch.
struct Contents<'a> {
    base: &'a Base,
    memory: &'a [Vec<i128>],
}

impl Source for Contents<'_> {
    fn load(&mut self, array: ArrayId, coords: &[Int], vars: &[i64]) -> Result<i128, Fault> {
        let index = linear(&self.base.arrays[array.0], coords, vars).ok_or(Fault::Division)?;
        let element = usize::try_from(index).ok().and_then(|index| self.memory[array.0].get(index));
        element.copied().ok_or(Fault::Bounds)
    }

    fn local(&self, _: crate::expr::Local) -> i128 {
        0
    }
}

/// Computes the result of a base kernel; `None` if it accesses elements that do not exist.
#[must_use]
pub fn expected(base: &Base, launch: &Launch, memory: &[Vec<i128>]) -> Option<Expected> {
    let elements = memory[base.target.array.0].clone();
    let claimed = vec![false; elements.len()];
    let mut result = Expected { elements, claimed };
    let mut vars = launch.vars.clone();
    vars.resize(vars.len().max(base.vars.count()), 0);
    let mut source = Contents { base, memory };
    compute_points(base, &base.axes, &mut vars, &mut source, &mut result)?;
    Some(result)
}

/// Computes the points of the remaining axes; the variables of the others have their values.
fn compute_points(
    base: &Base,
    axes: &[Axis],
    vars: &mut [i64],
    source: &mut Contents<'_>,
    result: &mut Expected,
) -> Option<()> {
    let Some((axis, rest)) = axes.split_first() else {
        if !cond(&base.guard, vars)? {
            return Some(());
        }
        let index = linear(&base.arrays[base.target.array.0], &base.target.coords, vars)?;
        let index = usize::try_from(index).ok()?;
        *result.elements.get_mut(index)? = value(&base.value, vars, source).ok()?;
        result.claimed[index] = true;
        return Some(());
    };
    for number in 0..int(&axis.extent, vars)? {
        vars[axis.var.0] = number;
        compute_points(base, rest, vars, source, result)?;
    }
    Some(())
}
