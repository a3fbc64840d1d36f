//! The first rung: sums of products of inputs, compared as multisets of pairs.
//!
//! A matrix product is nothing but a long list of pairs of inputs, added in some order. Such lists
//! are compared in order, and sorted only if that fails. Equal multisets are equal sums; unequal
//! ones say nothing (`x·y − x·y` is 0), the next rung decides. All of these terms are total.

use term::{Factors, Node, Sum, Term, Terms};

/// Scratch space, kept between outputs.
#[derive(Debug, Default)]
pub(crate) struct Products {
    left: Vec<u64>,
    right: Vec<u64>,
}

/// The sign of a product, above both factors' numbers.
const NEGATIVE: u64 = 1 << 63;
/// Sums inside sums are laid out up to this many products: sharing could make them exponential.
const MOST_NESTED: usize = 1 << 21;

impl Products {
    /// A number that sums of the same products share; none for other sums and shorter ones.
    ///
    /// Also whether all of them are squares, added.
    pub(crate) fn hash(&mut self, terms: &Terms, sum: Sum, shortest: usize) -> Option<(u64, bool)> {
        // A sum of fewer summands can only be long enough if it has sums inside.
        if !gather(terms, sum, &mut self.left) || self.left.len() < shortest {
            return None;
        }
        let mixed = self.left.iter().map(|key| crate::witness::mix(*key));
        let hash = mixed.fold(self.left.len() as u64, u64::wrapping_add);
        let inputs = terms.inputs().len() as u64;
        let square = |key: &u64| key >> 32 == key & u64::from(u32::MAX) && key >> 32 < inputs;
        Some((hash, self.left.iter().all(square)))
    }

    /// Whether both are sums of the same products of inputs.
    pub(crate) fn equal(&mut self, a: (&Terms, Term), b: (&Terms, Term)) -> bool {
        let (Some(left), Some(right)) = (sum_of(a), sum_of(b)) else { return false };
        if !gather(a.0, left, &mut self.left)
            || !gather(b.0, right, &mut self.right)
            || self.left.len() != self.right.len()
        {
            return false;
        }
        if self.left == self.right {
            return true;
        }
        // Reordered tiles are runs, which a stable sort merges instead of sorting.
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

/// The products as numbers, sums inside sums laid out flat (a kernel that adds up tiles makes
/// them); `false` if one has a factor that is neither an input nor 1, or if there are too many.
fn gather(terms: &Terms, sum: Sum, keys: &mut Vec<u64>) -> bool {
    keys.clear();
    keys.reserve(sum.length as usize);
    let most = MOST_NESTED.max(sum.length as usize);
    let mut runs = terms.products(sum);
    let mut run: &[Factors] = &[];
    let mut sign = 0;
    let mut outer = Vec::new();
    loop {
        let Some((inner, own, rest)) = gather_run(terms, run, sign, keys) else { return false };
        if let Some(inner) = inner {
            if keys.len() + inner.length as usize > most {
                return false;
            }
            outer.push((runs, rest, sign));
            (runs, run, sign) = (terms.products(inner), &[], own);
        } else if let Some(next) = runs.next() {
            run = next;
        } else if let Some(enclosing) = outer.pop() {
            (runs, run, sign) = enclosing;
        } else {
            return true;
        }
    }
}

/// Gathers up to the first sum inside the run; returns that, its sign, and what comes after it.
fn gather_run<'a>(
    terms: &Terms,
    run: &'a [Factors],
    sign: u64,
    keys: &mut Vec<u64>,
) -> Option<(Option<Sum>, u64, &'a [Factors])> {
    let inputs = terms.inputs().len() as u32;
    let one = terms.node_of(terms.one());
    for (index, factors) in run.iter().enumerate() {
        let own = sign ^ if factors.is_negative() { NEGATIVE } else { 0 };
        let (left, right) = (factors.left(), factors.right());
        let (mut a, mut b) = (left.position() as u32, right.position() as u32);
        if a.max(b) >= inputs {
            if Some(right) == one {
                if let Node::Sum(inner) = terms.at(left) {
                    return Some((Some(inner), own, &run[index + 1..]));
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
        keys.push(own | u64::from(a.min(b)) << 32 | u64::from(a.max(b)));
    }
    Some((None, sign, &[]))
}
