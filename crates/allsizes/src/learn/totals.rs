//! Guesses totals: a number `L` of elements that combine at every head of a loop to what a whole range did before the
//! loop. In a tree, `L` is the number of partial results that are left.

use super::build::{entry, folded, int, var, whole};
use super::combine::{Combine, Range, Ranges};
use super::fit::{MAX_SIZE, Observations, Target, is_same};
use super::templates::Form;
use super::text;
use crate::clause::{Clause, has_totals};
use kir::{Expr, Fold, Kernel, Type, Var, VarId};

/// Limit on the totals of one loop about one array.
const MAX_TOTALS: usize = 2;

/// The number of elements before the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    /// All elements of the array.
    Size,
    /// A variable.
    Variable(VarId),
}

/// A total that has not failed yet.
#[derive(Clone, Copy, Debug)]
struct Guess {
    left: (VarId, Form),
    whole: Whole,
    /// Set once the number of elements was seen to change.
    changes: bool,
}

/// Infers totals of an array that a loop stores to.
pub(super) fn learn(kernel: &mut Kernel, seen: &[Observations], target: Target) -> Vec<Clause> {
    let ty = kernel.arrays[target.array].element;
    for combine in Combine::all(ty, kernel) {
        if combine.monoid.is_some() || !has_totals(&combine.op, ty) {
            continue;
        }
        let mut guesses = all_guesses(kernel);
        for one in seen {
            retain_held(&mut guesses, one, target, &combine);
        }
        guesses.retain(|guess| guess.changes);
        guesses.truncate(MAX_TOTALS);
        if !guesses.is_empty() {
            let clauses =
                guesses.into_iter().filter_map(|one| clause(kernel, target, &combine, one));
            return clauses.collect();
        }
    }
    Vec::new()
}

fn all_guesses(kernel: &Kernel) -> Vec<Guess> {
    let integers = kernel.vars.enumerate().filter(|(_, one)| matches!(one.ty, Type::Int { .. }));
    let integers: Vec<VarId> = integers.map(|(var, _)| var).collect();
    let variables = integers.iter().map(|var| Whole::Variable(*var));
    let wholes: Vec<Whole> = [Whole::Size].into_iter().chain(variables).collect();
    let mut guesses = Vec::new();
    for whole in wholes {
        for form in Form::ALL {
            let others = integers.iter().filter(|var| whole != Whole::Variable(**var));
            guesses.extend(others.map(|var| Guess { left: (*var, form), whole, changes: false }));
        }
    }
    guesses
}

/// Drops the guesses that fail at a head of a run.
fn retain_held(guesses: &mut Vec<Guess>, seen: &Observations, target: Target, combine: &Combine) {
    let Some(size) = seen.sizes.get(&target.array).copied().filter(|size| *size <= MAX_SIZE) else {
        return;
    };
    // The contents before the loop, and the variables there.
    let mut start: Option<(Ranges, Vec<Option<i128>>)> = None;
    for (head, holds) in seen.history.heads(target.array) {
        if head.number != target.number {
            continue;
        }
        if head.is_first {
            start = Some((Ranges::new(holds.clone()), head.vars.clone()));
        }
        let Some((before, first)) = &mut start else { return };
        let mut now = Ranges::new(holds);
        let at = |vars: &[Option<i128>], var: VarId| {
            vars.get(base::Index::position(var)).copied().flatten()
        };
        guesses.retain_mut(|guess| {
            let (var, form) = guess.left;
            let whole = match guess.whole {
                Whole::Size => Some(size),
                Whole::Variable(var) => at(first, var),
            };
            let (Some(left), Some(old), Some(whole)) = (at(&head.vars, var), at(first, var), whole)
            else {
                return false;
            };
            guess.changes |= left != old;
            let left = form.value(left);
            if form.value(old) != whole || !(0..=size).contains(&left) {
                return false;
            }
            let wanted = before.folded(combine, Range::new(0, whole));
            match (now.folded(combine, Range::new(0, left)), wanted) {
                (Some(got), Some(wanted)) => is_same(got, wanted),
                _ => false,
            }
        });
    }
}

fn clause(kernel: &mut Kernel, target: Target, combine: &Combine, guess: Guess) -> Option<Clause> {
    let Target { array, span, .. } = target;
    let [Some(size)] = &kernel.arrays[array].dimensions[..] else { return None };
    let high = match guess.whole {
        Whole::Size => whole(size.clone()),
        Whole::Variable(one) => var(one, kernel.vars[one].ty),
    };
    let (left, form) = guess.left;
    let index: Expr = form.expr(var(left, kernel.vars[left].ty));
    let over = kernel.vars.push(Var { name: "i".to_owned(), ty: Type::Whole });
    let body = entry(array, var(over, Type::Whole), kernel.arrays[array].element);
    let (op, monoid) = (combine.op.clone(), combine.monoid.clone());
    let fold = Fold { op: op.clone(), var: over, low: int(0), high, body, monoid };
    let (text, forall, levels, when) = (None, Vec::new(), Vec::new(), Vec::new());
    let (value, total, claim) = (folded(fold), Some(op), None);
    let mut clause = Clause { text, forall, levels, when, array, index, value, total, span, claim };
    clause.text = Some(text::clause(kernel, &clause));
    Some(clause)
}
