//! Selects the elements of an output to compare.
//!
//! ```text
//! part  = NAME [ "[" index "," … "]" ]
//! index = NUMBER | [ NUMBER ] ":" [ NUMBER ]
//! ```
//!
//! A slice begins at its first number and ends before its second, as in Python; omitted dimensions are taken whole.

use super::{ParseError, ParseReason};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use thiserror::Error;

/// A part of an output: `out`, `out[0]`, `out[2:6,:,3]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartSpec {
    /// The output.
    pub name: String,
    /// The selection in each dimension, as far as given.
    indices: Vec<Index>,
}

/// The selection in one dimension: one index, or a half-open range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    One(u64),
    Slice(Option<u64>, Option<u64>),
}

/// The reason why a part does not fit an output.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PartError {
    #[error("no output is called `{0}`")]
    UnknownOutput(String),
    #[error("`{part}`: the output has {dimensions} dimensions")]
    Dimensions { part: String, dimensions: usize },
    #[error("`{part}`: dimension {dimension} of the output has {size} elements")]
    Beyond { part: String, dimension: usize, size: u64 },
}

impl FromStr for PartSpec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, ParseReason::NotAnOutputPart);
        let (name, rest) = text.split_once('[').unwrap_or((text, ""));
        let is_name = |c: char| c.is_alphanumeric() || "_$.".contains(c);
        let name = name.trim();
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(wrong());
        }
        let indices = match text.contains('[') {
            false => Vec::new(),
            true => {
                let inner = rest.trim_end().strip_suffix(']').ok_or_else(wrong)?;
                let indices = inner.split(',').map(|one| index(one.trim()));
                indices.collect::<Option<Vec<Index>>>().ok_or_else(wrong)?
            }
        };
        Ok(Self { name: name.to_owned(), indices })
    }
}

fn index(text: &str) -> Option<Index> {
    let end = |text: &str| match text.trim() {
        "" => Some(None),
        number => number.parse::<u64>().ok().map(Some),
    };
    match text.split_once(':') {
        None => text.parse().ok().map(Index::One),
        Some((from, to)) => Some(Index::Slice(end(from)?, end(to)?)),
    }
}

impl fmt::Display for PartSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.indices.is_empty() {
            return Ok(());
        }
        let number = |one: Option<u64>| one.map_or_else(String::new, |one| one.to_string());
        let indices = self.indices.iter().map(|index| match *index {
            Index::One(at) => at.to_string(),
            Index::Slice(from, to) => format!("{}:{}", number(from), number(to)),
        });
        write!(f, "[{}]", indices.collect::<Vec<_>>().join(","))
    }
}

impl PartSpec {
    /// Returns the positions of its elements, in row-major order, in an output of these sizes.
    ///
    /// # Errors
    /// If some are not in the output, or there are none.
    pub(crate) fn elements(&self, shape: &[u64]) -> Result<Vec<u64>, PartError> {
        if self.indices.len() > shape.len() {
            let (part, dimensions) = (self.to_string(), shape.len());
            return Err(PartError::Dimensions { part, dimensions });
        }
        let mut numbers = vec![0];
        for (dimension, &size) in shape.iter().enumerate() {
            let range: Range<u64> = match self.indices.get(dimension) {
                None => 0..size,
                Some(Index::One(at)) => *at..at.saturating_add(1),
                Some(Index::Slice(from, to)) => from.unwrap_or(0)..to.unwrap_or(size),
            };
            if range.end > size || range.is_empty() {
                return Err(PartError::Beyond { part: self.to_string(), dimension, size });
            }
            let next = |number: u64| range.clone().map(move |at| number * size + at);
            numbers = numbers.into_iter().flat_map(next).collect();
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::PartSpec;

    fn elements(text: &str, shape: &[u64]) -> Result<Vec<u64>, String> {
        let part: PartSpec = text.parse().map_err(|_| "no part".to_owned())?;
        assert_eq!(part.to_string(), text);
        part.elements(shape).map_err(|error| error.to_string())
    }

    #[test]
    fn parts_are_numbers_of_elements() {
        assert_eq!(elements("out", &[2, 2]).unwrap(), [0, 1, 2, 3]);
        assert_eq!(elements("out[0]", &[8]).unwrap(), [0]);
        assert_eq!(elements("out[1]", &[2, 3]).unwrap(), [3, 4, 5]);
        assert_eq!(elements("out[:,1:]", &[2, 3]).unwrap(), [1, 2, 4, 5]);
        assert_eq!(elements("out[1:2,:2]", &[2, 3]).unwrap(), [3, 4]);
    }

    #[test]
    fn parts_outside_of_the_tensor_are_refused() {
        for (text, reason) in [
            ("out[8]", "dimension 0 of the output has 8 elements"),
            ("out[3:3]", "dimension 0 of the output has 8 elements"),
            ("out[0,0]", "the output has 1 dimensions"),
        ] {
            assert!(elements(text, &[8]).unwrap_err().contains(reason), "{text}");
        }
        for text in ["", "[0]", "out[", "out[x]", "out[-1]", "out[]", "a b"] {
            assert!(text.parse::<PartSpec>().is_err(), "{text}");
        }
    }
}
