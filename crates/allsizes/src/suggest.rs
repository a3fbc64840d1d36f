//! Suggests launch preconditions under which a property would hold that is open, or that fails only because of sizes.
//!
//! Common preconditions are tried one by one, then bounds on sizes together: each is added to the contract and the
//! kernel is proved again. A suggestion was proved to suffice; the user must decide if it is intended.

use crate::engine::{self, Effort, Property};
use crate::search;
use base::Index;
use kir::relevance;
use kir::{
    self, Binary, Builtin, Compare, Expr, ExprKind, Kernel, Requirement, Type, Unary, visit,
};
use smt::Solver;

/// Limits on the proofs that are tried, and on their queries to the solver.
const MAX_TRIES: usize = 48;
const MAX_QUESTIONS: u64 = 400;
/// Limit on the kernel's constants to compare sizes with.
const MAX_NUMBERS: usize = 3;

/// A precondition and its notation.
#[derive(Clone)]
struct Precondition {
    text: String,
    condition: Expr,
}

/// A size and its notation.
#[derive(Clone)]
struct Size {
    text: String,
    value: Expr,
    signed: bool,
}

/// Preconditions under which `property` holds, in source notation; empty if none is found.
pub(crate) fn preconditions(
    kernel: &Kernel,
    (property, failed): (Property, bool),
    solver: Option<Solver>,
    infers: bool,
) -> (Vec<String>, Option<Solver>) {
    let (bounds, others) = match property {
        // If a run showed a race between threads, too many may have been launched.
        Property::Races if failed => (Vec::new(), single_block_or_thread(kernel)),
        Property::Bounds if failed => (Vec::new(), element_for_each_thread(kernel)),
        _ => candidates(kernel),
    };
    let is_about_size = property == Property::Overflow;
    let order: Vec<&Precondition> = match is_about_size {
        true => bounds.iter().chain(&others).collect(),
        false => others.iter().chain(&bounds).collect(),
    };
    let start = solver.as_ref().map_or(0, Solver::asked);
    let mut trial = Trial { kernel, property, solver, infers, start, tries: 0 };
    let single = order.into_iter().find(|precondition| trial.holds(&[precondition]));
    let mut found: Vec<&Precondition> = single.into_iter().collect();
    if found.is_empty() && is_about_size {
        // All bounds together, then without those that are not needed.
        let all: Vec<&Precondition> = bounds.iter().collect();
        trial.start = trial.solver.as_ref().map_or(0, Solver::asked);
        trial.tries = 0;
        if trial.holds(&all) {
            found = trial.fewest(all);
        }
    }
    (found.into_iter().map(|precondition| precondition.text.clone()).collect(), trial.solver)
}

/// Proofs with additional preconditions.
struct Trial<'k> {
    kernel: &'k Kernel,
    property: Property,
    solver: Option<Solver>,
    infers: bool,
    /// Number of queries sent before.
    start: u64,
    tries: usize,
}

impl Trial<'_> {
    /// Returns `true` if the property is proved with these preconditions, and they allow a launch.
    fn holds(&mut self, preconditions: &[&Precondition]) -> bool {
        let asked = self.solver.as_ref().map_or(0, Solver::asked) - self.start;
        self.tries += 1;
        if self.tries > MAX_TRIES || asked > MAX_QUESTIONS || deadline::is_over() {
            return false;
        }
        let mut with = self.kernel.clone();
        // Claims at barriers would be used without proof here.
        kir::drop_claims(&mut with.body);
        for precondition in preconditions {
            let condition = precondition.condition.clone();
            with.requires.push(Requirement { forall: Vec::new(), condition });
        }
        if search::small(&with, 1).is_empty() {
            return false;
        }
        let (proof, solver) = {
            let effort = Effort { infers: self.infers, only: Some(self.property) };
            engine::prove(&with, self.solver.take(), effort)
        };
        self.solver = solver;
        let matters = |one: Property| {
            one == self.property || self.property == Property::Races && one == Property::Barriers
        };
        !proof.open.iter().any(|open| matters(open.property))
    }

    /// A minimal subset of these preconditions that suffices.
    fn fewest<'d>(&mut self, all: Vec<&'d Precondition>) -> Vec<&'d Precondition> {
        let mut kept = all;
        for position in (0..kept.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(position);
            if self.holds(&fewer) {
                kept = fewer;
            }
        }
        kept
    }
}

