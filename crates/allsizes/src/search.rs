//! Enumerates launches that a contract allows, smallest first: to test proofs, and to find one on which a claim
//! fails.
//!
//! Sizes are chosen one by one. A requirement of the form `size == …` whose other side is known determines the size,
//! and a requirement that fails ends the branch. All limits are counted in steps, so the same kernel is searched in
//! the same way.

pub(crate) mod constants;

use base::Index;
use base::mix64;
use interp::{Environment, Launch, Value, evaluate, is_allowed, truth};
use kir::{
    Binary, Builtin, Compare, Expr, ExprKind, Kernel, MAX_THREADS_OF_AXIS, Type, Unary, VarId,
    visit,
};
use std::collections::BTreeMap;

/// A size or parameter that a launch must give a value to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unknown {
    Block(usize),
    Grid(usize),
    Scalar(VarId),
}

/// Values chosen so far.
#[derive(Clone, Debug, Default)]
struct PartialAssignment {
    block: [Option<i128>; 3],
    grid: [Option<i128>; 3],
    /// By number of the variable.
    scalars: Vec<Option<i128>>,
}

impl PartialAssignment {
    fn new(kernel: &Kernel) -> Self {
        Self { scalars: vec![None; kernel.vars.len()], ..Self::default() }
    }

    fn get(&self, unknown: Unknown) -> Option<i128> {
        match unknown {
            Unknown::Block(axis) => self.block.get(axis).copied().flatten(),
            Unknown::Grid(axis) => self.grid.get(axis).copied().flatten(),
            Unknown::Scalar(var) => self.scalars.get(var.position()).copied().flatten(),
        }
    }

    fn set(&mut self, unknown: Unknown, value: Option<i128>) {
        let place = match unknown {
            Unknown::Block(axis) => self.block.get_mut(axis),
            Unknown::Grid(axis) => self.grid.get_mut(axis),
            Unknown::Scalar(var) => self.scalars.get_mut(var.position()),
        };
        if let Some(place) = place {
            *place = value;
        }
    }

    fn values(&self) -> impl Iterator<Item = i128> {
        self.block.iter().chain(&self.grid).chain(&self.scalars).filter_map(|value| *value)
    }
}

impl Environment for PartialAssignment {
    fn var(&self, var: VarId) -> Value {
        let known = self.get(Unknown::Scalar(var));
        known.map_or(Value::Undefined, Value::int)
    }

    fn builtin(&self, builtin: Builtin, axis: usize) -> Option<i128> {
        match builtin {
            Builtin::BlockDim => self.get(Unknown::Block(axis)),
            Builtin::GridDim => self.get(Unknown::Grid(axis)),
            Builtin::Thread | Builtin::Block => None,
        }
    }

    fn as_dyn(&self) -> &dyn Environment {
        self
    }

    fn element(&self, _: kir::ArrayId, _: kir::When, _: [i128; 3]) -> Value {
        Value::Undefined
    }
}

/// Enumerates launches.
pub(crate) struct Search<'k> {
    kernel: &'k Kernel,
    unknowns: Vec<Unknown>,
    /// Requirements on sizes, each with the sizes that it names, if known.
    preconditions: Vec<(&'k Expr, Option<Vec<Unknown>>)>,
    found: Vec<Launch>,
    wanted: usize,
    steps: u64,
    /// The values to try for a free size.
    values: Vec<i128>,
    /// Set if sizes are also tried at the solutions of requirements.
    solves: bool,
    /// Set if a launch must use the last of the values, because smaller ones were found before.
    fresh: bool,
}

/// Limit on the choices of one search.
const MAX_STEPS: u64 = 40_000;
/// Limit on the launches found in one search.
const MAX_FOUND: usize = 4_000;
/// Limit on the parameters of all launches found in one search.
const MAX_FOUND_SCALARS: usize = 1 << 18;
/// A step is a pass over this many sizes.
const SIZES_OF_STEP: u64 = 64;
/// Requirements are solved if fewer small launches than this are found.
const SOLVED_BELOW: usize = 8;
/// Limit on the constants of requirements to try.
const MAX_NUMBERS: usize = 6;
/// Limit on the threads of a launch that is run.
const MAX_THREADS: i128 = 2048;

