//! Extracts ranges of single integer inputs from the user's assumptions (`--assume`).
//!
//! Only comparisons of one input with integers count (`0 <= idx`, `idx < 100 or idx == -1`). Other conditions are
//! ignored, which makes bounds too wide and is safe. But then an input may never attain a bound:
//! [`AssumedRange::is_exact`] is set only if no condition was ignored.

use crate::formula::FormulaError;
use crate::ranges::Range;
use crate::side::Assumption;
use crate::table::Table;
use std::sync::Arc;
use term::{Node, Relation, Term, Terms};

/// Bounds of a scalar or of the elements of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AssumedRange {
    /// The positions of its elements among all inputs.
    pub(crate) positions: std::ops::Range<usize>,
    /// Bounds, inclusive.
    pub(crate) range: Range,
    /// Numbers between the bounds that it never is, as ascending ranges.
    pub(crate) gaps: Vec<Range>,
    /// Set if the range expresses all assumptions about single elements.
    pub(crate) is_exact: bool,
    /// Set if the elements are distinct.
    pub(crate) is_distinct: bool,
}

impl AssumedRange {
    /// Moves the ends of a range out of the gaps.
    pub(crate) fn without_gaps(&self, (mut low, mut high): Range) -> Range {
        for &(least, most) in &self.gaps {
            if (least..=most).contains(&low) {
                low = most + 1;
            }
        }
        for &(least, most) in self.gaps.iter().rev() {
            if (least..=most).contains(&high) {
                high = least - 1;
            }
        }
        (low, high)
    }
}

/// Most ranges that the numbers of an input consist of.
const MAX_PARTS: usize = 16;

/// No bound.
const UNBOUNDED: Range = (i128::MIN, i128::MAX);

/// Finds the bounds of all inputs that assumptions mention.
///
/// # Errors
/// If an assumption names something other than an input.
pub(crate) fn find(
    table: &Table,
    assumptions: &[Assumption],
) -> Result<Vec<AssumedRange>, FormulaError> {
    let mut ranges: Vec<(String, AssumedRange, Vec<Range>)> = Vec::new();
    for assumption in assumptions {
        let mut terms = Terms::new(Arc::clone(&table.inputs));
        let distinct = assumption.condition.distinct().is_some();
        let condition = match distinct {
            true => terms.truth(true),
            false => table.term_of_inputs(&assumption.condition, &mut terms)?,
        };
        let names = assumption.condition.names();
        let alone = names.len() == 1;
        for name in names {
            let first = table.first(&name);
            let found = ranges.iter().position(|(known, ..)| *known == name);
            let at = found.unwrap_or_else(|| {
                let positions = first..first + table.length(&name);
                let of_name = AssumedRange {
                    positions,
                    range: UNBOUNDED,
                    gaps: Vec::new(),
                    is_exact: true,
                    is_distinct: false,
                };
                ranges.push((name.clone(), of_name, vec![UNBOUNDED]));
                ranges.len() - 1
            });
            let (_, range, parts) = &mut ranges[at];
            let (numbers, is_complete) = numbers(&terms, condition, first);
            if alone {
                *parts = intersection(parts, &numbers);
            }
            range.is_exact &= alone && is_complete;
            range.is_distinct |= distinct;
        }
    }
    let of_parts = |(_, range, parts): (String, AssumedRange, Vec<Range>)| {
        let gaps = parts.windows(2).map(|pair| (pair[0].1 + 1, pair[1].0 - 1)).collect();
        // Without any number, no bound is wrong.
        let (low, high) = (parts.first().copied(), parts.last().copied());
        let bounds = low.zip(high).map_or((1, 0), |(low, high)| (low.0, high.1));
        AssumedRange { range: bounds, gaps, ..range }
    };
    Ok(ranges.into_iter().map(of_parts).collect())
}

/// The numbers that are in both sets, each a list of ascending ranges.
fn intersection(a: &[Range], b: &[Range]) -> Vec<Range> {
    let all =
        a.iter().flat_map(|one| b.iter().map(|other| (one.0.max(other.0), one.1.min(other.1))));
    all.filter(|(low, high)| low <= high).collect()
}

/// The numbers that are in one of the sets.
fn union(a: Vec<Range>, b: Vec<Range>) -> Vec<Range> {
    let mut all: Vec<Range> = a.into_iter().chain(b).collect();
    all.sort_unstable();
    let mut joined: Vec<Range> = Vec::new();
    for (low, high) in all {
        match joined.last_mut() {
            Some(last) if last.1 >= low.saturating_sub(1) => last.1 = last.1.max(high),
            _ => joined.push((low, high)),
        }
    }
    joined
}

