//! Presentation of a difference: both expressions, reduced to the parts that differ, and the inputs of each
//! side where these are informative.
//!
//! Sub-expressions of the two sides are compared by a hash of their structure. A walk from the top finds the
//! innermost place that contains everything different; common summands and factors are omitted. This is
//! presentation only: no verdict relies on it.

use crate::position::Position;
use crate::readable::readable;
use crate::replay::Floats;
use crate::rounding::ConstantMeaning;
use crate::term_hashes::{TermHashes, operation_name};
use crate::witness::Witness;
pub(crate) use decide::Point;
use decide::inputs_of;
use exec::{Place, Thread};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use term::{Factors, Input, Node, NodeId, Sum, Term, Terms};

/// The largest number of characters of an expression in a report.
const MAX_CHARACTERS: usize = 160;

/// The largest number of summands of one side in a report.
const MAX_SUMMANDS: usize = 4;

/// Two elements that are not equal.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The element.
    pub position: Position,
    /// The expressions of both sides, reduced to the parts that differ; empty for plain numbers.
    pub expressions: [String; 2],
    /// The elements of a tensor that each side uses, if they differ: `A[3,*]`.
    pub reads: Vec<[String; 2]>,
    /// Inputs at which the elements differ, by name and index, as far as either side depends on them.
    pub inputs: Vec<(String, f64)>,
    /// Values of both sides at these inputs; `None` if undefined.
    pub values: [Option<f64>; 2],
    /// The interval runs of both kernels on these inputs.
    pub witness: Option<Witness>,
    /// The floats that both kernels compute for these inputs, if they can run on them.
    pub floats: Option<Floats>,
    /// Set if the difference was found on numbers alone, because the symbolic runs did not complete. Both kernels were
    /// checked at these inputs: their results there are the same on every schedule.
    pub is_numeric: bool,
    /// The last store of each side to the element.
    pub stores: [Option<(Place, Thread)>; 2],
    /// Pairs of constants, reference first, within two units in the last place: replacing the second by the
    /// first makes the kernels equal.
    pub rounding: Vec<[f64; 2]>,
    /// Constants of one side alone that are near a closed form, if the difference is small enough for rounded
    /// constants.
    pub near: Vec<ConstantMeaning>,
}

impl Difference {
    /// Returns `true` if both kernels showed the difference when they were run again.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.witness.as_ref().is_some_and(Witness::shows_difference)
    }

    /// Returns a difference of two integers that do not depend on inputs.
    pub(crate) fn of_integers(position: Position, numbers: [i128; 2]) -> Self {
        Self {
            position,
            expressions: [String::new(), String::new()],
            reads: Vec::new(),
            inputs: Vec::new(),
            values: numbers.map(|number| Some(number as f64)),
            witness: None,
            floats: None,
            is_numeric: false,
            stores: [None; 2],
            rounding: Vec::new(),
            near: Vec::new(),
        }
    }
}

/// A description of two different terms.
pub(crate) struct Description {
    pub(crate) expressions: [String; 2],
    pub(crate) reads: Vec<[String; 2]>,
}

/// Describes the difference of two terms.
pub(crate) fn describe(stores: [&Terms; 2], (a, b): (Term, Term)) -> Description {
    let expressions = match (readable(stores[0], a), readable(stores[1], b)) {
        (Some((one, a)), Some((other, b))) => {
            reduce_to_difference(&[TermHashes::new(&one, a), TermHashes::new(&other, b)], a, b)
        }
        _ => reduce_to_difference(
            &[TermHashes::new(stores[0], a), TermHashes::new(stores[1], b)],
            a,
            b,
        ),
    };
    Description { expressions, reads: reads(stores, [a, b]) }
}

