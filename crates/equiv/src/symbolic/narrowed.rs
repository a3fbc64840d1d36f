//! Integers under conditions: ranges narrowed by path conditions, and comparisons of integers that wrap
//! around.
//!
//! A path condition is split into comparisons that must all hold. A comparison of a linear form of a single
//! integer with a number bounds that integer: with `0 <= c` and `c < 7`, `x[i*7 + c]` is in bounds. Excluding
//! the least or the largest possible number bounds it, too: `t != -1` for a `t` from -1 on. The conditions
//! are exact, on machine integers. Nothing else is used, so ranges may be too wide and never too narrow.

use super::Symbolic;
use crate::operations;
use crate::ranges::Range;
use exec::domain::{Bounds, Value};
use ir::Relation;
use std::collections::BTreeMap;
use term::{Node, NodeId, Term};

/// The largest number of comparisons of a path condition that are examined.
const MAX_COMPARISONS: usize = 256;

/// The largest number of choices in an address that a path condition settles. They come from narrow arithmetic,
/// which may wrap around.
const MAX_SETTLED_CHOICES: usize = 8;

/// No bound in one direction: far beyond every integer type.
const UNBOUNDED: i128 = 1 << 100;

/// The largest number of alternatives of a path condition that are examined, each like the whole condition.
const MAX_ALTERNATIVES: usize = 8;

/// The largest number of integers in a comparison that bound each other.
const MAX_RELATED: usize = 4;

/// Largest nesting of examined alternatives.
const MAX_NESTING: usize = 1;

/// The largest number of conditions of a run that are checked against ranges: otherwise an endless loop would take
/// long.
const MAX_CHECKED: u32 = 1 << 12;

/// The requirements of a condition, as far as it can be split.
#[derive(Default)]
struct Conjunction {
    /// Comparisons, and `true` for those that must hold.
    comparisons: Vec<(term::Relation, [NodeId; 2], bool)>,
    /// Pairs of conditions, each with a truth value: at least one condition of each pair has its truth value.
    alternatives: Vec<[(NodeId, bool); 2]>,
}

impl Symbolic {
    /// Returns the range of an integer.
    pub(super) fn range(&mut self, term: Term) -> Option<Range> {
        let Self { integers, terms, ranges, assumed_ranges, .. } = self;
        let input = |position: usize| {
            let found = integers.iter().find(|(positions, _)| positions.contains(&position));
            let (_, (low, high)) = *found?;
            let declared = assumed_ranges
                .iter()
                .find(|assumed_range| assumed_range.positions.contains(&position));
            // A number that the type does not have may leave an end of the type in a gap.
            let both = declared.map_or((low, high), |one| {
                one.without_gaps((low.max(one.range.0), high.min(one.range.1)))
            });
            // An empty range is dropped: no input falls into this case.
            Some(both).filter(|(low, high)| low <= high)
        };
        ranges.of(terms, term, &input)
    }

    /// Bounds an integer wherever a condition holds.
    pub(super) fn narrowed_bounds(&mut self, value: Value, condition: Value) -> Option<Bounds> {
        let condition = self.term(condition);
        let root = self.terms.seal(condition);
        // If the condition never holds, any bounds are right.
        let known = self.known_if((root, true), &BTreeMap::new(), MAX_NESTING).unwrap_or_default();
        let mut linear = self.linear(value)?;
        for _ in 0..MAX_SETTLED_CHOICES {
            let mut settled = None;
            for (node, factor) in linear.parts() {
                let Node::Select(condition, x, y) = self.terms.at(node) else { continue };
                if let Some(holds) = self.decide_within(condition, &known) {
                    settled = Some((node, factor, if holds { x } else { y }));
                    break;
                }
            }
            let Some((node, factor, chosen)) = settled else { break };
            self.substitute(&mut linear, (node, factor), chosen.into())?;
        }
        self.tight_bounds(&linear, &known)
    }

