//! The first rung: sums of products of inputs, compared as multisets of pairs.
//!
//! A matrix product is nothing but a long list of pairs of inputs, added in some order. Such lists
//! are compared in order, and sorted only if that fails. Equal multisets are equal sums; unequal
//! ones say nothing (`x·y − x·y` is 0), the next rung decides. All of these terms are total.

use term::{Factors, Node, NodeId, Number, Sum, Term, Terms};

/// Scratch space, kept between outputs.
#[derive(Debug, Default)]
pub(crate) struct Products {
    left: Vec<u64>,
    right: Vec<u64>,
}

/// The sign of a product, above both factors' numbers.
const NEGATIVE: u64 = 1 << 63;

impl Products {
    /// Whether both are sums of the same products of inputs.
    pub(crate) fn equal(&mut self, a: (&Terms, Term), b: (&Terms, Term)) -> bool {
        let (Some(left), Some(right)) = (sum_of(a), sum_of(b)) else { return false };
        if left.length != right.length
            || !gather(a.0, left, &mut self.left)
            || !gather(b.0, right, &mut self.right)
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

/// The products as numbers; `false` if one has a factor that is neither an input nor 1.
fn gather(terms: &Terms, sum: Sum, keys: &mut Vec<u64>) -> bool {
    keys.clear();
    keys.reserve(sum.length as usize);
    let inputs = terms.inputs().len() as u32;
    for run in terms.products(sum) {
        for factors in run {
            match key(terms, inputs, *factors) {
                Some(key) => keys.push(key),
                None => return false,
            }
        }
    }
    true
}

fn key(terms: &Terms, inputs: u32, factors: Factors) -> Option<u64> {
    let a = leaf(terms, inputs, factors.left())?;
    let b = leaf(terms, inputs, factors.right())?;
    let sign = if factors.is_negative() { NEGATIVE } else { 0 };
    Some(sign | u64::from(a.min(b)) << 32 | u64::from(a.max(b)))
}

/// An input's number, or the number after the last input for the constant 1.
fn leaf(terms: &Terms, inputs: u32, node: NodeId) -> Option<u32> {
    let position = node.position() as u32;
    if position < inputs {
        return Some(position);
    }
    terms.as_number(node.into()).is_some_and(Number::is_one).then_some(inputs)
}