/// The numbers for which a condition may hold, as ascending ranges; and `true` if it holds for all of them.
fn numbers(terms: &Terms, condition: Term, input: usize) -> (Vec<Range>, bool) {
    match terms.node(condition) {
        Node::Or(a, b) => {
            let [(a, left), (b, right)] = [a, b].map(|part| numbers(terms, part.into(), input));
            let all = union(a, b);
            match left && right && all.len() <= MAX_PARTS {
                true => (all, true),
                false => (vec![UNBOUNDED], false),
            }
        }
        Node::And(a, b) => {
            let [(a, left), (b, right)] = [a, b].map(|part| numbers(terms, part.into(), input));
            let both = intersection(&a, &b);
            match both.len() <= MAX_PARTS {
                true => (both, left && right),
                false => (vec![UNBOUNDED], false),
            }
        }
        _ => {
            let mut range = UNBOUNDED;
            let is_complete = narrow(terms, condition, input, &mut range);
            (Vec::from_iter((range.0 <= range.1).then_some(range)), is_complete)
        }
    }
}

/// Narrows a range by a comparison. Returns `true` if the range expresses the whole condition.
fn narrow(terms: &Terms, condition: Term, input: usize, range: &mut Range) -> bool {
    match terms.node(condition) {
        Node::Truth(true) => true,
        Node::Compare(relation, a, b) => {
            let is_input =
                |node| matches!(terms.at(node), Node::Input(one) if one.position() == input);
            let number = |node: term::NodeId| {
                let number = terms.as_number(node.into())?;
                number.to_i64().map(i128::from)
            };
            let step = i128::from(relation == Relation::Less);
            match (is_input(a), number(a), is_input(b), number(b)) {
                (true, _, _, Some(most)) => {
                    range.1 = range.1.min(most - step);
                    if relation == Relation::Equal {
                        range.0 = range.0.max(most);
                    }
                    true
                }
                (_, Some(least), true, _) => {
                    range.0 = range.0.max(least + step);
                    if relation == Relation::Equal {
                        range.1 = range.1.min(least);
                    }
                    true
                }
                _ => false,
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::{Inputs, text};

    /// Returns the range that a condition on `i` gives, and `true` if it expresses the whole condition.
    fn narrowed(condition: &str) -> (Vec<Range>, bool) {
        let script = text::parse_script("input i, j").unwrap();
        let (mut scope, inputs): (_, Inputs) = text::Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let chosen = text::parse_expression(&format!("if({condition}, 1, 0)")).unwrap();
        let chosen = scope.term(&mut terms, &chosen).unwrap();
        let Node::Select(condition, ..) = terms.node(chosen) else { panic!("{condition}") };
        numbers(&terms, condition.into(), 0)
    }

    #[test]
    fn numbers_beside_a_range_leave_a_gap() {
        let (parts, is_complete) = narrowed("0 <= i and i < 10 or i == -100 or i == 12");
        assert_eq!((parts, is_complete), (vec![(-100, -100), (0, 9), (12, 12)], true));
        let range = AssumedRange {
            positions: 0..1,
            range: (-100, 12),
            gaps: vec![(-99, -1), (10, 11)],
            is_exact: true,
            is_distinct: false,
        };
        let table = [
            ((-100, 12), (-100, 12)),
            ((-99, 12), (0, 12)),
            ((-100, 11), (-100, 9)),
            ((-5, 10), (0, 9)),
            ((3, 4), (3, 4)),
        ];
        for (given, expected) in table {
            assert_eq!(range.without_gaps(given), expected);
        }
        // No number is left.
        let (low, high) = range.without_gaps((-50, -20));
        assert!(low > high);
        assert_eq!(narrowed("(i < 3 or i > 7) and i > 5"), (vec![(8, UNBOUNDED.1)], true));
    }

    #[test]
    fn bounds_by_integers_are_found_and_nothing_else() {
        let (least, most) = UNBOUNDED;
        let table = [
            ("i < 100", (least, 99), true),
            ("i <= 100", (least, 100), true),
            ("3 < i", (4, most), true),
            ("-3 <= i", (-3, most), true),
            ("i == 7", (7, 7), true),
            ("0 <= i and i < 10", (0, 9), true),
            ("0 <= i and i < 10 and i < 4", (0, 3), true),
            ("0 <= i and i * i < 10", (0, most), false),
            ("i < j", UNBOUNDED, false),
            ("j < 3", UNBOUNDED, false),
            ("i < 3 or i < 5", (least, 4), true),
            ("i < 3 or j < 5", UNBOUNDED, false),
            ("not (i < 3)", UNBOUNDED, false),
        ];
        for (condition, range, is_complete) in table {
            let found = narrowed(condition);
            // A negation may become a comparison.
            assert!(
                found == (vec![range], is_complete) || condition.starts_with("not"),
                "{condition} {found:?}"
            );
        }
        assert!(
            narrowed("not (i < 3)").0 == [UNBOUNDED]
                || narrowed("not (i < 3)") == (vec![(3, most)], true)
        );
    }
}
