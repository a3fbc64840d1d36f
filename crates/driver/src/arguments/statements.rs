//! What is said of a tensor after its shape: `:inout`, `:0..100`, `:distinct`, `:lower`, each behind a colon and once.

use super::index_range::parse_range;
use super::{Direction, ElementType, IndexRange, ParseReason, TensorStructure, closest};

/// Everything that is said of a tensor between its shape and its contents.
pub(super) struct Statements {
    pub(super) direction: Direction,
    pub(super) range: Option<IndexRange>,
    pub(super) is_distinct: bool,
    pub(super) structure: Option<TensorStructure>,
}

impl Statements {
    /// Reads statements; returns what follows the last.
    pub(super) fn parse(element: ElementType, text: &str) -> Result<(Self, &str), ParseReason> {
        let (mut direction, mut range, mut is_distinct, mut structure) = (None, None, false, None);
        let mut rest = text;
        while let Some(text) = rest.strip_prefix(':') {
            let end = text.find(['=', ':']).unwrap_or(text.len());
            let word = &text[..end];
            rest = &text[end..];
            if let Some(found) = TensorStructure::parse(word, rest).filter(|_| structure.is_none())
            {
                let (found, after) = found?;
                (structure, rest) = (Some(found), after);
                continue;
            }
            match word.split_once("..") {
                Some(ends) if range.is_none() => range = Some(parse_range(element, word, ends)?),
                None if word == "distinct" && !is_distinct => {
                    if element.is_float() {
                        return Err(ParseReason::DistinctFloats { element });
                    }
                    is_distinct = true;
                }
                None if direction.is_none() && !TensorStructure::WORDS.contains(&word) => {
                    direction = Some(parse_direction(word)?);
                }
                _ => return Err(ParseReason::Twice(word.to_owned())),
            }
        }
        let direction = direction.unwrap_or(Direction::In);
        if let Some(range) = range.filter(|_| direction != Direction::In) {
            return Err(ParseReason::RangeOfOutput(range));
        }
        if is_distinct && direction != Direction::In {
            return Err(ParseReason::DistinctOutput);
        }
        Ok((Self { direction, range, is_distinct, structure }, rest))
    }
}

fn parse_direction(text: &str) -> Result<Direction, ParseReason> {
    Ok(match text {
        "in" => Direction::In,
        "out" => Direction::Out,
        "inout" => Direction::InOut,
        "scratch" => Direction::Scratch,
        word => {
            // Of a word as short as `in` any other would be close.
            let words = TensorStructure::WORDS.into_iter().chain(["distinct", "scratch", "inout"]);
            let meant = closest(word, words).filter(|_| word.len() > 3);
            return Err(match meant {
                Some(meant) => ParseReason::Misspelt { word: word.to_owned(), meant },
                None => ParseReason::NoDirection(word.to_owned()),
            });
        }
    })
}