/// Preconditions for one block, or one thread of it, if the kernel does not distinguish them.
fn single_block_or_thread(kernel: &Kernel) -> Vec<Precondition> {
    let one = |builtin: Builtin| {
        compared(Compare::Eq, "==", &dimension(kernel, builtin, 0), &number(kernel, 1))
    };
    let (grid, block) = (one(Builtin::GridDim), one(Builtin::BlockDim));
    let tells = |builtin: Builtin| kernel.mentioned.contains(&(builtin, 0));
    match (tells(Builtin::Block), tells(Builtin::Thread)) {
        (true, true) => Vec::new(),
        (false, true) => vec![grid],
        (true, false) => vec![block],
        (false, false) => {
            let parts = (Box::new(grid.condition.clone()), Box::new(block.condition.clone()));
            let kind = ExprKind::And(parts.0, parts.1);
            let condition = Expr { kind, ty: Type::Bool, span: kernel.span };
            let both = Precondition { text: format!("{} && {}", grid.text, block.text), condition };
            vec![grid, block, both]
        }
    }
}

/// Preconditions that there is an element for each thread.
fn element_for_each_thread(kernel: &Kernel) -> Vec<Precondition> {
    let mut found = Vec::new();
    let axes: Vec<usize> = (0..3).filter(|axis| kernel.has_axis(*axis)).collect();
    for size in &scalars(kernel) {
        for axis in &axes {
            let block = dimension(kernel, Builtin::BlockDim, *axis);
            for along in [threads(kernel, *axis), block] {
                found.push(compared(Compare::Eq, "==", size, &along));
                found.push(compared(Compare::Le, "<=", &along, size));
            }
        }
    }
    found
}

/// Bounds on sizes, and other preconditions.
fn candidates(kernel: &Kernel) -> (Vec<Precondition>, Vec<Precondition>) {
    let scalars = scalars(kernel);
    let (mut bounds, mut others) = (Vec::new(), Vec::new());
    let axes = (0..3).filter(|axis| kernel.has_axis(*axis));
    let threads: Vec<Size> = axes.map(|axis| threads(kernel, axis)).collect();
    let blocks: Vec<Size> = (0..3)
        .filter(|axis| kernel.has_axis(*axis))
        .map(|axis| dimension(kernel, Builtin::BlockDim, axis))
        .collect();
    let limit =
        |size: &Size| compared(Compare::Le, "<=", size, &number(kernel, i128::from(i32::MAX)));
    bounds.extend(threads.iter().map(limit));
    for size in &scalars {
        if size.signed {
            bounds.push(compared(Compare::Ge, ">=", size, &number(kernel, 0)));
            others.push(compared(Compare::Ge, ">=", size, &number(kernel, 1)));
        }
        for one in blocks.iter().chain(&threads) {
            bounds.push(limit(&combined(Binary::Add, "+", size, one)));
        }
    }
    for (position, one) in scalars.iter().enumerate() {
        bounds.extend(
            scalars[position + 1..]
                .iter()
                .map(|other| limit(&combined(Binary::Mul, "*", one, other))),
        );
    }
    let as_size = |one: i128| number(kernel, one);
    let numbers: Vec<Size> = numbers(kernel).into_iter().map(as_size).collect();
    // Block sizes match array sizes; a divisor of 2 is not a block size.
    let declared: Vec<Size> = declared(kernel).into_iter().map(as_size).collect();
    for size in &scalars {
        for one in &blocks {
            others.push(compared(Compare::Le, "<=", one, size));
        }
        for unit in blocks.iter().chain(&numbers) {
            let rest = combined(Binary::Rem, "%", size, unit);
            others.push(compared(Compare::Eq, "==", &rest, &number(kernel, 0)));
        }
        for one in &threads {
            others.push(compared(Compare::Eq, "==", size, one));
            others.push(compared(Compare::Le, "<=", one, size));
            others.push(compared(Compare::Le, "<=", size, one));
        }
    }
    for block in &blocks {
        let condition = Expr {
            kind: ExprKind::Unary(Unary::IsPow2, Box::new(block.value.clone())),
            ty: Type::Bool,
            span: kernel.span,
        };
        others.push(Precondition { text: format!("\\is_pow2({})", block.text), condition });
        for number in &declared {
            others.push(compared(Compare::Eq, "==", block, number));
            others.push(compared(Compare::Le, "<=", block, number));
        }
    }
    let grid = dimension(kernel, Builtin::GridDim, 0);
    others.push(compared(Compare::Eq, "==", &grid, &number(kernel, 1)));
    (bounds, others)
}