    /// Returns `true` if ranges of integers show that a condition is false for all inputs.
    pub(super) fn is_false(&mut self, condition: Value) -> bool {
        self.ranges.conditions_checked = self.ranges.conditions_checked.saturating_add(1);
        if self.integers.is_empty() || self.ranges.conditions_checked > MAX_CHECKED {
            return false;
        }
        let condition = self.term(condition);
        let root = self.terms.seal(condition);
        let nothing = BTreeMap::new();
        let Some(known) = self.known_if((root, true), &nothing, MAX_NESTING) else { return true };
        let comparisons = self.conjunction((root, true)).comparisons;
        let mut are_integers = false;
        let contradicts = comparisons.into_iter().any(|(relation, [a, b], holds)| {
            let integers = [a, b].into_iter().all(|side| self.range(side.into()).is_some());
            are_integers |= integers;
            let truth = integers.then(|| self.truth_within(relation, [a, b], &known)).flatten();
            truth == Some(!holds)
        });
        contradicts || are_integers && self.holds_nowhere(root, &known)
    }

    /// Decides a comparison of integers by the range of their difference, given more knowledge about some
    /// nodes.
    fn truth_within(
        &mut self,
        relation: term::Relation,
        [a, b]: [NodeId; 2],
        known: &BTreeMap<NodeId, Range>,
    ) -> Option<bool> {
        let difference = self.linear_of(a.into())?.minus(&self.linear_of(b.into())?, 1)?;
        let bounds = self.tight_bounds(&difference, known)?;
        let relation = match relation {
            term::Relation::Less => Relation::Lt,
            term::Relation::LessEqual => Relation::Le,
            term::Relation::Equal => Relation::Eq,
        };
        if relation == Relation::Eq && (bounds.low, bounds.high) == (0, 0) {
            return Some(true);
        }
        bounds
            .settle(relation, Bounds { low: 0, high: 0, are_attained: false, are_declared: false })
    }

    /// Narrows known ranges of integers by a condition, or by its negation if the flag is `false`. `None` if
    /// no number is left for an integer: then the condition never holds.
    pub(super) fn known_if(
        &mut self,
        condition: (NodeId, bool),
        known: &BTreeMap<NodeId, Range>,
        depth: usize,
    ) -> Option<BTreeMap<NodeId, Range>> {
        let first = self.known_once(condition, known, depth)?;
        // A second pass: later comparisons may narrow earlier integers.
        if first == *known { Some(first) } else { self.known_once(condition, &first, depth) }
    }

    /// Does one pass of [`known_if`](Self::known_if).
    fn known_once(
        &mut self,
        condition: (NodeId, bool),
        known: &BTreeMap<NodeId, Range>,
        depth: usize,
    ) -> Option<BTreeMap<NodeId, Range>> {
        let (mut known, mut others) = (known.clone(), Vec::new());
        let Conjunction { comparisons, alternatives } = self.conjunction(condition);
        for (relation, sides, holds) in comparisons {
            if (relation, holds) == (term::Relation::Equal, false) {
                // `4·x != 6` implies nothing.
                let other = self.range_from_comparison(relation, sides, true);
                others.extend(other.filter(|(_, (low, high))| low == high));
            } else if let Some((node, range)) = self.range_from_comparison(relation, sides, holds) {
                self.narrow(&mut known, node, |(low, high)| (low.max(range.0), high.min(range.1)))?;
            } else {
                self.narrow_several(&mut known, (relation, sides, holds))?;
            }
        }
        // Once an excluded number at an end of the range is gone, the next one may be at the end. So exclude them in
        // ascending order, then in descending order.
        others.sort_unstable_by_key(|(_, range)| range.0);
        let ascending = others.iter();
        for &(node, (number, _)) in ascending.clone().chain(ascending.rev()) {
            self.narrow(&mut known, node, |(low, high)| {
                (low + i128::from(low == number), high - i128::from(high == number))
            })?;
        }
        let Some(depth) = depth.checked_sub(1) else { return Some(known) };
        for sides in alternatives.into_iter().take(MAX_ALTERNATIVES) {
            // If one of two is excluded, the other holds.
            let [one, other] = sides.map(|side| self.known_once(side, &known, depth));
            match (one, other) {
                (None, None) => return None,
                (Some(only), None) | (None, Some(only)) => known = only,
                (Some(_), Some(_)) => {}
            }
        }
        Some(known)
    }

