//! The first rung: sums of products of inputs, compared as multisets of pairs.
//!
//! A matrix product is a long list of pairs of inputs, added in some order. Such lists are compared in order, and
//! sorted only if that fails. Equal multisets are equal sums. From unequal ones nothing follows (`x·y − x·y` is 0);
//! the next rung decides. All of these terms are total.

use multiversion::multiversion;
use term::{Factors, Node, Sum, Term, Terms};

/// Scratch space, kept between outputs.
#[derive(Debug, Default)]
pub(crate) struct Products {
    left: Vec<u64>,
    right: Vec<u64>,
    /// Steps spent on sums that turned out to have other factors.
    wasted: usize,
}

/// The sign of a product, above both factors' numbers.
const NEGATIVE: u64 = 1 << 63;
/// Nested sums are flattened up to this many products: sharing could make them exponential.
const MAX_NESTED: usize = 1 << 21;
/// Limit on wasted steps: a nested sum with another operation at the bottom is walked once for each level.
const MAX_WASTED: usize = 1 << 24;

impl Products {
    /// Returns a hash that sums of the same products share; `None` for other sums and shorter ones.
    /// Also returns `true` if all of them are squares with a plus sign.
    pub(crate) fn hash(&mut self, terms: &Terms, sum: Sum, shortest: usize) -> Option<(u64, bool)> {
        if self.wasted > MAX_WASTED {
            return None;
        }
        if let Err(wasted) = gather(terms, sum, &mut self.left) {
            self.wasted += wasted;
            return None;
        }
        if self.left.len() < shortest {
            return None;
        }
        let mixed = self.left.iter().map(|key| base::mix64(*key));
        let hash = mixed.fold(self.left.len() as u64, u64::wrapping_add);
        let inputs = terms.inputs().len() as u64;
        let square = |key: &u64| key >> 32 == key & u64::from(u32::MAX) && key >> 32 < inputs;
        Some((hash, self.left.iter().all(square)))
    }

    /// Returns `true` if both are sums of the same products of inputs.
    pub(crate) fn equal(&mut self, a: (&Terms, Term), b: (&Terms, Term)) -> bool {
        let (Some(left), Some(right)) = (sum_of(a), sum_of(b)) else { return false };
        if gather(a.0, left, &mut self.left).is_err()
            || gather(b.0, right, &mut self.right).is_err()
            || self.left.len() != self.right.len()
        {
            return false;
        }
        if self.left == self.right {
            return true;
        }
        // Reordered tiles are runs, and a stable sort merges them.
        self.left.sort();
        self.right.sort();
        self.left == self.right
    }
}

fn sum_of((terms, term): (&Terms, Term)) -> Option<Sum> {
    match terms.node(term) {
        Node::Sum(sum) => Some(sum),
        _ => None,
    }
}

/// Collects the products as numbers, with nested sums flattened (a kernel that adds up tiles has them).
///
/// # Errors
/// The number of wasted steps, if a product has a factor that is neither an input nor 1, or if there are too many.
fn gather(terms: &Terms, sum: Sum, keys: &mut Vec<u64>) -> Result<(), usize> {
    keys.clear();
    keys.reserve(sum.length as usize);
    let most = MAX_NESTED.max(sum.length as usize);
    let mut runs = terms.products(sum);
    let mut run: &[Factors] = &[];
    let mut sign = 0;
    let mut outer = Vec::new();
    loop {
        let wasted = keys.len() + outer.len() + 1;
        let (inner, own, rest) = gather_run(terms, run, sign, keys).ok_or(wasted)?;
        if let Some(inner) = inner {
            if keys.len() + inner.length as usize > most {
                return Err(wasted);
            }
            outer.push((runs, rest, sign));
            (runs, run, sign) = (terms.products(inner), &[], own);
        } else if let Some(next) = runs.next() {
            run = next;
        } else if let Some(enclosing) = outer.pop() {
            (runs, run, sign) = enclosing;
        } else {
            return Ok(());
        }
    }
}

