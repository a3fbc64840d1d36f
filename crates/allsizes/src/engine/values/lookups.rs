//! Operations look up every element that the source reads.
//!
//! The algebra of values is that of real numbers: `x − x` is 0, and so is `0·x`. In the source they are 0 only if `x`
//! is a number, and a loaded value is known to be one only when its stores are looked up. So where the result of an
//! operation no longer reads an element that an operand reads, or reads it under more conditions (`c·x`, where the
//! truth of a condition `c` may be 0), it gets a term `0·x`: 0, if `x` is a number. A choice is no operation: the value
//! that is not chosen may be anything.

use super::value::{Atom, Piece, Value};
use arith::formula::Formula;
use std::collections::{BTreeMap, BTreeSet};

/// The function that is 0 for numbers.
pub(super) const ZERO_TIMES: &str = "0 times";

/// Conditions under which a term is not 0.
type Guards<'v> = BTreeSet<&'v Formula>;

/// Per element that is read: the conditions of each occurrence.
type Reads<'v> = BTreeMap<&'v Atom, Vec<Guards<'v>>>;

/// Adds the terms `0·x` that the result of an operation on values needs; `None` if it becomes too large.
pub(super) fn with_zeros(result: Value, operands: [&Value; 2]) -> Option<Value> {
    let mut kept = Reads::new();
    read(&result, &Guards::new(), &mut kept);
    let mut zeros: Vec<Value> = Vec::new();
    for operand in operands {
        for product in operand.terms.keys() {
            let guards = guards(product.iter().map(|(atom, _)| atom));
            for (atom, _) in product.iter().filter(|(atom, _)| !matches!(atom, Atom::Truth(_))) {
                let mut needed = Reads::new();
                read_atom(atom, &guards, &mut needed);
                if !needed.iter().all(|(one, under)| is_kept(&kept, one, under)) {
                    zeros.push(zero_times(atom, &guards)?);
                }
            }
        }
    }
    zeros.sort();
    zeros.dedup();
    zeros.iter().try_fold(result, |sum, zero| sum.plus(zero))
}

/// Returns `true` if an element is read wherever it was under these conditions.
fn is_kept(kept: &Reads<'_>, element: &Atom, under: &[Guards<'_>]) -> bool {
    let kept_under = kept.get(element).map(Vec::as_slice).unwrap_or_default();
    under.iter().all(|guards| kept_under.iter().any(|fewer| fewer.is_subset(guards)))
}

fn zero_times(atom: &Atom, guards: &Guards<'_>) -> Option<Value> {
    let argument = Value::atom(atom.clone());
    let zero = Value::atom(Atom::Call(ZERO_TIMES.to_owned(), vec![argument]));
    guards.iter().try_fold(zero, |product, condition| {
        product.times(&Value::atom(Atom::Truth((*condition).clone())))
    })
}

fn guards<'v>(atoms: impl Iterator<Item = &'v Atom>) -> Guards<'v> {
    let truth = |atom: &'v Atom| match atom {
        Atom::Truth(condition) => Some(condition),
        _ => None,
    };
    atoms.filter_map(truth).collect()
}

/// Collects the elements that a value reads.
fn read<'v>(value: &'v Value, outer: &Guards<'v>, found: &mut Reads<'v>) {
    for product in value.terms.keys() {
        let mut inner = guards(product.iter().map(|(atom, _)| atom));
        inner.extend(outer);
        product.iter().for_each(|(atom, _)| read_atom(atom, &inner, found));
    }
}

fn read_atom<'v>(atom: &'v Atom, guards: &Guards<'v>, found: &mut Reads<'v>) {
    match atom {
        // The value that a loop carries may depend on elements, too.
        Atom::Load(_) | Atom::Entry(_) | Atom::Carried(..) => {
            found.entry(atom).or_default().push(guards.clone());
        }
        Atom::Call(_, arguments) => {
            arguments.iter().for_each(|one| read(one, guards, found));
        }
        Atom::Sum(sum) => read(&sum.body, guards, found),
        Atom::Fold(fold) => fold.pieces.iter().for_each(|piece| match piece {
            Piece::One(value) => read(value, guards, found),
            Piece::Run(sum) => read(&sum.body, guards, found),
        }),
        _ => {}
    }
}
