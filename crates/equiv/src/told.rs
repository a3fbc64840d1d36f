//! What assumptions say of integer inputs one by one: the numbers they lie between.
//!
//! Only comparisons of one input with integers count (`0 <= idx`, `idx < 100`). Leaving out others makes bounds too wide,
//! which is safe; whether anything was left out is kept, because then no input may meet a bound.

use crate::formula::FormulaError;
use crate::ranges::Range;
use crate::side::Assumption;
use crate::table::Table;
use std::sync::Arc;
use term::{Node, Relation, Term, Terms};

/// Bounds of the elements of a tensor, or of a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The positions of its elements among all inputs.
    pub(crate) positions: std::ops::Range<usize>,
    /// Bounds, both included.
    pub(crate) range: Range,
    /// Whether nothing else is assumed of it.
    pub(crate) is_all: bool,
}

/// No bound.
const NONE: Range = (i128::MIN, i128::MAX);

/// Finds the bounds of all inputs of which assumptions say something.
///
/// # Errors
/// If an assumption is about something that is no input.
pub(crate) fn find(table: &Table, assumptions: &[Assumption]) -> Result<Vec<Told>, FormulaError> {
    let mut told: Vec<(String, Told)> = Vec::new();
    for assumption in assumptions {
        let mut terms = Terms::new(Arc::clone(&table.inputs));
        let condition = table.scalar_term(&assumption.condition, &mut terms)?;
        let names = assumption.condition.names();
        let alone = names.len() == 1;
        for name in names {
            let first = table.first(&name);
            let found = told.iter().position(|(known, _)| *known == name);
            let at = found.unwrap_or_else(|| {
                let positions = first..first + table.length(&name);
                told.push((name.clone(), Told { positions, range: NONE, is_all: true }));
                told.len() - 1
            });
            let own = &mut told[at].1;
            let whole = alone && narrow(&terms, condition, first, &mut own.range);
            own.is_all &= whole;
        }
    }
    Ok(told.into_iter().map(|(_, told)| told).collect())
}

/// Narrows a range by a condition; whether that is all the condition says.
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
