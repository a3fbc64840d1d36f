//! Observes the arrays of a kernel at the heads of its loops on a few small launches, and selects the templates that
//! held at every one. They are guesses, which `engine/values/arrays` must prove.

use super::build::{add, entry, folded, int, mul, var};
use super::combine::{Combine, Ranges};
use super::templates::{ClauseParts, Form, Template};
use super::text;
use super::totals;
use crate::clause::{Clause, loops};
use crate::search;
use base::Index;
use interp::history::{Head, History};
use interp::{self, Contents, Launch, Value};
use kir::spec::is_var;
use kir::{
    ArrayId, Element, Expr, ExprKind, Fold, Kernel, Stmt, Type, Var, VarId, has_barrier, visit,
};
use std::collections::BTreeMap;

/// Number of launches observed, and limits on their threads.
const LAUNCHES: usize = 8;
const MAX_THREADS: i128 = 40;
const MIN_THREADS: i128 = 2;
/// Instructions of a run.
const BUDGET: u64 = 60_000;
/// Clauses of one loop about one array.
const MAX_CLAUSES: usize = 4;
/// Limit on the elements of an input to fold.
pub(super) const MAX_SIZE: i128 = 96;

/// Observations of a run.
pub(super) struct Observations {
    pub(super) history: History,
    pub(super) sizes: BTreeMap<ArrayId, i128>,
    before: Contents,
}

/// The folds that elements are compared with.
enum FoldSource {
    /// Of an input, from the contract.
    Input(Box<Fold>, ArrayId),
    /// Of the same array before the loop.
    Entry,
}

/// A template that has not failed yet.
#[derive(Clone, Copy, Debug)]
struct Guess {
    template: Template,
    stride: Option<(VarId, Form)>,
    /// Number of elements at which it held.
    seen: usize,
    /// Set once it said nothing about any element.
    is_vacuous: bool,
}

/// A loop and an array that it stores to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) number: usize,
    pub(super) array: ArrayId,
    pub(super) span: base::Span,
}

/// Infers clauses for the loops of a kernel with barriers, about arrays that they store to. They use the folds in its
/// contract, or else folds of the array's contents before the loop. Variables of the clauses are added to the kernel.
pub(crate) fn clauses(kernel: &mut Kernel) -> Vec<(usize, Clause)> {
    let targets: Vec<Target> = loops(kernel)
        .into_iter()
        .enumerate()
        .filter(|(_, (_, inner))| has_barrier(&inner.body))
        .flat_map(|(number, (_, inner))| {
            let arrays = stored(&inner.body).into_iter();
            arrays.map(move |array| Target { number, array, span: inner.span })
        })
        .collect();
    let mut found: Vec<(usize, Clause)> = Vec::new();
    if targets.is_empty() {
        return found;
    }
    let seen = observe_launches(kernel);
    let mut covered: Vec<Target> = Vec::new();
    for fold in contract_folds(kernel) {
        let Some(input) = element(&fold.body, fold.var) else { continue };
        let ty = kernel.arrays[input].element;
        let combine = Combine::new(&fold.op, fold.monoid.as_ref(), ty, kernel);
        let over = FoldSource::Input(Box::new(fold), input);
        for target in &targets {
            let guesses = templates_that_held(kernel, &seen, *target, (&over, &combine));
            covered.extend(guesses.iter().any(|guess| !guess.is_vacuous).then_some(*target));
            found.extend(as_clauses(kernel, *target, (&over, &combine), guesses));
        }
    }
    for target in targets.iter().copied() {
        let is_known = |(number, clause): &(usize, Clause)| {
            *number == target.number && clause.array == target.array
        };
        if found.iter().any(is_known) {
            continue;
        }
        let all = Combine::all(kernel.arrays[target.array].element, kernel).into_iter();
        let guesses = all.map(|combine| {
            let guesses =
                templates_that_held(kernel, &seen, target, (&FoldSource::Entry, &combine));
            (combine, guesses)
        });
        // The operation with the most observations; on a tie, the first.
        let by_observations = |(_, guesses): &(Combine, Vec<Guess>)| {
            let seen: usize = guesses.iter().map(|guess| guess.seen).sum();
            std::cmp::Reverse(seen)
        };
        let Some((combine, guesses)) = guesses.min_by_key(by_observations) else { continue };
        covered.extend(guesses.iter().any(|guess| !guess.is_vacuous).then_some(target));
        found.extend(as_clauses(kernel, target, (&FoldSource::Entry, &combine), guesses));
    }
    // If no element is known at every head, a range of them may be.
    for target in targets.into_iter().filter(|one| !covered.contains(one)) {
        let totals = totals::learn(kernel, &seen, target).into_iter();
        found.extend(totals.map(|clause| (target.number, clause)));
    }
    found
}