/// Up to `wanted` launches that satisfy the contract, smallest first.
pub(crate) fn small(kernel: &Kernel, wanted: usize) -> Vec<Launch> {
    small_with(kernel, wanted, &BTreeMap::new())
}

/// Like `small`, with given values of some scalars.
pub(crate) fn small_with(
    kernel: &Kernel,
    wanted: usize,
    given: &BTreeMap<VarId, i128>,
) -> Vec<Launch> {
    let mut start = PartialAssignment::new(kernel);
    given.iter().for_each(|(var, value)| start.set(Unknown::Scalar(*var), Some(*value)));
    let mut found: Vec<Launch> = Vec::new();
    let quota = (wanted / 4).max(8);
    let ladder = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 33, 64, 100];
    for most in 1..=ladder.len() {
        if found.len() >= wanted {
            break;
        }
        let mut values = ladder[..most].to_vec();
        values.insert(0, 0);
        let mut search = Search::new(kernel, MAX_FOUND, values, most > 1);
        search.choose(&mut start.clone(), None);
        // Not the first ones, which only differ in the last sizes: a sample of all.
        let mut fresh: Vec<(u64, Launch)> = Vec::new();
        for (number, launch) in search.found.into_iter().enumerate() {
            if !found.iter().any(|one| same_sizes(one, &launch)) {
                fresh.push((mix64(number as u64), launch));
            }
        }
        fresh.sort_by_key(|(order, _)| *order);
        found.extend(fresh.into_iter().take(quota.min(wanted - found.len())).map(|(_, one)| one));
    }
    if found.len() < SOLVED_BELOW {
        let solved = solved(kernel, wanted);
        let fits = |one: &Launch| {
            given.iter().all(|(var, value)| one.scalars.get(var).is_none_or(|own| own == value))
        };
        let fresh = |one: &Launch| fits(one) && !is_found(&found, one);
        let fresh: Vec<Launch> = solved.into_iter().filter(fresh).collect();
        found.extend(fresh);
    }
    for (number, launch) in found.iter_mut().enumerate() {
        launch.seed = number as u64 * 7 + 1;
    }
    found.sort_by_key(|launch| {
        (launch.threads(), launch.scalars.values().map(|v| v.abs()).sum::<i128>())
    });
    found
}

fn is_found(found: &[Launch], launch: &Launch) -> bool {
    found.iter().any(|one| same_sizes(one, launch))
}

/// Finds launches for a contract that small numbers do not satisfy: tries sizes at the solutions of its comparisons.
fn solved(kernel: &Kernel, wanted: usize) -> Vec<Launch> {
    let mut values = vec![1, 2, 3, 32, 256, 1024];
    for number in numbers(kernel) {
        values.extend([number, number + 1, number - 1]);
    }
    let mut once: Vec<i128> = Vec::new();
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    let mut search = Search::new(kernel, MAX_FOUND, once, false);
    search.solves = true;
    search.choose(&mut PartialAssignment::new(kernel), None);
    let mut found = search.found;
    found.sort_by_key(|launch| {
        (launch.threads(), launch.scalars.values().map(|v| v.abs()).sum::<i128>())
    });
    found.truncate(wanted);
    found
}

/// Constants in requirements.
fn numbers(kernel: &Kernel) -> Vec<i128> {
    let mut found: Vec<i128> = Vec::new();
    for precondition in kernel.requires.iter().filter(|one| one.forall.is_empty()) {
        visit(&precondition.condition, &mut |inner| {
            if let ExprKind::Int(value @ 2..=0x7fff_ffff) = inner.kind
                && !found.contains(&value)
                && found.len() < MAX_NUMBERS
            {
                found.push(value);
            }
        });
    }
    found
}

