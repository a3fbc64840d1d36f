//! A kernel under construction: the statements of one point of a base kernel's box, before it has a launch.

use crate::bases::{Base, Prefix, Scan, Structure};
use crate::expr::{Cond, Fold, Int, Val};
use crate::nest::{Axis, For, Kernel, Order, Stmt};
use testing::Random;

/// A kernel whose axes have no launch yet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The kernel; its body is that of one point.
    pub kernel: Kernel,
    /// The axes that are parallel.
    pub axes: Vec<Axis>,
}

impl Draft {
    /// Writes a base kernel as statements: a loop for each fold, a loop for a scan.
    #[must_use]
    pub fn new(base: &Base, name: &str, random: &mut Random) -> Self {
        let mut kernel = base.kernel(name);
        let mut axes = base.axes.clone();
        if let Structure::Scan(scan) = &base.shape {
            axes.pop();
            kernel.body = serial_scan(base, scan, &mut kernel, random);
            return Self { kernel, axes };
        }
        let mut body = Vec::new();
        let value = without_folds(&base.value, &mut kernel, &mut body);
        body.push(Stmt::Store(base.target.clone(), value));
        kernel.body = guarded(&base.guard, body);
        Self { kernel, axes }
    }
}

/// Puts statements under a condition, unless it always holds.
#[must_use]
pub fn guarded(cond: &Cond, body: Vec<Stmt>) -> Vec<Stmt> {
    if cond.is_true() { body } else { vec![Stmt::If(cond.clone(), body, Vec::new())] }
}

/// Replaces folds by accumulators, whose loops are appended to `body`.
fn without_folds(value: &Val, kernel: &mut Kernel, body: &mut Vec<Stmt>) -> Val {
    value.map(&mut |part| match part {
        Val::Fold(fold) => {
            let sum = kernel.local("acc");
            body.push(Stmt::Float(sum, fold.op.identity()));
            body.push(accumulate(fold, sum));
            Some(Val::Local(sum))
        }
        _ => None,
    })
}

/// Builds the loop that adds a fold to an accumulator; folds of the same operation inside go into the same one.
fn accumulate(fold: &Fold, sum: crate::expr::Local) -> Stmt {
    let body = match &fold.body {
        Val::Fold(inner) if inner.op == fold.op => accumulate(inner, sum),
        body => Stmt::Combine(sum, fold.op, body.clone()),
    };
    For::range(fold.var, fold.from.clone(), fold.to.clone(), vec![body]).into()
}

/// Builds the loop that computes a row of a scan.
fn serial_scan(base: &Base, scan: &Scan, kernel: &mut Kernel, random: &mut Random) -> Vec<Stmt> {
    let sum = kernel.local("acc");
    let step = Stmt::Combine(sum, scan.op, scan.element.clone());
    let store = Stmt::Store(base.target.clone(), Val::Local(sum));
    let j = scan.axis.var;
    let extent = scan.axis.extent.clone();
    let fixed = |inner: For| Stmt::from(For { order: Order::Fixed, ..inner });
    let scan_loop = match scan.prefix {
        Prefix::Inclusive => fixed(For::range(j, 0.into(), extent, vec![step, store])),
        Prefix::Exclusive => fixed(For::range(j, 0.into(), extent, vec![store, step])),
        Prefix::Suffix if random.chance(50) => {
            let q = kernel.int("q");
            let index = Stmt::Int(j, extent.clone() - 1 - q);
            fixed(For::range(q, 0.into(), extent, vec![index, step, store]))
        }
        Prefix::Suffix => fixed(For {
            test: Int::Var(j).ge(0),
            next: j - 1,
            ..For::range(j, extent.clone() - 1, extent, vec![step, store])
        }),
    };
    vec![Stmt::Float(sum, scan.op.identity()), scan_loop]
}
