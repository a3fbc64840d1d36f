//! Which templates were true at every head that was looked at.

use super::build::{folded, int, var};
use super::templates::{Form, Made, Template};
use super::text;
use crate::clause::{Clause, Monoid, loops};
use crate::interp::history::{Head, History};
use crate::interp::{self, Contents, Launch, Value};
use crate::kir::{
    ArrayId, Element, Expr, ExprKind, Fold, Kernel, Stmt, Type, Var, VarId, has_barrier,
};
use crate::relevance::visit;
use crate::search;
use crate::spec::is_var;
use base::Index;
use std::collections::BTreeMap;

/// Launches that are looked at, and threads of the largest.
const LAUNCHES: usize = 8;
const MAX_THREADS: i128 = 40;
const MIN_THREADS: i128 = 2;
/// Instructions of a run.
const BUDGET: u64 = 60_000;
/// Clauses of one loop about one array.
const MAX_CLAUSES: usize = 4;
/// Elements of an input that folds are computed of.
const MAX_SIZE: i128 = 96;

/// What a run showed.
struct Seen {
    history: History,
    sizes: BTreeMap<ArrayId, i128>,
    /// The fold over every range of the input.
    ranges: BTreeMap<(i128, i128), Value>,
}

/// A template that has not failed yet.
#[derive(Clone, Copy, Debug)]
struct Guess {
    template: Template,
    stride: Option<(VarId, Form)>,
    /// At how many elements it was right.
    seen: usize,
}

/// Clauses for the loops of a kernel with barriers about arrays that they store to, with the folds that its contract speaks of. Variables of
/// the clauses are added to the kernel.
pub(crate) fn clauses(kernel: &mut Kernel) -> Vec<(usize, Clause)> {
    let mut found = Vec::new();
    let mut wanted: Vec<Fold> = Vec::new();
    for claim in &kernel.ensures {
        visit(&claim.condition, &mut |inner| {
            if let ExprKind::Fold(fold) = &inner.kind {
                wanted.push((**fold).clone());
            }
        });
    }
    let mut folds: Vec<&Fold> = Vec::new();
    for fold in &wanted {
        if !folds
            .iter()
            .any(|one| one.op == fold.op && same(&one.body, &fold.body, (one.var, fold.var)))
        {
            folds.push(fold);
        }
    }
    for fold in folds {
        let seen = runs(kernel, fold);
        if seen.is_empty() {
            continue;
        }
        let targets: Vec<(usize, ArrayId, base::Span)> = loops(kernel)
            .into_iter()
            .enumerate()
            .filter(|(_, (_, inner))| has_barrier(&inner.body))
            .flat_map(|(number, (_, inner))| {
                let arrays = stored(&inner.body);
                arrays.into_iter().map(move |array| (number, array, inner.span))
            })
            .collect();
        for (number, array, span) in targets {
            for guess in guesses(kernel, &seen, number, array) {
                if let Some(clause) = clause(kernel, fold, array, guess, span) {
                    found.push((number, clause));
                }
            }
        }
    }
    found
}

/// Whether two bodies are the same function of their variables.
fn same(one: &Expr, other: &Expr, vars: (VarId, VarId)) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Var(a), ExprKind::Var(b)) => a == b || (*a, *b) == vars,
        (ExprKind::Element(a, _, i), ExprKind::Element(b, _, j)) => {
            a == b && i.len() == j.len() && i.iter().zip(j).all(|(i, j)| same(i, j, vars))
        }
        (ExprKind::Convert(a), ExprKind::Convert(b)) => same(a, b, vars),
        (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
        _ => false,
    }
}

/// One-dimensional arrays that statements store to.
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

fn runs(kernel: &Kernel, fold: &Fold) -> Vec<Seen> {
    let mut launches: Vec<Launch> = search::small(kernel, 40)
        .into_iter()
        .filter(|one| (MIN_THREADS..=MAX_THREADS).contains(&one.threads()))
        .collect();
    // The larger ones tell more.
    launches.reverse();
    launches.truncate(LAUNCHES);
    // Large numbers tell ranges apart, small ones units.
    let both = launches.iter().flat_map(|launch| [(launch, true), (launch, false)]);
    both.filter_map(|(launch, wide)| seen(kernel, (launch, wide), fold)).collect()
}

fn seen(kernel: &Kernel, (launch, wide): (&Launch, bool), fold: &Fold) -> Option<Seen> {
    let (before, history) = interp::history(kernel, launch, wide, BUDGET)?;
    let mut sizes = BTreeMap::new();
    for (array, declared) in kernel.arrays.enumerate() {
        if let [Some(size)] = &declared.dimensions[..]
            && let Some(size) = interp::size(size, launch)
        {
            sizes.insert(array, size);
        }
    }
    let ranges = ranges(kernel, &before, fold)?;
    Some(Seen { history, sizes, ranges })
}