/// A few launches, searched with less effort.
pub(crate) fn few(kernel: &Kernel, wanted: usize) -> Vec<Launch> {
    let values = vec![1, 2, 3, 4, 0, 5, 8];
    let mut search = Search::new(kernel, wanted * 8, values, false);
    search.choose(&mut PartialAssignment::new(kernel), None);
    if search.found.is_empty() {
        return solved(kernel, wanted);
    }
    let mut found: Vec<(u64, Launch)> = Vec::new();
    for (number, launch) in search.found.into_iter().enumerate() {
        found.push((mix64(number as u64), launch));
    }
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().take(wanted).map(|(_, launch)| launch).collect()
}

fn same_sizes(one: &Launch, other: &Launch) -> bool {
    (one.block, one.grid, &one.scalars) == (other.block, other.grid, &other.scalars)
}

/// Launches of extreme sizes that satisfy the contract; too large to run as a whole.
pub(crate) fn large(kernel: &Kernel, wanted: usize) -> Vec<Launch> {
    let ladders: [&[i128]; 3] = [
        &[i32::MAX as i128, 65_535, 1024, 1],
        &[i32::MAX as i128, u32::MAX as i128, 1 << 30, 65_536, 1024, 256, 1],
        &[i32::MIN as i128, -1, 0, 1, 2, i32::MAX as i128],
    ];
    let mut found = Vec::new();
    for ladder in ladders {
        let mut search = Search::new(kernel, wanted, ladder.to_vec(), false);
        search.choose(&mut PartialAssignment::new(kernel), None);
        found.extend(search.found);
    }
    found
}

impl<'k> Search<'k> {
    fn new(kernel: &'k Kernel, wanted: usize, values: Vec<i128>, fresh: bool) -> Self {
        let mut unknowns = Vec::new();
        for axis in 0..3 {
            if kernel.has_axis(axis) {
                unknowns.push(Unknown::Block(axis));
                unknowns.push(Unknown::Grid(axis));
            }
        }
        let scalars = kernel.scalars.iter();
        let integers = scalars.filter(|var| kernel.vars[**var].ty != Type::Float);
        unknowns.extend(integers.map(|var| Unknown::Scalar(*var)));
        let plain = kernel.requires.iter().filter(|one| one.forall.is_empty());
        let preconditions = plain.map(|one| (&one.condition, named_sizes(&one.condition)));
        let wanted = wanted.min(MAX_FOUND_SCALARS / kernel.scalars.len().max(1));
        Self {
            kernel,
            unknowns,
            preconditions: preconditions.collect(),
            found: Vec::new(),
            wanted,
            steps: 0,
            values,
            solves: false,
            fresh,
        }
    }

    /// Extends the choice; `newest` is the last size chosen.
    fn choose(&mut self, chosen: &mut PartialAssignment, newest: Option<Unknown>) {
        let cost = 1 + self.unknowns.len() as u64 / SIZES_OF_STEP;
        self.steps += cost;
        if self.steps % 64 < cost && deadline::is_over() {
            // Above the limit, the enclosing calls stop as well.
            self.steps = MAX_STEPS + 1;
        }
        if self.steps > MAX_STEPS
            || self.found.len() >= self.wanted
            || !self.is_possible(chosen, newest)
        {
            return;
        }
        if let Some((unknown, value)) = self.determined(chosen) {
            if self.is_legal(unknown, value) {
                self.choose_value(unknown, value, chosen);
            }
            return;
        }
        let free = self.unknowns.iter().find(|unknown| chosen.get(**unknown).is_none()).copied();
        let Some(unknown) = free else { return self.finish(chosen) };
        let mut values =
            if self.solves { self.turning_points(unknown, chosen) } else { Vec::new() };
        values.extend(
            self.values.iter().filter(|one| !values.contains(one)).copied().collect::<Vec<_>>(),
        );
        for value in values {
            if self.is_legal(unknown, value) {
                self.choose_value(unknown, value, chosen);
            }
        }
    }

