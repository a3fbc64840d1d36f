//! The linear program behind a sum of products: a column for each product, a row for each monomial.

use super::bounded::{self, Outcome};
use super::certificate::{Certificate, Multiple, Weighted};
use super::{exact, simplex};
use crate::poly::{Monomial, Poly};
use rustc_hash::FxHashMap;

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

/// A column of the program: a polynomial and its origin.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) source: Source,
    pub(super) poly: Poly,
}

/// Finds a weighted sum of columns that is a negative constant. Weights of products are positive, those of equations
/// have any sign.
pub(super) fn find_sum(entries: &[Entry]) -> Option<Certificate> {
    let numbered = Numbered::new(entries);
    let kept = numbered.columns_that_may_cancel(entries);
    let negative = |entry: &&Entry| entry.source.is_free() || entry.poly.constant_term() < 0;
    if !kept.iter().any(|at| negative(&&entries[*at])) {
        return None;
    }
    let (columns, rows) = numbered.columns(&kept);
    let is_free: Vec<bool> = kept.iter().map(|at| entries[*at].source.is_free()).collect();
    if columns.len() * rows <= MAX_BOUNDED {
        match bounded::solve(&columns, &is_free, rows) {
            Outcome::Refuted(weights) => {
                let source = |(at, weight): (usize, i128)| (&entries[kept[at]].source, weight);
                return Some(certificate(weights.into_iter().map(source)));
            }
            Outcome::Feasible => return None,
            Outcome::Abandoned => {}
        }
    }
    let chosen = choose_by_simplex(&columns, &kept, entries, rows)?;
    let is_free: Vec<bool> = chosen.iter().map(|one| is_free[*one]).collect();
    let exact: Vec<exact::Column> = chosen.iter().map(|one| columns[*one].clone()).collect();
    let weights = exact::integer_weights(&exact, &is_free, rows)?;
    let sources = chosen.iter().map(|one| &entries[kept[*one]].source);
    Some(certificate(sources.zip(weights)))
}

/// Positions in `columns` that the floating-point method selects.
fn choose_by_simplex(
    columns: &[exact::Column],
    kept: &[usize],
    entries: &[Entry],
    rows: usize,
) -> Option<Vec<usize>> {
    // One slack column for the constant, and one column for each product. A product whose weight may be negative has
    // two columns, of opposite signs.
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

/// Columns whose monomials are numbered: looking up a monomial costs more than all else that is done with it.
struct Numbered {
    terms: Vec<Vec<(usize, i128)>>,
    /// Number of monomials. The first is that of constants.
    monomials: usize,
}

/// The number of the monomial of constants.
const CONSTANT: usize = 0;

impl Numbered {
    fn new(entries: &[Entry]) -> Self {
        let constant = Monomial::new();
        let mut numbers: FxHashMap<&Monomial, usize> = FxHashMap::default();
        numbers.insert(&constant, CONSTANT);
        let mut terms: Vec<Vec<(usize, i128)>> = Vec::with_capacity(entries.len());
        for entry in entries {
            let mut row = Vec::new();
            for (monomial, coefficient) in entry.poly.terms() {
                let next = numbers.len();
                row.push((*numbers.entry(monomial).or_insert(next), coefficient));
            }
            terms.push(row);
        }
        Self { terms, monomials: numbers.len() }
    }

    /// Positions of columns that may have a weight. A monomial that all columns have with one sign cannot cancel, so
    /// its columns are excluded.
    fn columns_that_may_cancel(&self, entries: &[Entry]) -> Vec<usize> {
        let parts = |at: usize, coefficient: i128| match entries[at].source.is_free() {
            true => [1, 1],
            false => [usize::from(coefficient > 0), usize::from(coefficient < 0)],
        };
        let mut signs: Vec<[usize; 2]> = vec![[0, 0]; self.monomials];
        for (at, terms) in self.terms.iter().enumerate() {
            for (monomial, coefficient) in terms {
                let [plus, minus] = parts(at, *coefficient);
                signs[*monomial][0] += plus;
                signs[*monomial][1] += minus;
            }
        }
        let mut kept: Vec<usize> = (0..self.terms.len()).collect();
        loop {
            let stays = |at: &usize| {
                self.terms[*at].iter().all(|(monomial, _)| {
                    *monomial == CONSTANT || signs[*monomial].iter().all(|count| *count > 0)
                })
            };
            let (stay, go): (Vec<usize>, Vec<usize>) = kept.iter().partition(|at| stays(at));
            if go.is_empty() {
                return stay;
            }
            for at in go {
                for (monomial, coefficient) in &self.terms[at] {
                    let [plus, minus] = parts(at, *coefficient);
                    signs[*monomial][0] -= plus;
                    signs[*monomial][1] -= minus;
                }
            }
            kept = stay;
        }
    }

    /// The columns that are kept, and the number of their rows: those of monomials that occur in them, in order of
    /// appearance.
    fn columns(&self, kept: &[usize]) -> (Vec<exact::Column>, usize) {
        let mut rows: Vec<Option<usize>> = vec![None; self.monomials];
        rows[CONSTANT] = Some(0);
        let mut next = 1;
        let mut columns = Vec::with_capacity(kept.len());
        for at in kept {
            let mut column = exact::Column::new();
            for (monomial, coefficient) in &self.terms[*at] {
                let row = *rows[*monomial].get_or_insert_with(|| {
                    next += 1;
                    next - 1
                });
                column.push((row, *coefficient));
            }
            columns.push(column);
        }
        (columns, next)
    }
}
