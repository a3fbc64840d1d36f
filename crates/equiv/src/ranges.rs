//! Interval analysis of integers, from the types of the inputs that they are made of.
//!
//! Ranges are computed on demand: at the end of a sum rather than at each of its products. Operations are
//! bounded one by one, so ranges are never too narrow and sometimes too wide.

use rustc_hash::{FxHashMap, FxHashSet};
use term::{Function, ListId, Node, NodeId, Sum, Term, Terms};

/// Smallest and largest possible number, both inclusive.
pub(crate) type Range = (i128, i128);

/// The largest bound that is kept: no integer type reaches it.
const MAX_BOUND: i128 = 1 << 100;

/// Returns the `x` and `m` of `x/m`, where `m` is an integer above 1.
pub(crate) fn fraction(terms: &Terms, node: NodeId) -> Option<(NodeId, i128)> {
    let Node::Product(a, b) = terms.at(node) else { return None };
    let divisor = |factor: NodeId| match terms.as_number(factor.into())?.to_small_ratio()? {
        (1, below) => Some(i128::from(below)).filter(|below| *below > 1),
        _ => None,
    };
    match (divisor(a), divisor(b)) {
        (Some(by), None) => Some((b, by)),
        (None, Some(by)) => Some((a, by)),
        _ => None,
    }
}

/// Cache of computed ranges. Sums grow and may be queried at every step, so the range of a sum's beginning is
/// not computed again.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    nodes: FxHashMap<NodeId, Option<Range>>,
    /// Nodes with a declared range that does not follow from their operations.
    declared: FxHashSet<NodeId>,
    /// For each list, the number of products added up so far, and the range of their sum.
    sums: FxHashMap<ListId, (u32, Option<Range>)>,
    /// Number of conditions that were checked against ranges so far.
    pub(crate) conditions_checked: u32,
    /// Number of evaluated steps in trials of all numbers so far.
    pub(crate) steps_tried: u64,
}

impl Ranges {
    /// Returns the range of a term, given ranges of its inputs by `input`; `None` if it may not be an integer
    /// or is too large.
    pub(crate) fn of(
        &mut self,
        terms: &Terms,
        root: Term,
        input: &dyn Fn(usize) -> Option<Range>,
    ) -> Option<Range> {
        if let Some(known) = terms.node_of(root).and_then(|node| self.nodes.get(&node)) {
            return *known;
        }
        let mut stack = Vec::new();
        let mut missing = Vec::new();
        loop {
            if let Some(range) = self.operation(terms, terms.node(root), input, &mut missing) {
                return range;
            }
            stack.append(&mut missing);
            while let Some(&node) = stack.last() {
                if self.nodes.contains_key(&node) {
                    stack.pop();
                } else if let Some(range) =
                    self.operation(terms, terms.at(node), input, &mut missing)
                {
                    self.nodes.insert(node, range);
                } else {
                    stack.append(&mut missing);
                }
            }
        }
    }

    /// Declares the range of a node whose operations alone give a wider one.
    pub(crate) fn declare(&mut self, node: NodeId, (least, most): Range) {
        // Keep any earlier knowledge.
        let range = match self.nodes.get(&node) {
            Some(Some((low, high))) => (least.max(*low), most.min(*high)),
            _ => (least, most),
        };
        self.nodes.insert(node, Some(range));
        self.declared.insert(node);
    }

    /// Returns `true` if a range was declared for a node.
    pub(crate) fn is_declared(&self, node: NodeId) -> bool {
        self.declared.contains(&node)
    }

    /// Returns the range of an operation if those of its operands are known; otherwise collects the missing
    /// ones.
    fn operation(
        &mut self,
        terms: &Terms,
        operation: Node,
        input: &dyn Fn(usize) -> Option<Range>,
        missing: &mut Vec<NodeId>,
    ) -> Option<Option<Range>> {
        let range = match operation {
            // A statement about a tensor holds for all its elements.
            Node::Input(one) | Node::Apply(Function::Element(one), _) => input(one.position()),
            Node::Sum(sum) => self.sum(terms, sum, missing)?,
            Node::Product(a, b) => both(self.at([a, b], missing)?, product),
            Node::Negation(a) => self.at([a], missing)?[0].map(|(low, high)| (-high, -low)),
            Node::Maximum(a, b) => {
                both(self.at([a, b], missing)?, |a, b| Some((a.0.max(b.0), a.1.max(b.1))))
            }
            Node::Minimum(a, b) => {
                both(self.at([a, b], missing)?, |a, b| Some((a.0.min(b.0), a.1.min(b.1))))
            }
            Node::Select(_, a, b) => {
                both(self.at([a, b], missing)?, |a, b| Some((a.0.min(b.0), a.1.max(b.1))))
            }
            Node::Absolute(a) => self.at([a], missing)?[0].map(|(low, high)| {
                let least = if low > 0 || high < 0 { low.abs().min(high.abs()) } else { 0 };
                (least, low.abs().max(high.abs()))
            }),
            Node::Apply(Function::Floor, scaled) => match fraction(terms, scaled) {
                Some((x, by)) => self.at([x], missing)?[0]
                    .map(|(low, high)| (low.div_euclid(by), high.div_euclid(by))),
                None => None,
            },
            Node::Constant(constant) => terms.number(constant).to_i64().map(|number| {
                let number = i128::from(number);
                (number, number)
            }),
            _ => None,
        };
        Some(range.and_then(within_limit))
    }