    /// Values of a size at which a requirement without other free sizes turns from false to true.
    fn turning_points(&self, unknown: Unknown, chosen: &mut PartialAssignment) -> Vec<i128> {
        let (mut roots, mut units, mut power) = (Vec::new(), Vec::new(), false);
        for (precondition, named) in &self.preconditions {
            let open = |one: &Unknown| *one != unknown && chosen.get(*one).is_none();
            let about = named
                .as_ref()
                .is_some_and(|named| named.contains(&unknown) && !named.iter().any(open));
            match &precondition.kind {
                _ if !about => {}
                ExprKind::Compare(Compare::Eq, left, _)
                    if remainder_divisor(left, unknown).is_some() =>
                {
                    let unit =
                        remainder_divisor(left, unknown).map(|unit| evaluate(unit, chosen, false));
                    units.extend(unit.and_then(Result::ok).and_then(|one| one.number()));
                }
                ExprKind::Compare(_, left, right) => {
                    roots.extend(self.root([left, right], unknown, chosen));
                }
                ExprKind::Unary(Unary::IsPow2, _) => power = true,
                _ => {}
            }
        }
        let mut values: Vec<i128> = Vec::new();
        for root in roots.iter().copied().chain([1]) {
            for unit in units.iter().copied().filter(|unit| *unit > 0) {
                let first = root.div_euclid(unit) * unit;
                values.extend([first, first + unit, first + 2 * unit]);
            }
            if power && (1..1 << 40).contains(&root) {
                let next = (1i128 << (128 - root.leading_zeros())) / 2;
                values.extend([next, 2 * next]);
            }
        }
        values.extend(roots.iter().flat_map(|root| [*root, root + 1, root - 1]));
        let mut once = Vec::new();
        for value in values {
            if !once.contains(&value) {
                once.push(value);
            }
        }
        once
    }

    /// The size at which two sides are equal that differ by a linear function of it, rounded down.
    fn root(
        &self,
        sides: [&Expr; 2],
        unknown: Unknown,
        chosen: &mut PartialAssignment,
    ) -> Option<i128> {
        let mut difference = |at: i128| {
            chosen.set(unknown, Some(at));
            let values = sides.map(|side| evaluate(side, chosen, false).ok());
            chosen.set(unknown, None);
            let [Some(left), Some(right)] = values else { return None };
            left.number()?.checked_sub(right.number()?)
        };
        let [first, second, fourth] = [difference(1)?, difference(2)?, difference(4)?];
        let slope = second - first;
        if slope == 0 || fourth - second != 2 * slope {
            return None;
        }
        // The zero of the linear part, 1 − first/slope.
        Some(1 + (-first).div_euclid(slope))
    }

    fn choose_value(&mut self, unknown: Unknown, value: i128, chosen: &mut PartialAssignment) {
        chosen.set(unknown, Some(value));
        self.choose(chosen, Some(unknown));
        chosen.set(unknown, None);
    }

    fn is_legal(&self, unknown: Unknown, value: i128) -> bool {
        match unknown {
            Unknown::Block(axis) => (1..=[1024, 1024, 64][axis]).contains(&value),
            Unknown::Grid(axis) => {
                (1..=[i128::from(i32::MAX), 65_535, 65_535][axis]).contains(&value)
            }
            Unknown::Scalar(var) => self.kernel.vars[var].ty.holds(value),
        }
    }

    /// Returns `false` if a requirement is known to fail. Those without the size chosen last were checked before.
    fn is_possible(&self, chosen: &PartialAssignment, newest: Option<Unknown>) -> bool {
        let threads: i128 = chosen.block.iter().flatten().product();
        let mut preconditions = self.preconditions.iter().filter(|(_, named)| {
            newest.is_none_or(|newest| named.as_ref().is_none_or(|named| named.contains(&newest)))
        });
        let limited = |axis: usize| {
            let sizes = [Unknown::Block(axis), Unknown::Grid(axis)].map(|one| chosen.get(one));
            let along: i128 = sizes.into_iter().flatten().product();
            along <= MAX_THREADS_OF_AXIS || !self.kernel.limits_threads(axis)
        };
        threads <= 1024
            && (0..3).all(limited)
            && preconditions.all(|(one, _)| truth(one, chosen) != Ok(false))
    }