/// Guesses as clauses.
fn as_clauses(
    kernel: &mut Kernel,
    target: Target,
    fold: (&FoldSource, &Combine),
    guesses: Vec<Guess>,
) -> Vec<(usize, Clause)> {
    let clauses = guesses.into_iter().filter_map(|guess| clause(kernel, fold, target, guess));
    clauses.map(|clause| (target.number, clause)).collect()
}

/// The folds in a contract.
fn contract_folds(kernel: &Kernel) -> Vec<Fold> {
    let mut wanted: Vec<Fold> = Vec::new();
    for claim in &kernel.ensures {
        visit(&claim.condition, &mut |inner| {
            if let ExprKind::Fold(fold) = &inner.kind {
                wanted.push((**fold).clone());
            }
        });
    }
    let mut folds: Vec<Fold> = Vec::new();
    for fold in wanted {
        let known = |one: &Fold| {
            one.op == fold.op && is_same_function(&one.body, &fold.body, (one.var, fold.var))
        };
        if !folds.iter().any(known) {
            folds.push(fold);
        }
    }
    folds
}

/// Returns `true` if two bodies are the same function of their variables.
fn is_same_function(one: &Expr, other: &Expr, vars: (VarId, VarId)) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Var(a), ExprKind::Var(b)) => a == b || (*a, *b) == vars,
        (ExprKind::Element(a, _, i), ExprKind::Element(b, _, j)) => {
            a == b
                && i.len() == j.len()
                && i.iter().zip(j).all(|(i, j)| is_same_function(i, j, vars))
        }
        (ExprKind::Convert(a), ExprKind::Convert(b)) => is_same_function(a, b, vars),
        (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
        _ => false,
    }
}

/// Returns the one-dimensional arrays that statements store to.
fn stored(statements: &[Stmt]) -> Vec<ArrayId> {
    let mut found: Vec<ArrayId> = Vec::new();
    for statement in statements {
        let inner = match statement {
            Stmt::Store(Element { array, index, .. }, _) if index.len() == 1 => vec![*array],
            Stmt::If(_, then, otherwise) => [stored(then), stored(otherwise)].concat(),
            Stmt::Loop(inner) => [stored(&inner.body), stored(&inner.step)].concat(),
            _ => Vec::new(),
        };
        for array in inner {
            if !found.contains(&array) {
                found.push(array);
            }
        }
    }
    found
}

fn observe_launches(kernel: &Kernel) -> Vec<Observations> {
    let mut launches: Vec<Launch> = search::small(kernel, 40)
        .into_iter()
        .filter(|one| (MIN_THREADS..=MAX_THREADS).contains(&one.threads()))
        .collect();
    // The larger ones are more informative.
    launches.reverse();
    launches.truncate(LAUNCHES);
    // Large numbers distinguish ranges, small ones units.
    let both = launches.iter().flat_map(|launch| [(launch, true), (launch, false)]);
    both.filter_map(|(launch, wide)| observe(kernel, launch, wide)).collect()
}