    /// Narrows the range of an integer; `None` if it becomes empty.
    fn narrow(
        &mut self,
        known: &mut BTreeMap<NodeId, Range>,
        node: NodeId,
        narrowed: impl Fn(Range) -> Range,
    ) -> Option<()> {
        let Some(range) = self.range_within(node, known) else { return Some(()) };
        let known_range = known.get(&node).copied().unwrap_or(range);
        let (mut low, mut high) =
            narrowed((range.0.max(known_range.0), range.1.min(known_range.1)));
        if let Some(assumed) = self.assumed_range_of(node) {
            (low, high) = assumed.without_gaps((low, high));
        }
        known.insert(node, (low, high));
        (low <= high).then_some(())
    }

    /// Narrows the ranges of several integers that a comparison relates, each by the ranges of the others: `i + 5 < n`
    /// bounds `i` from above and `n` from below. `None` if a range becomes empty.
    fn narrow_several(
        &mut self,
        known: &mut BTreeMap<NodeId, Range>,
        (relation, sides, holds): (term::Relation, [NodeId; 2], bool),
    ) -> Option<()> {
        use term::Relation::{Equal, Less, LessEqual};
        if sides.iter().any(|side| self.range((*side).into()).is_none()) {
            return Some(());
        }
        let [a, b] = sides.map(|side| self.linear_of(side.into()));
        let (Some(a), Some(b)) = (a, b) else { return Some(()) };
        let Some(difference) = a.minus(&b, 1) else { return Some(()) };
        if !(2..=MAX_RELATED).contains(&difference.parts.len()) {
            return Some(());
        }
        // `sign · difference + more` is at most 0.
        let bounded: &[(i128, i128)] = match (relation, holds) {
            (Less, true) => &[(1, 1)],
            (LessEqual, true) => &[(1, 0)],
            (Less, false) => &[(-1, 0)],
            (LessEqual, false) => &[(-1, 1)],
            (Equal, true) => &[(1, 0), (-1, 0)],
            (Equal, false) => &[],
        };
        for &(sign, more) in bounded {
            for (node, factor) in difference.parts() {
                let mut least = sign * difference.constant + more;
                for (other, factor) in difference.parts().into_iter().filter(|part| part.0 != node)
                {
                    let range = match known.get(&other) {
                        Some(range) => Some(*range),
                        None => self.range_within(other, known),
                    };
                    let Some((low, high)) = range else { return Some(()) };
                    let ends = [low, high].map(|end| (sign * factor).checked_mul(end));
                    let [Some(one), Some(other)] = ends else { return Some(()) };
                    let Some(sum) = least.checked_add(one.min(other)) else { return Some(()) };
                    least = sum;
                }
                let by = (sign * factor).abs();
                match sign * factor > 0 {
                    true => {
                        let most = (-least).div_euclid(by);
                        self.narrow(known, node, |(low, high)| (low, high.min(most)))?;
                    }
                    false => {
                        let at_least = -(-least).div_euclid(by);
                        self.narrow(known, node, |(low, high)| (low.max(at_least), high))?;
                    }
                }
            }
        }
        Some(())
    }