/// The values of a fold over all ranges.
fn ranges(
    kernel: &Kernel,
    before: &Contents,
    fold: &Fold,
) -> Option<BTreeMap<(i128, i128), Value>> {
    let array = element(&fold.body, fold.var)?;
    let op = Monoid::of(&fold.op, kernel);
    let (values, ty) = (before.get(&array)?, kernel.arrays[array].element);
    let size = i128::try_from(values.len()).ok().filter(|size| *size <= MAX_SIZE)?;
    let unit = match (op.unit(ty, kernel), ty) {
        #[expect(clippy::cast_precision_loss, reason = "0 or 1")]
        (Some(unit), Type::Float) => Some(Value::Float(unit as f64)),
        (unit, _) => unit.map(Value::int),
    };
    let mut ranges = BTreeMap::new();
    for low in 0..=size {
        let mut total = unit;
        ranges.extend(total.map(|value| ((low, low), value)));
        for at in low..size {
            let value = values[usize::try_from(at).ok()?];
            total = match total {
                None => Some(value),
                Some(total) => Some(match &fold.monoid {
                    Some(monoid) => interp::combined(monoid, total, value)?,
                    None => combined(&op, total, value, ty)?,
                }),
            };
            ranges.extend(total.map(|value| ((low, at + 1), value)));
        }
    }
    Some(ranges)
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

fn combined(op: &Monoid, one: Value, two: Value, ty: Type) -> Option<Value> {
    let fit = |value: i128| match ty.range() {
        Some((least, most)) => (value - least).rem_euclid(most - least + 1) + least,
        None => value,
    };
    match (one, two) {
        (Value::Float(a), Value::Float(b)) => Some(Value::Float(match op.name.as_str() {
            "+" => a + b,
            "max" => a.max(b),
            "min" => a.min(b),
            _ => return None,
        })),
        _ => {
            let (a, b) = (one.number()?, two.number()?);
            Some(Value::int(match op.name.as_str() {
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
}

/// Templates that were true of an array at every head of a loop.
fn guesses(kernel: &Kernel, seen: &[Seen], number: usize, array: ArrayId) -> Vec<Guess> {
    let integers = kernel.vars.enumerate().filter(|(_, one)| matches!(one.ty, Type::Int { .. }));
    let strides: Vec<(VarId, Form)> =
        integers.flat_map(|(var, _)| Form::ALL.into_iter().map(move |form| (var, form))).collect();
    let mut guesses: Vec<Guess> = Vec::new();
    for template in Template::ALL {
        match template.has_stride() {
            false => guesses.push(Guess { template, stride: None, seen: 0 }),
            true => guesses.extend(strides.iter().map(|one| Guess {
                template,
                stride: Some(*one),
                seen: 0,
            })),
        }
    }
    let mut heads = 0;
    for one in seen {
        for (head, holds) in one.history.heads(array) {
            if head.number == number {
                heads += 1;
                guesses.retain_mut(|guess| is_true(guess, head, &holds, one, array));
            }
        }
    }
    if heads < 2 {
        return Vec::new();
    }
    chosen(guesses)
}

fn is_true(
    guess: &mut Guess,
    head: &Head,
    holds: &BTreeMap<i128, Value>,
    seen: &Seen,
    array: ArrayId,
) -> bool {
    let stride = match guess.stride {
        None => 1,
        Some((var, form)) => match head.vars.get(var.position()).copied().flatten() {
            Some(value) if (-1..1 << 20).contains(&value) => form.value(value),
            _ => return false,
        },
    };
    let Some(size) = seen.sizes.get(&array).copied().filter(|_| stride >= 1) else { return false };
    for x in 0..size {
        let Some(range) = guess.template.range(x, stride) else { continue };
        let (Some(value), Some(wanted)) = (holds.get(&x), seen.ranges.get(&range)) else {
            return false;
        };
        if !is_same(*value, *wanted) {
            return false;
        }
        guess.seen += 1;
    }
    true
}

fn is_same(one: Value, other: Value) -> bool {
    match (one, other) {
        (Value::Float(a), Value::Float(b)) => (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs()),
        _ => one.number().is_some() && one.number() == other.number(),
    }
}

/// The strongest of what is left: one of each kind, the one that speaks of most elements.
fn chosen(guesses: Vec<Guess>) -> Vec<Guess> {
    let kind = |template: Template| match template {
        Template::Levels => 1,
        Template::Block | Template::BlockBefore | Template::BlockPrefix => 2,
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
    // What speaks of every element leaves nothing to say.
    if let Some(every) = best.iter().position(|one| kind(one.template) == 0) {
        return vec![best[every]];
    }
    best.sort_by_key(|one| std::cmp::Reverse(kind(one.template)));
    best.truncate(MAX_CLAUSES);
    best
}

fn clause(
    kernel: &mut Kernel,
    fold: &Fold,
    array: ArrayId,
    guess: Guess,
    span: base::Span,
) -> Option<Clause> {
    let vars: Vec<VarId> = guess
        .template
        .names()
        .iter()
        .map(|name| kernel.vars.push(Var { name: (*name).to_owned(), ty: Type::Whole }))
        .collect();
    let [Some(size)] = &kernel.arrays[array].dimensions[..] else { return None };
    let stride = match guess.stride {
        None => int(1),
        Some((one, form)) => form.expr(var(one, kernel.vars[one].ty)),
    };
    let made = guess.template.made(&vars, &stride, size.clone());
    let Made { when, index, low, high } = made;
    let value = folded(Fold { low, high, ..fold.clone() });
    let levels = if guess.template == Template::Levels { vec![vars[0]] } else { Vec::new() };
    let forall = vars;
    let mut clause = Clause { text: None, forall, levels, when, array, index, value, span };
    clause.text = Some(text::clause(kernel, &clause));
    Some(clause)
}