fn observe(kernel: &Kernel, launch: &Launch, wide: bool) -> Option<Observations> {
    let (before, history) = interp::history(kernel, launch, wide, BUDGET)?;
    let mut sizes = BTreeMap::new();
    for (array, declared) in kernel.arrays.enumerate() {
        if let [Some(size)] = &declared.dimensions[..]
            && let Some(size) = interp::size(size, launch)
        {
            sizes.insert(array, size);
        }
    }
    Some(Observations { history, sizes, before })
}

impl Observations {
    /// Contents of an input, if it is not too long.
    fn input(&self, array: ArrayId) -> Option<Ranges> {
        let values = self.before.get(&array)?;
        let size = i128::try_from(values.len()).ok().filter(|size| *size <= MAX_SIZE)?;
        Some(Ranges::new((0..size).zip(values.iter().copied()).collect()))
    }
}

/// The input that a fold is over: its element at the variable itself.
fn element(body: &Expr, over: VarId) -> Option<ArrayId> {
    match &body.kind {
        ExprKind::Convert(inner) => element(inner, over),
        ExprKind::Element(array, _, index) => match &index[..] {
            [at] if is_var(at, over) => Some(*array),
            _ => None,
        },
        _ => None,
    }
}

/// The templates that held for an array at every head of a loop.
fn templates_that_held(
    kernel: &Kernel,
    seen: &[Observations],
    target: Target,
    (over, combine): (&FoldSource, &Combine),
) -> Vec<Guess> {
    let mut guesses = all_guesses(kernel, over);
    let mut heads = 0;
    for one in seen {
        let mut ranges = match over {
            FoldSource::Input(_, input) => one.input(*input),
            FoldSource::Entry => None,
        };
        let Some(size) = one.sizes.get(&target.array).copied() else { continue };
        for (head, holds) in one.history.heads(target.array) {
            if head.number != target.number {
                continue;
            }
            if head.is_first && matches!(over, FoldSource::Entry) {
                ranges = Some(Ranges::new(holds.clone())).filter(|_| size <= MAX_SIZE);
            }
            let Some(ranges) = &mut ranges else { break };
            heads += 1;
            guesses
                .retain_mut(|guess| holds_at_head(guess, head, (&holds, size), (ranges, combine)));
        }
    }
    if heads < 2 {
        return Vec::new();
    }
    strongest(guesses)
}

fn all_guesses(kernel: &Kernel, over: &FoldSource) -> Vec<Guess> {
    let integers = kernel.vars.enumerate().filter(|(_, one)| matches!(one.ty, Type::Int { .. }));
    let strides: Vec<(VarId, Form)> =
        integers.flat_map(|(var, _)| Form::ALL.into_iter().map(move |form| (var, form))).collect();
    let mut guesses: Vec<Guess> = Vec::new();
    let guess = |template, stride| Guess { template, stride, seen: 0, is_vacuous: false };
    for template in Template::ALL {
        if template == Template::Class && matches!(over, FoldSource::Input(..)) {
            continue;
        }
        match template.has_stride() {
            false => guesses.push(guess(template, None)),
            true => guesses.extend(strides.iter().map(|one| guess(template, Some(*one)))),
        }
    }
    guesses
}

fn holds_at_head(
    guess: &mut Guess,
    head: &Head,
    (holds, size): (&BTreeMap<i128, Value>, i128),
    (ranges, combine): (&mut Ranges, &Combine),
) -> bool {
    let stride = match guess.stride {
        None => 1,
        Some((var, form)) => match head.vars.get(var.position()).copied().flatten() {
            Some(value) if (-1..1 << 20).contains(&value) => form.value(value),
            _ => return false,
        },
    };
    if stride < 1 {
        return false;
    }
    let before = guess.seen;
    for x in 0..size {
        let Some(range) = guess.template.range(x, stride, size) else { continue };
        let (Some(value), Some(wanted)) = (holds.get(&x), ranges.folded(combine, range)) else {
            return false;
        };
        if !is_same(*value, wanted) {
            return false;
        }
        guess.seen += 1;
    }
    guess.is_vacuous |= guess.seen == before;
    true
}

