//! The first phase of the simplex method in floating point, on a dense table: guesses the columns with a weight, for
//! programs that are too large for [`bounded`](super::bounded). [`exact`](super::exact) makes the weights exact, or
//! drops the guess.
//!
//! The right-hand side is 0 except in the first row, so that almost every step would be degenerate. Therefore it is
//! perturbed: steps are chosen by the perturbed vector and applied to both.

use deadline::tick;

/// Steps of the method.
const MAX_STEPS: usize = 2000;
/// Numbers below this count as 0.
const TINY: f64 = 1e-9;
/// Size of the perturbation.
const PERTURBATION: f64 = 1e-6;
/// Rounds of scaling.
const SCALINGS: usize = 4;

/// Entries of a column: row and number.
pub(super) type Column = Vec<(usize, f64)>;

/// The table of the method.
struct Table {
    /// Each row has its entries of all columns, then the perturbed right-hand side, then the right-hand side.
    rows: Vec<Vec<f64>>,
    /// Negated sums of the rows whose basic column is artificial.
    cost: Vec<f64>,
    /// The basic column of each row; `None` is an artificial one.
    basis: Vec<Option<usize>>,
    columns: usize,
}

/// The columns with a nonnegatively weighted sum of −1 in the first row and 0 in all others, if there are any.
pub(super) fn support(columns: &[Column], rows: usize) -> Option<Vec<usize>> {
    let mut table = Table::new(columns, rows);
    for _ in 0..MAX_STEPS {
        tick();
        let Some(column) = table.entering() else { break };
        let row = table.leaving(column)?;
        table.pivot(row, column);
    }
    table.weighted_columns()
}

impl Table {
    fn new(columns: &[Column], rows: usize) -> Self {
        let (by_row, by_column) = scales(columns, rows);
        let width = columns.len() + 2;
        let mut table = vec![vec![0.0; width]; rows];
        for (at, column) in columns.iter().enumerate() {
            for (row, number) in column {
                // The first row is negated, so that the vector is nowhere negative.
                let sign = if *row == 0 { -1.0 } else { 1.0 };
                table[*row][at] = sign * number * by_row[*row] * by_column[at];
            }
        }
        for (number, row) in table.iter_mut().enumerate() {
            let by = (base::mix64(number as u64) >> 40) as f64 / (1u64 << 24) as f64;
            // The magnitude of the first row does not matter.
            let wanted = if number == 0 { 1.0 } else { 0.0 };
            row[width - 2] = wanted + PERTURBATION * (1.0 + by);
            row[width - 1] = wanted;
        }
        let mut cost = vec![0.0; width];
        for row in &table {
            cost.iter_mut().zip(row).for_each(|(cost, entry)| *cost -= entry);
        }
        Self { rows: table, cost, basis: vec![None; rows], columns: columns.len() }
    }

    /// The column that lowers the cost most.
    fn entering(&self) -> Option<usize> {
        let best = (0..self.columns).min_by(|a, b| self.cost[*a].total_cmp(&self.cost[*b]))?;
        (self.cost[best] < -TINY).then_some(best)
    }

    /// The row that bounds a column first.
    fn leaving(&self, column: usize) -> Option<usize> {
        let perturbed = self.columns;
        let bounds = self.rows.iter().enumerate().filter(|(_, row)| row[column] > TINY);
        let bound = |row: &Vec<f64>| row[perturbed] / row[column];
        bounds.min_by(|(_, a), (_, b)| bound(a).total_cmp(&bound(b))).map(|(row, _)| row)
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let by = 1.0 / self.rows[row][column];
        self.rows[row].iter_mut().for_each(|entry| *entry *= by);
        let pivot_row = std::mem::take(&mut self.rows[row]);
        let others = self.rows.iter_mut().filter(|other| !other.is_empty());
        for other in others.chain(std::iter::once(&mut self.cost)) {
            let factor = other[column];
            if factor != 0.0 {
                other
                    .iter_mut()
                    .zip(&pivot_row)
                    .for_each(|(entry, pivot)| *entry -= factor * pivot);
                other[column] = 0.0;
            }
        }
        self.rows[row] = pivot_row;
        self.basis[row] = Some(column);
    }

    /// The columns with a weight, if no artificial one remains.
    fn weighted_columns(&self) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        let wanted = self.columns + 1;
        let largest = self.rows.iter().fold(0.0, |most: f64, row| most.max(row[wanted].abs()));
        for (row, column) in self.rows.iter().zip(&self.basis) {
            let is_there = row[wanted].abs() > TINY * largest.max(1.0);
            match column {
                Some(column) if is_there => found.push(*column),
                None if row[wanted].abs() > 1e-6 * largest.max(1e-12) => return None,
                _ => {}
            }
        }
        found.sort_unstable();
        (!found.is_empty()).then_some(found)
    }
}

/// Factors for rows and columns that bring entries near 1: assumptions have numbers such as 2³¹ beside 1.
fn scales(columns: &[Column], rows: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut by_row, mut by_column) = (vec![1.0; rows], vec![1.0; columns.len()]);
    for _ in 0..SCALINGS {
        let mut range = vec![(f64::INFINITY, 0.0_f64); rows];
        for (at, column) in columns.iter().enumerate() {
            for (row, number) in column {
                let size = number.abs() * by_column[at];
                range[*row] = (range[*row].0.min(size), range[*row].1.max(size));
            }
        }
        for (by, (least, most)) in by_row.iter_mut().zip(range) {
            *by = if most > 0.0 { 1.0 / (least * most).sqrt() } else { 1.0 };
        }
        for (at, column) in columns.iter().enumerate() {
            let sizes = column.iter().map(|(row, number)| number.abs() * by_row[*row]);
            let (least, most) = sizes.fold((f64::INFINITY, 0.0_f64), |(least, most), size| {
                (least.min(size), most.max(size))
            });
            by_column[at] = if most > 0.0 { 1.0 / (least * most).sqrt() } else { 1.0 };
        }
    }
    (by_row, by_column)
}
