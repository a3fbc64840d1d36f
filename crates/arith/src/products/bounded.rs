//! The general simplex method in whole numbers, without a tolerance, for small programs.
//!
//! The method is that of Dutertre and de Moura (A fast linear-arithmetic solver for DPLL(T), 2006). Each monomial is
//! an unbounded variable, each column of the program a form `s = a·x` with a bound `s ≥ −c`, or `s = −c` for an
//! equation. If a form cannot satisfy its bound, its row is the refutation. A row is `scale·basic = Σ entry·nonbasic`
//! with `scale > 0`. Nonbasic variables are 0 or at their bound, so no fraction is needed. Bland's rule guarantees
//! termination; the method also stops if numbers become too large.

use super::exact::Column;
use crate::poly::greatest_common_divisor as gcd;
use deadline::tick;

/// Steps of the method.
const MAX_STEPS: usize = 300;

/// The answer to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Weights by column, positive for columns that are not equations: the weighted sum is a negative constant.
    Refuted(Vec<(usize, i128)>),
    /// No weighted sum of these columns is a negative constant.
    Feasible,
    /// Too many steps, or numbers that are too large.
    Abandoned,
}

/// The bound of a column's form.
#[derive(Clone, Copy)]
struct ColumnBound {
    least: i128,
    /// Set if it is also an upper bound: an equation.
    is_exact: bool,
}

/// A variable: first those of monomials, then a form for each column.
type Variable = usize;

struct Row {
    basic: Variable,
    scale: i128,
    entries: Vec<i128>,
}

struct Tableau {
    bounds: Vec<ColumnBound>,
    /// Variables of monomials.
    free: usize,
    /// The variable at each position of a row.
    nonbasic: Vec<Variable>,
    rows: Vec<Row>,
}

/// The direction in which a form violates its bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Violation {
    Below,
    Above,
}

/// Decides whether a weighted sum of columns is a negative constant. The first row is that of constants.
pub(super) fn solve(columns: &[Column], is_free: &[bool], rows: usize) -> Outcome {
    let mut tableau = Tableau::new(columns, is_free, rows);
    for _ in 0..MAX_STEPS {
        tick();
        match tableau.step() {
            Some(Step::Pivoted) => {}
            Some(Step::Done(outcome)) => return outcome,
            None => break,
        }
    }
    Outcome::Abandoned
}

enum Step {
    Pivoted,
    Done(Outcome),
}

impl Tableau {
    fn new(columns: &[Column], is_free: &[bool], rows: usize) -> Self {
        let free = rows - 1;
        let mut bounds = Vec::with_capacity(columns.len());
        let mut table = Vec::with_capacity(columns.len());
        for (at, (column, is_exact)) in columns.iter().zip(is_free).enumerate() {
            let mut entries = vec![0; free];
            let mut least = 0;
            for (row, number) in column {
                match row.checked_sub(1) {
                    Some(monomial) => entries[monomial] = *number,
                    None => least = number.saturating_neg(),
                }
            }
            bounds.push(ColumnBound { least, is_exact: *is_exact });
            table.push(Row { basic: free + at, scale: 1, entries });
        }
        Self { bounds, free, nonbasic: (0..free).collect(), rows: table }
    }

    /// Takes one step; `None` if numbers become too large.
    fn step(&mut self) -> Option<Step> {
        let Some((row, violation)) = self.violated_row()? else {
            return Some(Step::Done(Outcome::Feasible));
        };
        let Some(place) = self.entering(row, violation) else {
            return Some(Step::Done(Outcome::Refuted(self.weights(row, violation)?)));
        };
        self.pivot(row, place)?;
        Some(Step::Pivoted)
    }

    fn bound(&self, variable: Variable) -> Option<ColumnBound> {
        variable.checked_sub(self.free).map(|column| self.bounds[column])
    }

    /// The first variable whose value violates its bound.
    fn violated_row(&self) -> Option<Option<(usize, Violation)>> {
        let values: Vec<i128> =
            self.nonbasic.iter().map(|one| self.bound(*one).map_or(0, |one| one.least)).collect();
        let mut first: Option<(usize, Violation)> = None;
        for (number, row) in self.rows.iter().enumerate() {
            let Some(bound) = self.bound(row.basic) else { continue };
            if first.is_some_and(|(before, _)| self.rows[before].basic < row.basic) {
                continue;
            }
            let mut value: i128 = 0;
            for (entry, at) in row.entries.iter().zip(&values) {
                value = value.checked_add(entry.checked_mul(*at)?)?;
            }
            let least = bound.least.checked_mul(row.scale)?;
            if value < least {
                first = Some((number, Violation::Below));
            } else if bound.is_exact && value > least {
                first = Some((number, Violation::Above));
            }
        }
        Some(first)
    }

    /// The first variable that can move the value of a row towards its bound.
    fn entering(&self, row: usize, violation: Violation) -> Option<usize> {
        let places = self.rows[row].entries.iter().enumerate().filter(|(place, entry)| {
            let raises = (**entry > 0) == (violation == Violation::Below);
            match self.bound(self.nonbasic[*place]) {
                _ if **entry == 0 => false,
                None => true,
                Some(bound) => raises && !bound.is_exact,
            }
        });
        places.min_by_key(|(place, _)| self.nonbasic[*place]).map(|(place, _)| place)
    }

    /// Weights of the columns in a row whose value cannot be moved towards its bound.
    fn weights(&self, row: usize, violation: Violation) -> Option<Vec<(usize, i128)>> {
        let sign = if violation == Violation::Below { 1 } else { -1 };
        let Row { basic, scale, entries } = &self.rows[row];
        let mut weights = vec![(basic.checked_sub(self.free)?, scale.checked_mul(sign)?)];
        for (entry, variable) in
            entries.iter().zip(&self.nonbasic).filter(|(entry, _)| **entry != 0)
        {
            weights.push((variable.checked_sub(self.free)?, entry.checked_mul(-sign)?));
        }
        weights.sort_unstable();
        Some(weights)
    }

    /// Exchanges the variable of a row with that of a position.
    fn pivot(&mut self, row: usize, place: usize) -> Option<()> {
        let Row { scale, entries, .. } = &self.rows[row];
        let by = entries[place];
        let sign = by.signum();
        let mut solved: Vec<i128> = Vec::with_capacity(entries.len());
        for entry in entries {
            solved.push(entry.checked_mul(-sign)?);
        }
        solved[place] = scale.checked_mul(sign)?;
        let size = by.checked_abs()?;
        for (number, other) in self.rows.iter_mut().enumerate() {
            let factor = other.entries[place];
            if number == row || factor == 0 {
                continue;
            }
            other.entries[place] = 0;
            for (entry, solved_entry) in other.entries.iter_mut().zip(&solved) {
                *entry = entry.checked_mul(size)?.checked_add(solved_entry.checked_mul(factor)?)?;
            }
            other.scale = other.scale.checked_mul(size)?;
            other.reduce();
        }
        std::mem::swap(&mut self.rows[row].basic, &mut self.nonbasic[place]);
        self.rows[row].scale = size;
        self.rows[row].entries = solved;
        self.rows[row].reduce();
        Some(())
    }
}

impl Row {
    /// Divides by the common factor of all numbers.
    fn reduce(&mut self) {
        let common = self.entries.iter().fold(self.scale, |common, one| match common {
            1 => 1,
            _ => gcd(common, *one),
        });
        if common > 1 {
            self.scale /= common;
            self.entries.iter_mut().for_each(|entry| *entry /= common);
        }
    }
}