    /// A size that a requirement determines.
    fn determined(&self, chosen: &PartialAssignment) -> Option<(Unknown, i128)> {
        for (precondition, _) in &self.preconditions {
            let ExprKind::Compare(Compare::Eq, left, right) = &precondition.kind else { continue };
            for (one, other) in [(left, right), (right, left)] {
                let unknown = as_unknown(one).filter(|one| chosen.get(*one).is_none());
                let Some(unknown) = unknown else { continue };
                let value = evaluate(other, chosen, false).ok();
                if let Some(value) = value.and_then(|one| one.number()) {
                    return Some((unknown, value));
                }
            }
        }
        None
    }

    fn finish(&mut self, chosen: &PartialAssignment) {
        let newest = self.values.last().copied().unwrap_or(0);
        let is_new =
            !self.fresh || self.values.len() < 2 || chosen.values().any(|one| one >= newest);
        if !is_new {
            return;
        }
        let size = |unknown| chosen.get(unknown).unwrap_or(1);
        let scalars = chosen.scalars.iter().enumerate();
        let scalars =
            scalars.filter_map(|(number, value)| Some((VarId::from_position(number), (*value)?)));
        let launch = Launch {
            block: [0, 1, 2].map(|axis| size(Unknown::Block(axis))),
            grid: [0, 1, 2].map(|axis| size(Unknown::Grid(axis))),
            scalars: scalars.collect(),
            seed: 1,
        };
        if is_allowed(self.kernel, &launch) == Some(true) {
            self.found.push(launch);
        }
    }
}

fn as_unknown(expr: &Expr) -> Option<Unknown> {
    match &expr.kind {
        ExprKind::Convert(inner) => as_unknown(inner),
        ExprKind::Var(var) => Some(Unknown::Scalar(*var)),
        ExprKind::Builtin(Builtin::BlockDim, axis) => Some(Unknown::Block(*axis)),
        ExprKind::Builtin(Builtin::GridDim, axis) => Some(Unknown::Grid(*axis)),
        _ => None,
    }
}

/// The divisor, if an expression is the remainder of a size.
fn remainder_divisor(expr: &Expr, unknown: Unknown) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Convert(inner) => remainder_divisor(inner, unknown),
        ExprKind::Binary(Binary::Rem, left, right) => {
            (as_unknown(left) == Some(unknown)).then_some(right)
        }
        _ => None,
    }
}

/// The sizes that a condition names; `None` if it may name others, inside a monoid.
fn named_sizes(condition: &Expr) -> Option<Vec<Unknown>> {
    let mut found = Some(Vec::new());
    visit(condition, &mut |inner| match &mut found {
        _ if matches!(inner.kind, ExprKind::Combine(..)) => found = None,
        Some(found) => found.extend(as_unknown(inner)),
        None => {}
    });
    found
}

/// Returns `true` if hardware can run a launch and no axis has more threads than are considered.
pub(crate) fn is_legal(kernel: &Kernel, launch: &Launch) -> bool {
    let within = |sizes: &[i128; 3], most: [i128; 3]| {
        sizes.iter().zip(most).all(|(size, most)| (1..=most).contains(size))
    };
    within(&launch.block, [1024, 1024, 64])
        && within(&launch.grid, [i128::from(i32::MAX), 65_535, 65_535])
        && launch.block.iter().product::<i128>() <= 1024
        && launch.block.iter().zip(launch.grid).enumerate().all(|(axis, (block, grid))| {
            block * grid <= MAX_THREADS_OF_AXIS || !kernel.limits_threads(axis)
        })
}

/// Returns `true` if a launch is small enough to run as a whole.
pub(crate) fn is_runnable(launch: &Launch) -> bool {
    launch.threads() <= MAX_THREADS
}
