//! Extracts ranges of single integer inputs from the user's assumptions (`--assume`).
//!
//! Only comparisons of one input with integers count (`0 <= idx`, `idx < 100`). Other conditions are ignored,
//! which makes bounds too wide and is safe. But then an input may never attain a bound:
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
    /// Set if the range expresses all assumptions about single elements.
    pub(crate) is_exact: bool,
    /// Set if the elements are distinct.
    pub(crate) is_distinct: bool,
}

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
    let mut ranges: Vec<(String, AssumedRange)> = Vec::new();
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
            let found = ranges.iter().position(|(known, _)| *known == name);
            let at = found.unwrap_or_else(|| {
                let positions = first..first + table.length(&name);
                let of_name = AssumedRange {
                    positions,
                    range: UNBOUNDED,
                    is_exact: true,
                    is_distinct: false,
                };
                ranges.push((name.clone(), of_name));
                ranges.len() - 1
            });
            let range = &mut ranges[at].1;
            let is_complete = alone && narrow(&terms, condition, first, &mut range.range);
            range.is_exact &= is_complete;
            range.is_distinct |= distinct;
        }
    }
    Ok(ranges.into_iter().map(|(_, range)| range).collect())
}

/// Narrows a range by a condition. Returns `true` if the range expresses the whole condition.
fn narrow(terms: &Terms, condition: Term, input: usize, range: &mut Range) -> bool {
    match terms.node(condition) {
        Node::Truth(true) => true,
        Node::And(a, b) => {
            let both = [a, b].map(|part| narrow(terms, part.into(), input, range));
            both == [true, true]
        }
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
    fn narrowed(condition: &str) -> (Range, bool) {
        let script = text::parse_script("input i, j").unwrap();
        let (mut scope, inputs): (_, Inputs) = text::Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let chosen = text::parse_expression(&format!("if({condition}, 1, 0)")).unwrap();
        let chosen = scope.term(&mut terms, &chosen).unwrap();
        let Node::Select(condition, ..) = terms.node(chosen) else { panic!("{condition}") };
        let mut range = UNBOUNDED;
        let is_complete = narrow(&terms, condition.into(), 0, &mut range);
        (range, is_complete)
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
            ("i < 3 or i < 5", UNBOUNDED, false),
            ("not (i < 3)", UNBOUNDED, false),
        ];
        for (condition, range, is_complete) in table {
            let found = narrowed(condition);
            // A negation may become a comparison.
            assert!(
                found == (range, is_complete) || condition.starts_with("not"),
                "{condition} {found:?}"
            );
        }
        assert!(
            narrowed("not (i < 3)").0 == UNBOUNDED || narrowed("not (i < 3)") == ((3, most), true)
        );
    }
}