    /// Decides a comparison of integers, given more knowledge about some nodes.
    pub(super) fn decide_within(
        &mut self,
        condition: NodeId,
        known: &BTreeMap<NodeId, Range>,
    ) -> Option<bool> {
        let (relation, sides) = match self.terms.at(condition) {
            Node::Compare(relation, a, b) => (relation, [a, b]),
            Node::Not(inner) => return self.decide_within(inner, known).map(|holds| !holds),
            _ => return None,
        };
        let mut ranges = [(0, 0); 2];
        for (range, side) in ranges.iter_mut().zip(sides) {
            let linear = self.linear_of(side.into())?;
            let bounds = self.bounds_within(&linear, known)?;
            *range = (bounds.low, bounds.high);
        }
        let [(low, high), (least, most)] = ranges;
        match relation {
            term::Relation::Less => (high < least || low >= most).then_some(high < least),
            term::Relation::LessEqual => (high <= least || low > most).then_some(high <= least),
            term::Relation::Equal => {
                let is_one = low == high && least == most && low == least;
                (is_one || high < least || low > most).then_some(is_one)
            }
        }
    }

    /// Collects the requirements of a condition or its negation.
    fn conjunction(&self, root: (NodeId, bool)) -> Conjunction {
        let mut found = Conjunction::default();
        let mut work = vec![root];
        while let Some((node, holds)) = work.pop() {
            // Requirements left out only make ranges wider.
            if found.comparisons.len() + work.len() > MAX_COMPARISONS {
                break;
            }
            match (self.terms.at(node), holds) {
                (Node::Not(a), holds) => work.push((a, !holds)),
                (Node::And(a, b), true) | (Node::Or(a, b), false) => {
                    work.extend([(a, holds), (b, holds)]);
                }
                (Node::And(a, b), false) | (Node::Or(a, b), true) => {
                    found.alternatives.push([(a, holds), (b, holds)]);
                }
                (Node::Compare(relation, a, b), holds) => {
                    found.comparisons.push((relation, [a, b], holds));
                }
                _ => {}
            }
        }
        found
    }

    /// Returns the range that a comparison gives for a single integer.
    fn range_from_comparison(
        &mut self,
        relation: term::Relation,
        [a, b]: [NodeId; 2],
        holds: bool,
    ) -> Option<(NodeId, Range)> {
        use term::Relation::{Equal, Less, LessEqual};
        let numbers = [a, b].map(|side| self.integer_constant(side.into()));
        let (linear, range) = match (numbers, relation, holds) {
            ([None, Some(number)], Less, true) => (a, (-UNBOUNDED, number - 1)),
            ([None, Some(number)], Less, false) => (a, (number, UNBOUNDED)),
            ([None, Some(number)], LessEqual, true) => (a, (-UNBOUNDED, number)),
            ([None, Some(number)], LessEqual, false) => (a, (number + 1, UNBOUNDED)),
            ([Some(number), None], Less, true) => (b, (number + 1, UNBOUNDED)),
            ([Some(number), None], Less, false) => (b, (-UNBOUNDED, number)),
            ([Some(number), None], LessEqual, true) => (b, (number, UNBOUNDED)),
            ([Some(number), None], LessEqual, false) => (b, (-UNBOUNDED, number - 1)),
            ([None, Some(number)], Equal, true) => (a, (number, number)),
            ([Some(number), None], Equal, true) => (b, (number, number)),
            _ => return None,
        };
        // A sum of floats implies nothing, and splitting it takes long.
        self.range(linear.into())?;
        let linear = self.linear_of(linear.into())?;
        let (node, factor, constant) = match linear.single() {
            Some(single) => single,
            None => self.unfold_low_bits(linear)?.single()?,
        };
        // The bounds are rounded to integers below, and callers exclude single numbers: both need an integer.
        self.range(node.into())?;
        let (low, high) = match factor > 0 {
            true => (range.0 - constant, range.1 - constant),
            false => (constant - range.1, constant - range.0),
        };
        let factor = factor.abs();
        Some((node, (-(-low).div_euclid(factor), high.div_euclid(factor))))
    }