    /// Returns the ranges of operands, if all are known.
    fn at<const N: usize>(
        &self,
        operands: [NodeId; N],
        missing: &mut Vec<NodeId>,
    ) -> Option<[Option<Range>; N]> {
        let known = operands.map(|node| self.nodes.get(&node).copied());
        missing
            .extend(operands.iter().zip(&known).filter(|(_, one)| one.is_none()).map(|(n, _)| n));
        missing.is_empty().then(|| known.map(Option::flatten))
    }

    /// Returns the range of a sum, starting from the longest known beginning of its list.
    fn sum(&mut self, terms: &Terms, sum: Sum, missing: &mut Vec<NodeId>) -> Option<Option<Range>> {
        let known = self.sums.get(&sum.list).copied().filter(|(length, _)| *length <= sum.length);
        let (length, mut total) = known.unwrap_or((0, Some((0, 0))));
        let rest = || terms.products(sum).flatten().skip(length as usize);
        for factors in rest() {
            let operands = [factors.left(), factors.right()];
            missing
                .extend(operands.into_iter().filter(|operand| !self.nodes.contains_key(operand)));
        }
        if !missing.is_empty() {
            return None;
        }
        for factors in rest() {
            let operands = self.at([factors.left(), factors.right()], missing)?;
            let summand = both(operands, product).map(|(low, high)| match factors.is_negative() {
                true => (-high, -low),
                false => (low, high),
            });
            total = both([total, summand], |a, b| within_limit((a.0 + b.0, a.1 + b.1)));
        }
        self.sums.insert(sum.list, (sum.length, total));
        Some(total)
    }
}

/// Combines two ranges, if both are known.
fn both(
    [a, b]: [Option<Range>; 2],
    combine: impl FnOnce(Range, Range) -> Option<Range>,
) -> Option<Range> {
    combine(a?, b?)
}

/// Returns the range of a product, if its bounds are not too large.
fn product(a: Range, b: Range) -> Option<Range> {
    let corners = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
    let mut products = [0; 4];
    for (product, (x, y)) in products.iter_mut().zip(corners) {
        *product = x.checked_mul(y)?;
    }
    within_limit((products.into_iter().min()?, products.into_iter().max()?))
}

/// Returns a range if its bounds are not too large.
fn within_limit(range: Range) -> Option<Range> {
    (range.0 >= -MAX_BOUND && range.1 <= MAX_BOUND).then_some(range)
}

/// Returns the range of an integer type.
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
        let mut ranges = Ranges::default();
        let mut range = |terms: &Terms, term| ranges.of(terms, term, &bytes);
        assert_eq!(range(&terms, sum), Some((-4 * 128 * 127, 4 * 128 * 128)));
        let less = terms.subtract(sum, x);
        assert_eq!(range(&terms, less), Some((-65024 - 127, 65536 + 128)));
        let magnitude = terms.absolute(y);
        assert_eq!(range(&terms, magnitude), Some((0, 128)));
        let quotient = terms.divide(x, y);
        assert_eq!(range(&terms, quotient), None);
        // The sum grows, and its beginning is queried again.
        let longer = terms.fused_multiply_add(x, y, sum);
        assert_eq!(range(&terms, longer), Some((-5 * 128 * 127, 5 * 128 * 128)));
        assert_eq!(range(&terms, sum), Some((-4 * 128 * 127, 4 * 128 * 128)));
    }

    /// `z + x·|y|` with x, z of u64 and y of s64: the product alone nearly fills 128 bits.
    #[test]
    fn ranges_beyond_every_type_are_dropped() {
        let mut inputs = Inputs::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| inputs.scalar(name).unwrap());
        let mut terms = Terms::new(Arc::new(inputs));
        let [x, y, z] = [x, y, z].map(|input| terms.input(input));
        let magnitude = terms.absolute(y);
        let sum = terms.fused_multiply_add(x, magnitude, z);
        let product = terms.multiply(x, magnitude);
        let types = |position: usize| Some(of_type(64, position == 1));
        let mut ranges = Ranges::default();
        assert_eq!(ranges.of(&terms, sum, &types), None);
        assert_eq!(ranges.of(&terms, product, &types), None);
        assert_eq!(ranges.of(&terms, magnitude, &types), Some((0, 1 << 63)));
    }
}
