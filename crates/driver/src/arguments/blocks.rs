//! `--blocks`: the blocks of the grid to which an answer is restricted.

use super::launch_spec::{BlockPosition, Dimensions};
use super::misfit::BlocksError;
use super::{Number, ParseError, ParseReason, parse};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Some blocks of the grid: one by its position (`3,1,0`), or several by their numbers (`0..4`: 0, 1, 2 and 3), with
/// x varying fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSelection {
    /// The block at a position.
    One(BlockPosition),
    /// A range of blocks by their numbers.
    Numbers {
        /// The first.
        first: u64,
        /// The number after the last.
        end: u64,
    },
}

impl FromStr for BlockSelection {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let Some((first, end)) = text.split_once("..") else {
            return text.parse().map(Self::One);
        };
        let number = |item: &str| match parse::number(item.trim()) {
            Some(Number::Integer(number)) => u64::try_from(number).ok(),
            Some(Number::Float(_)) | None => None,
        };
        match (number(first), number(end)) {
            (Some(first), Some(end)) if first < end => Ok(Self::Numbers { first, end }),
            (Some(_), Some(_)) => Err(ParseError::new(text, ParseReason::EmptyBlockRange)),
            _ => Err(ParseError::new(text, ParseReason::NotABlockRange)),
        }
    }
}

impl fmt::Display for BlockSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(position) => position.fmt(f),
            Self::Numbers { first, end } => write!(f, "{first}..{end}"),
        }
    }
}

impl BlockSelection {
    /// Numbers of the blocks in a grid.
    ///
    /// # Errors
    /// If some are not in the grid.
    fn numbers(self, grid: [u32; 3]) -> Result<Range<u64>, BlocksError> {
        let [x, y, z] = grid.map(u64::from);
        match self {
            Self::One(position) => {
                if position.0.iter().zip(grid).any(|(&at, size)| at >= size) {
                    return Err(BlocksError::Position { grid: Dimensions(grid) });
                }
                let [px, py, pz] = position.0.map(u64::from);
                let number = px + x * (py + y * pz);
                Ok(number..number + 1)
            }
            Self::Numbers { first, end } => {
                let count = x.saturating_mul(y).saturating_mul(z);
                let inside = end <= count;
                let grid = Dimensions(grid);
                inside.then_some(first..end).ok_or(BlocksError::Number { grid, count })
            }
        }
    }
}

/// All blocks of several selections, as ascending ranges that do not overlap; also the errors in selections.
pub(super) fn selected_ranges(
    selections: &[BlockSelection],
    grid: [u32; 3],
) -> (Vec<Range<u64>>, Vec<String>) {
    let (mut ranges, mut errors) = (Vec::new(), Vec::new());
    for selection in selections {
        match selection.numbers(grid) {
            Ok(range) => ranges.push(range),
            Err(reason) => errors.push(format!("--blocks {selection}: {reason}")),
        }
    }
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    (merged, errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_become_ranges() {
        let parse = |text: &str| text.split(';').map(|t| t.parse().unwrap()).collect::<Vec<_>>();
        let (ranges, errors) = selected_ranges(&parse("1,1;0..2;2;7..8;1"), [4, 2, 1]);
        assert_eq!((ranges, errors), (vec![0..3, 5..6, 7..8], Vec::new()));
        let (_, errors) = selected_ranges(&parse("4;7..9"), [4, 2, 1]);
        assert_eq!(
            errors,
            [
                "--blocks 4: the grid is 4,2; positions count from 0",
                "--blocks 7..9: the grid 4,2 has 8 blocks"
            ]
        );
    }

    #[test]
    fn a_selection_prints_as_it_is_written() {
        for text in ["0", "3,1", "3,1,2", "0..4"] {
            assert_eq!(text.parse::<BlockSelection>().unwrap().to_string(), text);
        }
        for text in ["4..4", "..4", "0..", "0..x", "1,2..3"] {
            assert!(text.parse::<BlockSelection>().is_err(), "{text}");
        }
    }
}
