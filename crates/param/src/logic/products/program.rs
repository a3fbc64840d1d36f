//! The linear program behind a sum of products: a column for each product, a row for each monomial.

use super::bounded::{self, Outcome};
use super::certificate::{Certificate, Multiple, Weighted};
use super::{exact, simplex};
use crate::logic::poly::{Monomial, Poly};
use std::collections::BTreeMap;

/// Entries of the largest table that is solved in whole numbers; for larger ones the columns are first guessed in
/// floating point.
const MAX_BOUNDED: usize = 3000;

/// The origin of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A product of assumptions `h ≥ 0`, by position.
    Product(Vec<usize>),
    /// An equation times a monomial.
    Multiple(usize, Monomial),
}

impl Source {
    fn is_free(&self) -> bool {
        matches!(self, Self::Multiple(..))
    }
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) source: Source,
    pub(super) poly: Poly,
}

/// Finds a sum of columns, those of products with positive weights, that is a negative constant.
pub(super) fn sum(entries: &[Entry]) -> Option<Certificate> {
    let kept = useful(entries);
    let negative = |entry: &&Entry| entry.source.is_free() || entry.poly.constant_term() < 0;
    if !kept.iter().any(|at| negative(&&entries[*at])) {
        return None;
    }
    let mut rows: BTreeMap<&Monomial, usize> = BTreeMap::new();
    let constant = Monomial::new();
    rows.insert(&constant, 0);
    for (monomial, _) in kept.iter().flat_map(|at| entries[*at].poly.terms()) {
        let next = rows.len();
        rows.entry(monomial).or_insert(next);
    }
    let column = |at: &usize| -> exact::Column {
        let terms = entries[*at].poly.terms();
        terms.map(|(monomial, coefficient)| (rows[monomial], coefficient)).collect()
    };
    let columns: Vec<exact::Column> = kept.iter().map(column).collect();
    let is_free: Vec<bool> = kept.iter().map(|at| entries[*at].source.is_free()).collect();
    if columns.len() * rows.len() <= MAX_BOUNDED {
        match bounded::outcome(&columns, &is_free, rows.len()) {
            Outcome::Refuted(weights) => {
                let source = |(at, weight): (usize, i128)| (&entries[kept[at]].source, weight);
                return Some(certificate(weights.into_iter().map(source)));
            }
            Outcome::Feasible => return None,
            Outcome::Abandoned => {}
        }
    }
    let chosen = chosen(&columns, &kept, entries, rows.len())?;
    let is_free: Vec<bool> = chosen.iter().map(|one| is_free[*one]).collect();
    let exact: Vec<exact::Column> = chosen.iter().map(|one| columns[*one].clone()).collect();
    let weights = exact::weights(&exact, &is_free, rows.len())?;
    let sources = chosen.iter().map(|one| &entries[kept[*one]].source);
    Some(certificate(sources.zip(weights)))
}

/// Positions in `columns` that the floating-point method selects.
fn chosen(
    columns: &[exact::Column],
    kept: &[usize],
    entries: &[Entry],
    rows: usize,
) -> Option<Vec<usize>> {
    // A slack for the constant, and two columns for one whose weight may be negative.
    let mut owner: Vec<Option<usize>> = vec![None];
    let mut floats: Vec<simplex::Column> = vec![vec![(0, 1.0)]];
    for (at, column) in columns.iter().enumerate() {
        let signs: &[f64] = if entries[kept[at]].source.is_free() { &[1.0, -1.0] } else { &[1.0] };
        for sign in signs {
            owner.push(Some(at));
            floats.push(column.iter().map(|(row, number)| (*row, sign * *number as f64)).collect());
        }
    }
    let support = simplex::support(&floats, rows)?;
    let mut chosen: Vec<usize> = support.into_iter().filter_map(|at| owner[at]).collect();
    chosen.dedup();
    Some(chosen)
}

fn certificate<'s>(weighted: impl Iterator<Item = (&'s Source, i128)>) -> Certificate {
    let (mut products, mut multiples) = (Vec::new(), Vec::new());
    for (source, weight) in weighted.filter(|(_, weight)| *weight != 0) {
        match source {
            Source::Product(factors) => {
                products.push(Weighted { weight, factors: factors.clone() })
            }
            Source::Multiple(equation, by) => {
                multiples.push(Multiple { weight, equation: *equation, by: by.clone() });
            }
        }
    }
    Certificate::Sum { products, multiples }
}

/// Positions of columns that may have a weight. A monomial that all columns have with one sign cannot cancel, so its
/// columns are excluded.
fn useful(entries: &[Entry]) -> Vec<usize> {
    let mut signs: BTreeMap<&Monomial, [usize; 2]> = BTreeMap::new();
    let parts = |entry: &Entry, coefficient: i128| match entry.source.is_free() {
        true => [1, 1],
        false => [usize::from(coefficient > 0), usize::from(coefficient < 0)],
    };
    for entry in entries {
        for (monomial, coefficient) in entry.poly.terms() {
            let [plus, minus] = parts(entry, coefficient);
            let count = signs.entry(monomial).or_default();
            *count = [count[0] + plus, count[1] + minus];
        }
    }
    let mut kept: Vec<usize> = (0..entries.len()).collect();
    loop {
        let stays = |at: &usize| {
            entries[*at].poly.terms().all(|(monomial, _)| {
                monomial.is_empty() || signs.get(monomial).is_some_and(|[a, b]| *a > 0 && *b > 0)
            })
        };
        let (stay, go): (Vec<usize>, Vec<usize>) = kept.iter().partition(|at| stays(at));
        if go.is_empty() {
            return stay;
        }
        for at in go {
            for (monomial, coefficient) in entries[at].poly.terms() {
                let [plus, minus] = parts(&entries[at], coefficient);
                if let Some(count) = signs.get_mut(monomial) {
                    *count = [count[0] - plus, count[1] - minus];
                }
            }
        }
        kept = stay;
    }
}
