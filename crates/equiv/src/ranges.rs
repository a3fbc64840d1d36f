//! Between which numbers an integer is, from the types of the inputs it is made of.
//!
//! Computed when somebody asks, which is at the end of a sum rather than at each of its products.
//! Bounds are those of the operations one by one: never too narrow, sometimes too wide.

use rustc_hash::FxHashMap;
use term::{Node, NodeId, Term, Terms, evaluation_order};

/// From the smallest number to the largest, both possible.
pub(crate) type Range = (i128, i128);

/// Beyond this nothing is kept: no integer type is so large.
const LARGEST: i128 = 1 << 100;

/// The range of a term whose inputs have the ranges that `input` tells; `None` if it is not an
/// integer for all that is known, or too large.
pub(crate) fn range(
    terms: &Terms,
    root: Term,
    input: &dyn Fn(usize) -> Option<Range>,
) -> Option<Range> {
    let order = evaluation_order(terms, [root], |_| true);
    let mut known: FxHashMap<NodeId, Option<Range>> = FxHashMap::default();
    for &node in &order.nodes {
        let found = match terms.at(node) {
            Node::Input(one) => input(one.position()),
            operation => of_operation(terms, operation, &|node| known.get(&node).copied()?),
        };
        known.insert(node, found);
    }
    let at = |node: NodeId| known.get(&node).copied()?;
    match terms.node_of(root) {
        Some(node) => at(node),
        None => of_operation(terms, terms.node(root), &at),
    }
}

fn of_operation(
    terms: &Terms,
    operation: Node,
    at: &dyn Fn(NodeId) -> Option<Range>,
) -> Option<Range> {
    let found = match operation {
        Node::Constant(constant) => {
            let number = i128::from(terms.number(constant).to_i64()?);
            (number, number)
        }
        Node::Sum(sum) => {
            let mut total = (0i128, 0i128);
            for factors in terms.products(sum).flatten() {
                let (low, high) = product(at(factors.left())?, at(factors.right())?)?;
                let (low, high) = if factors.is_negative() { (-high, -low) } else { (low, high) };
                total = limited((total.0 + low, total.1 + high))?;
            }
            total
        }
        Node::Product(a, b) => product(at(a)?, at(b)?)?,
        Node::Negation(a) => {
            let (low, high) = at(a)?;
            (-high, -low)
        }
        Node::Maximum(a, b) => {
            let (a, b) = (at(a)?, at(b)?);
            (a.0.max(b.0), a.1.max(b.1))
        }
        Node::Minimum(a, b) => {
            let (a, b) = (at(a)?, at(b)?);
            (a.0.min(b.0), a.1.min(b.1))
        }
        Node::Absolute(a) => {
            let (low, high) = at(a)?;
            let least = if low > 0 || high < 0 { low.abs().min(high.abs()) } else { 0 };
            (least, low.abs().max(high.abs()))
        }
        Node::Select(_, a, b) => {
            let (a, b) = (at(a)?, at(b)?);
            (a.0.min(b.0), a.1.max(b.1))
        }
        _ => return None,
    };
    limited(found)
}

fn product(a: Range, b: Range) -> Option<Range> {
    let corners = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
    let mut products = [0; 4];
    for (product, (x, y)) in products.iter_mut().zip(corners) {
        *product = x.checked_mul(y)?;
    }
    Some((products.into_iter().min()?, products.into_iter().max()?))
}

fn limited(range: Range) -> Option<Range> {
    (range.0 >= -LARGEST && range.1 <= LARGEST).then_some(range)
}

/// The numbers of an integer type.
pub(crate) fn of_type(bits: u32, signed: bool) -> Range {
    match signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::Inputs;

    #[test]
    fn ranges_of_sums_of_products() {
        let mut inputs = Inputs::new();
        let [x, y] = ["x", "y"].map(|name| inputs.scalar(name).unwrap());
        let mut terms = Terms::new(Arc::new(inputs));
        let (x, y) = (terms.input(x), terms.input(y));
        let bytes = |_: usize| Some(of_type(8, true));
        let mut sum = terms.zero();
        for _ in 0..4 {
            sum = terms.fused_multiply_add(x, y, sum);
        }
        assert_eq!(range(&terms, sum, &bytes), Some((-4 * 128 * 127, 4 * 128 * 128)));
        let less = terms.subtract(sum, x);
        assert_eq!(range(&terms, less, &bytes), Some((-65024 - 127, 65536 + 128)));
        let magnitude = terms.absolute(y);
        assert_eq!(range(&terms, magnitude, &bytes), Some((0, 128)));
        let quotient = terms.divide(x, y);
        assert_eq!(range(&terms, quotient, &bytes), None);
    }
}