/// Prints the parts of both expressions that differ.
fn reduce_to_difference(hashes: &[TermHashes<'_>; 2], mut a: Term, mut b: Term) -> [String; 2] {
    let [one, other] = hashes;
    let mut is_part = false;
    // Each step descends by one operation, and a term has at least as many nodes as levels.
    for _ in 0..one.hashes.len() + 1 {
        let (x, y) = (one.terms.node(a), other.terms.node(b));
        if let (Node::Sum(x), Node::Sum(y)) = (x, y) {
            let unmatched = unmatched_products(hashes, x, y);
            if let Some((down_a, down_b)) = only_differing_factors(hashes, &unmatched) {
                (a, b, is_part) = (down_a, down_b, true);
                continue;
            }
            return print_unmatched(hashes, &unmatched);
        }
        let (Some(next), true) =
            (only_differing_operands(hashes, x, y), x != y || one.of(a) != other.of(b))
        else {
            break;
        };
        (a, b, is_part) = (next.0, next.1, true);
    }
    let show = |terms: &Terms, term: Term| {
        let text = printed(terms, term, MAX_CHARACTERS);
        if is_part { format!("… {text} …") } else { text }
    };
    [show(one.terms, a), show(other.terms, b)]
}

/// Returns the only operands that differ, if the operations are the same.
fn only_differing_operands(hashes: &[TermHashes<'_>; 2], x: Node, y: Node) -> Option<(Term, Term)> {
    let [one, other] = hashes;
    if operation_name(x) != operation_name(y)
        || matches!(x, Node::Input(_) | Node::Constant(_) | Node::Sum(_))
    {
        return None;
    }
    if let (Node::Power(_, p), Node::Power(_, q)) = (x, y)
        && one.terms.number(p) != other.terms.number(q)
    {
        return None;
    }
    if let (Node::Apply(f, _), Node::Apply(g, _)) = (x, y)
        && one.terms.function_name(f) != other.terms.function_name(g)
    {
        return None;
    }
    let (mut left, mut right): (Vec<NodeId>, Vec<NodeId>) =
        (x.children().collect(), y.children().collect());
    let commutes = matches!(x, Node::Product(..) | Node::Maximum(..) | Node::Minimum(..));
    if commutes && right.iter().any(|node| other.at(*node) == one.at(left[0])) {
        left.reverse();
    }
    if commutes && left.iter().any(|node| one.at(*node) == other.at(right[0])) {
        right.reverse();
    }
    let pairs = left.into_iter().zip(right);
    let mut differing = pairs.filter(|(a, b)| one.at(*a) != other.at(*b));
    let first = differing.next()?;
    differing.next().is_none().then(|| (first.0.into(), first.1.into()))
}

/// Returns the products that only one of the two sums has.
fn unmatched_products(hashes: &[TermHashes<'_>; 2], x: Sum, y: Sum) -> [Vec<Factors>; 2] {
    let mut count: FxHashMap<u64, i64> = FxHashMap::default();
    for product in hashes[0].terms.products(x).flatten() {
        *count.entry(hashes[0].of_product(*product)).or_default() += 1;
    }
    for product in hashes[1].terms.products(y).flatten() {
        *count.entry(hashes[1].of_product(*product)).or_default() -= 1;
    }
    let mut take = |side: usize, sum: Sum, sign: i64| {
        let mut unmatched = Vec::new();
        for product in hashes[side].terms.products(sum).flatten() {
            let excess = count.entry(hashes[side].of_product(*product)).or_default();
            if *excess * sign > 0 {
                *excess -= sign;
                unmatched.push(*product);
            }
        }
        unmatched
    };
    [take(0, x, 1), take(1, y, -1)]
}

/// Returns the other factors, if one product is left on each side and the two share a factor.
fn only_differing_factors(
    hashes: &[TermHashes<'_>; 2],
    unmatched: &[Vec<Factors>; 2],
) -> Option<(Term, Term)> {
    let [[a], [b]] = [unmatched[0].as_slice(), unmatched[1].as_slice()] else { return None };
    if a.is_negative() != b.is_negative() {
        return None;
    }
    let [one, other] = hashes;
    let arrangements = [
        ((a.left(), b.left()), (a.right(), b.right())),
        ((a.right(), b.right()), (a.left(), b.left())),
        ((a.left(), b.right()), (a.right(), b.left())),
        ((a.right(), b.left()), (a.left(), b.right())),
    ];
    let arrangement = arrangements.into_iter().find(|((x, y), _)| one.at(*x) == other.at(*y))?;
    // Plain inputs are clearer together with their factor.
    let (x, y) = arrangement.1;
    let plain = |terms: &Terms, node| matches!(terms.at(node), Node::Input(_) | Node::Constant(_));
    let both_plain = plain(one.terms, x) && plain(other.terms, y);
    (!both_plain).then(|| (x.into(), y.into()))
}

/// Prints the products that only one of two sums has.
fn print_unmatched(hashes: &[TermHashes<'_>; 2], unmatched: &[Vec<Factors>; 2]) -> [String; 2] {
    let show = |terms: &Terms, products: &[Factors]| {
        if products.is_empty() {
            return "… nothing more".to_owned();
        }
        let mut text = String::from("…");
        for product in products.iter().take(MAX_SUMMANDS) {
            let sign = if product.is_negative() { '-' } else { '+' };
            let factors = [product.left(), product.right()];
            let is_one =
                |node: &NodeId| terms.as_number((*node).into()).is_some_and(|n| n.is_one());
            let shown: Vec<String> = factors
                .iter()
                .filter(|node| !is_one(node))
                .map(|node| print_factor(terms, *node))
                .collect();
            let shown = if shown.is_empty() { "1".to_owned() } else { shown.join("*") };
            text.push_str(&format!(" {sign} {shown}"));
        }
        match products.len().saturating_sub(MAX_SUMMANDS) {
            0 => {}
            more => text.push_str(&format!(" + {more} more summands")),
        }
        text
    };
    [show(hashes[0].terms, &unmatched[0]), show(hashes[1].terms, &unmatched[1])]
}

/// Prints a term, in at most `most` characters before the ellipsis.
fn printed(terms: &Terms, term: Term, most: usize) -> String {
    let text = terms.print_limited(term, most);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Prints a factor, in parentheses if needed.
fn print_factor(terms: &Terms, node: NodeId) -> String {
    let text = printed(terms, node.into(), MAX_CHARACTERS / 2);
    match terms.at(node) {
        Node::Sum(_) | Node::Negation(_) | Node::Quotient(..) => format!("({text})"),
        _ => text,
    }
}

/// Describes the elements of tensors that the two sides use, where they differ.
fn reads(stores: [&Terms; 2], roots: [Term; 2]) -> Vec<[String; 2]> {
    let used = [inputs_by_tensor(stores[0], roots[0]), inputs_by_tensor(stores[1], roots[1])];
    let mut names: Vec<&String> = used[0].keys().chain(used[1].keys()).collect();
    names.sort();
    names.dedup();
    let inputs = stores[0].inputs();
    let mut found = Vec::new();
    for name in names {
        let sets = used.each_ref().map(|side| side.get(name).map_or(&[][..], Vec::as_slice));
        if sets[0] == sets[1] {
            continue;
        }
        let shape = sets.iter().flat_map(|set| set.first()).next();
        let shape = shape.map_or(&[][..], |input| inputs.shape(*input));
        let texts = sets.map(|set| match set {
            [] => Some(format!("nothing of {name}")),
            [one] if inputs.place(*one).is_some_and(|place| place.1.is_none()) => {
                Some(name.clone())
            }
            set => pattern(set, shape, |one| inputs.place(one)?.1).map(|at| format!("{name}{at}")),
        });
        if let [Some(one), Some(other)] = texts {
            found.push([one, other]);
        }
    }
    found
}

/// Returns the inputs of a term by the name of their tensor, in ascending order.
fn inputs_by_tensor(terms: &Terms, root: Term) -> BTreeMap<String, Vec<Input>> {
    let mut groups: BTreeMap<String, Vec<Input>> = BTreeMap::new();
    for input in inputs_of(terms, root) {
        if let Some((name, _)) = terms.inputs().place(input) {
            groups.entry(name.to_owned()).or_default().push(input);
        }
    }
    groups.values_mut().for_each(|group| group.sort_unstable());
    groups
}

/// Describes a set of elements by dimension, like `[3,*]`, if it is the product of its projections.
fn pattern(set: &[Input], shape: &[u64], index: impl Fn(Input) -> Option<u32>) -> Option<String> {
    if shape.is_empty() {
        return None;
    }
    let mut axes: Vec<Vec<u64>> = vec![Vec::new(); shape.len()];
    for input in set {
        let mut rest = u64::from(index(*input)?);
        for (axis, size) in axes.iter_mut().zip(shape).rev() {
            axis.push(rest % size.max(&1));
            rest /= size.max(&1);
        }
    }
    let mut parts = Vec::new();
    let mut combinations = 1_usize;
    for (mut axis, size) in axes.into_iter().zip(shape) {
        axis.sort_unstable();
        axis.dedup();
        combinations = combinations.saturating_mul(axis.len());
        parts.push(range(&axis, *size)?);
    }
    (combinations == set.len()).then(|| format!("[{}]", parts.join(",")))
}

/// Writes `*`, `3`, `0..7` or `1,4` for an ascending list without duplicates.
fn range(axis: &[u64], size: u64) -> Option<String> {
    let (first, last) = (*axis.first()?, *axis.last()?);
    match axis.len() as u64 {
        length if length == size && size > 1 => Some("*".to_owned()),
        1 => Some(first.to_string()),
        length if last - first + 1 == length => Some(format!("{first}..{last}")),
        2..=4 => {
            let all: Vec<String> = axis.iter().map(u64::to_string).collect();
            Some(format!("{{{}}}", all.join(",")))
        }
        _ => None,
    }
}