    /// Builds a comparison. A choice between integers is compared side by side if ranges settle one of them:
    /// `(k < 0 ? k + 2^32 : k) < 7` becomes `0 <= k` and `k < 7`.
    pub(super) fn compare_terms(&mut self, relation: Relation, a: Term, b: Term) -> Term {
        let split = match (self.terms.node(a), self.terms.node(b)) {
            (Node::Select(condition, x, y), Node::Constant(_)) => {
                Some((condition, [(x.into(), b), (y.into(), b)]))
            }
            (Node::Constant(_), Node::Select(condition, x, y)) => {
                Some((condition, [(a, x.into()), (a, y.into())]))
            }
            _ => None,
        };
        if let Some((condition, sides)) = split {
            let known = sides.map(|(x, y)| self.decide_by_ranges(relation, x, y));
            if known != [None, None] {
                return self.split_comparison(relation, condition.into(), known, sides);
            }
        }
        if let Some(holds) = self.decide_by_difference(relation, a, b) {
            return self.terms.truth(holds);
        }
        operations::compare(&mut self.terms, relation, a, b)
    }

    /// Combines a comparison under a condition with one under its opposite; ranges may have settled some of
    /// them.
    fn split_comparison(
        &mut self,
        relation: Relation,
        condition: Term,
        known: [Option<bool>; 2],
        [with, without]: [(Term, Term); 2],
    ) -> Term {
        let opposite = self.terms.not(condition);
        // `c or (not c and w)` becomes `c or w`, which can be split further.
        let (settled, truth, (a, b)) = match known {
            [Some(one), Some(other)] => {
                return match (one, other) {
                    (true, false) => condition,
                    (false, true) => opposite,
                    (truth, _) => self.terms.truth(truth),
                };
            }
            [Some(truth), None] => (condition, truth, without),
            [None, Some(truth)] => (opposite, truth, with),
            [None, None] => {
                let [with, without] = [with, without]
                    .map(|(a, b)| operations::compare(&mut self.terms, relation, a, b));
                let one = self.terms.and(condition, with);
                let other = self.terms.and(opposite, without);
                return self.terms.or(one, other);
            }
        };
        let rest = operations::compare(&mut self.terms, relation, a, b);
        match truth {
            true => self.terms.or(settled, rest),
            false => {
                let open = self.terms.not(settled);
                self.terms.and(open, rest)
            }
        }
    }

    /// Decides a comparison of integers by the range of their difference.
    fn decide_by_difference(&mut self, relation: Relation, a: Term, b: Term) -> Option<bool> {
        // Checking every comparison is expensive, and worthwhile only with remainders.
        if self.bits.low.is_empty() {
            return None;
        }
        self.range(a)?;
        self.range(b)?;
        let difference = self.linear_of(a)?.minus(&self.linear_of(b)?, 1)?;
        if !self.has_floor(&difference) {
            return None;
        }
        let bounds = self.tight_bounds(&difference, &BTreeMap::new())?;
        let zero = Bounds { low: 0, high: 0, are_attained: false, are_declared: false };
        bounds.settle(relation, zero)
    }

    /// Decides a comparison of integers by their ranges.
    fn decide_by_ranges(&mut self, relation: Relation, a: Term, b: Term) -> Option<bool> {
        let bounds = |(low, high)| Bounds { low, high, are_attained: false, are_declared: false };
        bounds(self.range(a)?).settle(relation, bounds(self.range(b)?))
    }

    /// Creates an unconstrained condition: the sign of an uninterpreted function at a fresh number.
    pub(super) fn free_condition(&mut self) -> Option<Value> {
        let function = self.terms.function("condition")?;
        self.free_conditions += 1;
        let (number, zero) = (self.terms.integer(self.free_conditions), self.terms.zero());
        let value = self.terms.apply(function, number);
        let condition = self.terms.compare(term::Relation::Less, zero, value);
        Some(self.handles.handle(condition))
    }
}