pub(super) fn is_same(one: Value, other: Value) -> bool {
    match (one, other) {
        (Value::Float(a), Value::Float(b)) => {
            let (a, b) = (a.value(), b.value());
            let same = a.total_cmp(&b).is_eq();
            same || a.is_finite() && (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
        }
        _ => one.number().is_some() && one.number() == other.number(),
    }
}

/// Selects the strongest of the remaining guesses: of each kind, the one that covers most elements.
fn strongest(guesses: Vec<Guess>) -> Vec<Guess> {
    let kind = |template: Template| match template {
        Template::Levels => 1,
        Template::Block | Template::BlockBefore | Template::BlockPrefix => 2,
        Template::Start | Template::StartCut => 3,
        Template::Class => 4,
        _ => 0,
    };
    let mut best: Vec<Guess> = Vec::new();
    let all: Vec<Guess> = guesses.into_iter().filter(|guess| guess.seen > 0).collect();
    for guess in all.iter().copied() {
        match best.iter_mut().find(|one| kind(one.template) == kind(guess.template)) {
            None => best.push(guess),
            Some(one) if guess.seen > one.seen => *one = guess,
            Some(_) => {}
        }
    }
    // Blocks and the levels below them go together.
    if let [Some(block), Some(levels)] =
        [2, 1].map(|one| best.iter().position(|best| kind(best.template) == one))
        && let Some(same) = all
            .iter()
            .find(|one| one.template == Template::Levels && one.stride == best[block].stride)
    {
        best[levels] = *same;
    }
    // A template that covers every element makes the others redundant.
    if let Some(every) = best.iter().position(|one| kind(one.template) == 0) {
        return vec![best[every]];
    }
    best.sort_by_key(|one| std::cmp::Reverse(kind(one.template)));
    best.truncate(MAX_CLAUSES);
    best
}

fn clause(
    kernel: &mut Kernel,
    (over, combine): (&FoldSource, &Combine),
    target: Target,
    guess: Guess,
) -> Option<Clause> {
    let Target { array, span, .. } = target;
    let new_variable = |kernel: &mut Kernel, name: &str| {
        kernel.vars.push(Var { name: name.to_owned(), ty: Type::Whole })
    };
    let names = guess.template.names().iter();
    let vars: Vec<VarId> = names.map(|name| new_variable(kernel, name)).collect();
    let [Some(size)] = &kernel.arrays[array].dimensions[..] else { return None };
    let size = size.clone();
    let stride = match guess.stride {
        None => int(1),
        Some((one, form)) => form.expr(var(one, kernel.vars[one].ty)),
    };
    let ClauseParts { when, index, low, high, class } =
        guess.template.clause_parts(&vars, &stride, size);
    let fold = match over {
        FoldSource::Input(fold, _) => Fold { low, high, ..(**fold).clone() },
        FoldSource::Entry => {
            let over = new_variable(kernel, "k");
            let digit = var(over, Type::Whole);
            let at = match class {
                Some((first, step)) => add(first, mul(step, digit)),
                None => digit,
            };
            let body = entry(array, at, kernel.arrays[array].element);
            let (op, monoid) = (combine.op.clone(), combine.monoid.clone());
            Fold { op, var: over, low, high, body, monoid }
        }
    };
    let value = folded(fold);
    let levels = if guess.template == Template::Levels { vec![vars[0]] } else { Vec::new() };
    let (text, claim) = (None, None);
    let forall = vars;
    let total = None;
    let mut clause = Clause { text, forall, levels, when, array, index, value, total, span, claim };
    clause.text = Some(text::clause(kernel, &clause));
    Some(clause)
}