/// Integer parameters that feed an index or a condition.
fn scalars(kernel: &Kernel) -> Vec<Size> {
    let relevant = relevance::relevant(kernel);
    let mut sizes = Vec::new();
    for var in kernel.scalars.iter().filter(|var| relevant[var.position()]) {
        let (Type::Int { signed, .. }, name) = (kernel.vars[*var].ty, &kernel.vars[*var].name)
        else {
            continue;
        };
        let kind = ExprKind::Var(*var);
        let value = Expr { kind, ty: kernel.vars[*var].ty, span: kernel.span };
        sizes.push(Size { text: name.clone(), value: whole(value), signed });
    }
    sizes
}

/// Constants that are divisors, factors, or sizes of declared arrays.
fn numbers(kernel: &Kernel) -> Vec<i128> {
    let mut found: Vec<i128> = Vec::new();
    declared(kernel).into_iter().for_each(|value| see_number(value, &mut found));
    let mut see = |expr: &Expr| {
        if let ExprKind::Int(value) = expr.kind {
            see_number(value, &mut found);
        }
    };
    kir::each_expr(&kernel.body, &mut |expr| {
        visit(expr, &mut |inner| {
            if let ExprKind::Binary(Binary::Div | Binary::Rem | Binary::Mul, _, right) = &inner.kind
            {
                visit(right, &mut see);
            }
        });
    });
    found.truncate(MAX_NUMBERS);
    found
}

fn see_number(value: i128, found: &mut Vec<i128>) {
    if (2..=4096).contains(&value) && !found.contains(&value) {
        found.push(value);
    }
}

/// Constants in the sizes of declared arrays.
fn declared(kernel: &Kernel) -> Vec<i128> {
    let mut found = Vec::new();
    for size in kernel.arrays.iter().flat_map(|array| &array.dimensions).flatten() {
        visit(size, &mut |inner| {
            if let ExprKind::Int(value) = inner.kind {
                see_number(value, &mut found);
            }
        });
    }
    found.truncate(MAX_NUMBERS);
    found
}

fn whole(value: Expr) -> Expr {
    let span = value.span;
    Expr { kind: ExprKind::Convert(Box::new(value)), ty: Type::Whole, span }
}

fn number(kernel: &Kernel, value: i128) -> Size {
    let value_of = Expr { kind: ExprKind::Int(value), ty: Type::Whole, span: kernel.span };
    Size { text: value.to_string(), value: value_of, signed: true }
}

fn dimension(kernel: &Kernel, builtin: Builtin, axis: usize) -> Size {
    let kind = ExprKind::Builtin(builtin, axis);
    let value = whole(Expr { kind, ty: Type::UNSIGNED, span: kernel.span });
    Size { text: builtin.name(axis), value, signed: false }
}

/// Threads along an axis.
fn threads(kernel: &Kernel, axis: usize) -> Size {
    let [grid, block] =
        [Builtin::GridDim, Builtin::BlockDim].map(|builtin| dimension(kernel, builtin, axis));
    combined(Binary::Mul, "*", &grid, &block)
}

fn combined(operator: Binary, sign: &str, one: &Size, other: &Size) -> Size {
    let parts = (Box::new(one.value.clone()), Box::new(other.value.clone()));
    let kind = ExprKind::Binary(operator, parts.0, parts.1);
    let value = Expr { kind, ty: Type::Whole, span: one.value.span };
    let spaced = if operator == Binary::Mul { sign.to_owned() } else { format!(" {sign} ") };
    Size { text: format!("{}{spaced}{}", one.text, other.text), value, signed: one.signed }
}

fn compared(operator: Compare, sign: &str, one: &Size, other: &Size) -> Precondition {
    let parts = (Box::new(one.value.clone()), Box::new(other.value.clone()));
    let kind = ExprKind::Compare(operator, parts.0, parts.1);
    let condition = Expr { kind, ty: Type::Bool, span: one.value.span };
    Precondition { text: format!("{} {sign} {}", one.text, other.text), condition }
}
