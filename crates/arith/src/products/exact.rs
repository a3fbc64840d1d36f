//! Solves for a certificate in exact integers: turns the columns that the linear program (in floats) chose into integer
//! weights, by Gaussian elimination without fractions.
//!
//! Columns are products of assumptions; their weighted sum must be a negative constant, which contradicts them all
//! being nonnegative. Errs by `None` only: weights are returned only if every row adds up exactly.

/// A sparse column: pairs of row and entry.
pub(super) type Column = Vec<(usize, i128)>;

/// Returns integer weights with which the columns add up to a negative number in the first row and to 0 in all others.
/// Weights are nonnegative, except where `is_free` is set. `None` if the solution is not unique, has another negative
/// weight, or needs too large numbers.
pub(super) fn integer_weights(
    columns: &[Column],
    is_free: &[bool],
    rows: usize,
) -> Option<Vec<i128>> {
    let count = columns.len();
    // One equation for each row that occurs: the columns' entries, and their required sum.
    let mut table = vec![vec![0i128; count + 1]; rows];
    for (at, column) in columns.iter().enumerate() {
        for (row, number) in column {
            table[*row][at] = *number;
        }
    }
    table[0][count] = -1;
    let mut pivots: Vec<usize> = Vec::with_capacity(count);
    for column in 0..count {
        let free = (0..rows).filter(|row| !pivots.contains(row) && table[*row][column] != 0);
        let pivot = free.min_by_key(|row| table[*row][column].unsigned_abs())?;
        let pivot_row = table[pivot].clone();
        for (number, row) in table.iter_mut().enumerate() {
            if number != pivot && row[column] != 0 {
                *row = eliminate(row, &pivot_row, column)?;
            }
        }
        pivots.push(pivot);
    }
    let is_solved = (0..rows).all(|row| pivots.contains(&row) || table[row][count] == 0);
    is_solved.then(|| common_denominator(&table, &pivots, is_free))?
}

/// Eliminates a column from a row, and divides by the common factor of its numbers.
fn eliminate(row: &[i128], pivot_row: &[i128], column: usize) -> Option<Vec<i128>> {
    let (by, factor) = (pivot_row[column], row[column]);
    let mut result = Vec::with_capacity(row.len());
    let mut common = 0;
    for (entry, pivot) in row.iter().zip(pivot_row) {
        let entry = entry.checked_mul(by)?.checked_sub(pivot.checked_mul(factor)?)?;
        common = gcd(common, entry);
        result.push(entry);
    }
    if common > 1 {
        result.iter_mut().for_each(|entry| *entry /= common);
    }
    Some(result)
}

/// Returns the weights `value/entry` of all columns, multiplied by their common denominator.
fn common_denominator(
    table: &[Vec<i128>],
    pivots: &[usize],
    is_free: &[bool],
) -> Option<Vec<i128>> {
    let fraction = |(column, row): (usize, &usize)| {
        let (entry, value) = (table[*row][column], *table[*row].last()?);
        let common = gcd(entry, value).max(1);
        let sign = entry.signum();
        Some((value.checked_mul(sign)? / common, entry.checked_mul(sign)? / common))
    };
    let fractions: Option<Vec<(i128, i128)>> = pivots.iter().enumerate().map(fraction).collect();
    let fractions = fractions?;
    let mut denominator: i128 = 1;
    for (_, below) in &fractions {
        denominator = (denominator / gcd(denominator, *below)).checked_mul(*below)?;
    }
    let mut weights = Vec::with_capacity(fractions.len());
    for ((above, below), is_free) in fractions.into_iter().zip(is_free) {
        let weight = above.checked_mul(denominator / below)?;
        if weight < 0 && !is_free {
            return None;
        }
        weights.push(weight);
    }
    Some(weights)
}

fn gcd(a: i128, b: i128) -> i128 {
    crate::poly::greatest_common_divisor(a, b)
}