/// Gathers up to the first sum inside the run; returns that sum, its sign, and the rest.
fn gather_run<'a>(
    terms: &Terms,
    run: &'a [Factors],
    sign: u64,
    keys: &mut Vec<u64>,
) -> Option<(Option<Sum>, u64, &'a [Factors])> {
    let inputs = terms.inputs().len() as u32;
    if gather_inputs(run, inputs, sign, keys) {
        return Some((None, sign, &[]));
    }
    let one = terms.node_of(terms.one());
    for (index, factors) in run.iter().enumerate() {
        let product_sign = sign ^ if factors.is_negative() { NEGATIVE } else { 0 };
        let (left, right) = (factors.left(), factors.right());
        let (mut a, mut b) = (left.position() as u32, right.position() as u32);
        if a.max(b) >= inputs {
            if Some(right) == one {
                if let Node::Sum(inner) = terms.at(left) {
                    return Some((Some(inner), product_sign, &run[index + 1..]));
                }
                b = inputs;
            }
            if Some(left) == one {
                a = inputs;
            }
            if (a >= inputs && Some(left) != one) || (b >= inputs && Some(right) != one) {
                return None;
            }
        }
        keys.push(product_sign | u64::from(a.min(b)) << 32 | u64::from(a.max(b)));
    }
    Some((None, sign, &[]))
}

/// Gathers a run of products of inputs; returns `false` if it has other products.
#[multiversion(targets("x86_64+avx2"))]
fn gather_inputs(run: &[Factors], inputs: u32, sign: u64, keys: &mut Vec<u64>) -> bool {
    // Two passes without an early exit, so that they vectorise.
    let last = |last: u32, factors: &Factors| {
        last.max(factors.left().position() as u32).max(factors.right().position() as u32)
    };
    let of_inputs = run.iter().fold(0, last) < inputs;
    if of_inputs {
        keys.extend(run.iter().map(|factors| sign ^ key_of_inputs(*factors)));
    }
    of_inputs
}

/// Writes a product of inputs as a number.
#[inline]
fn key_of_inputs(factors: Factors) -> u64 {
    let (a, b) = (factors.left().position() as u32, factors.right().position() as u32);
    let sign = u64::from(factors.is_negative()) << 63;
    sign | u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::Inputs;

    fn store() -> (Terms, Vec<Term>) {
        let mut inputs = Inputs::new();
        inputs.tensor("x", 8).unwrap();
        let terms = Terms::new(Arc::new(inputs));
        let all = (0..8).map(|at| terms.input(terms.inputs().at(at).unwrap())).collect();
        (terms, all)
    }

    #[test]
    fn tiles_are_laid_out_flat() {
        let (mut terms, x) = store();
        let mut sum = |order: &[usize], tile: usize| {
            let mut total = terms.zero();
            for part in order.chunks(tile) {
                let mut inner = terms.zero();
                for at in part {
                    inner = terms.fused_multiply_add(x[*at], x[7 - *at], inner);
                }
                total = terms.subtract(total, inner);
            }
            total
        };
        let (a, b) = (sum(&[0, 1, 2, 3, 4, 5, 6, 7], 2), sum(&[7, 2, 1, 5, 6, 0, 3, 4], 4));
        let c = sum(&[7, 2, 1, 5, 6, 0, 3, 0], 4);
        let mut products = Products::default();
        assert!(products.equal((&terms, a), (&terms, b)));
        // x[i]·x[7−i] is the same product as x[7−i]·x[i]: 4 and 3, but not 4 and 0.
        assert!(!products.equal((&terms, a), (&terms, c)));
    }

    #[test]
    fn shared_sums_do_not_explode() {
        let (mut terms, x) = store();
        let mut sum = terms.add(x[0], x[1]);
        for _ in 0..60 {
            sum = terms.add(sum, sum);
        }
        let mut products = Products::default();
        assert!(!products.equal((&terms, sum), (&terms, sum)));
    }
}
