//! Statements about a tensor after its shape: `:inout`, `:0..100`, `:distinct`, `:lower`, each after a colon and at
//! most once. Also checks that a tensor can have its stated structure.

use super::index_range::{parse_range, strides_overlap};
use super::parse::{bracketed, comma_separated, number};
use super::{
    Direction, ElementType, IndexRange, Mask, Number, ParseReason, TensorSpec, TensorStructure,
    closest,
};

/// The largest tensor with a structure: the structure of every element is held in memory.
const MAX_ELEMENTS: u64 = 1 << 26;

/// The statements about a tensor between its shape and its contents.
pub(super) struct Statements {
    pub(super) direction: Direction,
    pub(super) range: Option<IndexRange>,
    pub(super) is_distinct: bool,
    pub(super) structure: Option<TensorStructure>,
}

impl Statements {
    /// Reads statements; returns the text after the last.
    pub(super) fn parse(element: ElementType, text: &str) -> Result<(Self, &str), ParseReason> {
        let (mut direction, mut range, mut is_distinct, mut structure) = (None, None, false, None);
        let mut rest = text;
        while let Some(text) = rest.strip_prefix(':') {
            let end = text.find(['=', ':']).unwrap_or(text.len());
            let word = &text[..end];
            rest = &text[end..];
            if let Some(found) = parse_structure(word, rest).filter(|_| structure.is_none()) {
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
            return Err(ParseReason::RangeOfOutput(range.into()));
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
            // A word as short as `in` is close to any other.
            let words = TensorStructure::WORDS.into_iter().chain(["distinct", "scratch", "inout"]);
            let meant = closest(word, words).filter(|_| word.len() > 3);
            return Err(match meant {
                Some(meant) => ParseReason::Misspelt { word: word.to_owned(), meant },
                None => ParseReason::NotADirection(word.to_owned()),
            });
        }
    })
}

/// Reads a structure, if the word is one, and for a mask the text after it; returns the rest.
fn parse_structure<'t>(
    word: &str,
    rest: &'t str,
) -> Option<Result<(TensorStructure, &'t str), ParseReason>> {
    let plain = [TensorStructure::Lower, TensorStructure::Upper, TensorStructure::Symmetric];
    match plain.into_iter().find(|one| one.word() == word) {
        Some(found) => Some(Ok((found, rest))),
        None if word == "mask" => Some(parse_mask(rest)),
        None => None,
    }
}

/// Reads `=[1,0,1]` or `=@mask.npy`; returns the rest.
fn parse_mask(text: &str) -> Result<(TensorStructure, &str), ParseReason> {
    let wrong = || ParseReason::NotAMask;
    let text = text.strip_prefix('=').ok_or_else(wrong)?;
    if let Some(path) = text.strip_prefix('@') {
        // A name may have any characters, so it ends at its extension.
        let ends = path.match_indices(".npy").map(|(at, ending)| at + ending.len());
        let mut ends =
            ends.filter(|end| path[*end..].is_empty() || path[*end..].starts_with([':', '=']));
        let end =
            ends.next().filter(|end| *end > ".npy".len()).ok_or(ParseReason::MissingMaskFile)?;
        let mask = Mask::File(path[..end].to_owned());
        return Ok((TensorStructure::Mask(mask), &path[end..]));
    }
    if !text.starts_with('[') {
        return Err(wrong());
    }
    let (items, rest) = bracketed(text)?;
    let kept = comma_separated(items).map(|item| match number(item) {
        Some(Number::Integer(number)) => Ok(number != 0),
        _ => Err(ParseReason::NotAMaskElement(item.to_owned())),
    });
    Ok((TensorStructure::Mask(Mask::List(kept.collect::<Result<_, _>>()?)), rest))
}

/// Checks that a tensor can have the structure.
pub(super) fn check_structure(
    structure: &TensorStructure,
    tensor: &TensorSpec,
) -> Result<(), ParseReason> {
    let word = structure.word();
    if matches!(tensor.direction, Direction::Out | Direction::Scratch) {
        return Err(ParseReason::StructureOfOutput(word));
    }
    if tensor.is_distinct {
        return Err(ParseReason::StructureDistinct(word));
    }
    let Some(shape) = &tensor.shape else {
        return Err(ParseReason::StructureOfUnknown(word));
    };
    match (structure, shape.as_slice()) {
        (TensorStructure::Mask(Mask::List(mask)), shape) => {
            let (elements, given) = (TensorSpec::count(shape), mask.len());
            if elements != given as u64 {
                return Err(ParseReason::MaskLength { elements, given });
            }
        }
        (TensorStructure::Mask(Mask::File(_)), _) => {}
        (TensorStructure::Symmetric, [.., rows, columns]) if rows != columns => {
            return Err(ParseReason::NotSquare { rows: *rows, columns: *columns });
        }
        (_, [.., _, _]) => {}
        (_, shape) => return Err(ParseReason::NotAMatrix { word, dimensions: shape.len() }),
    }
    let strides = tensor.strides.as_deref();
    if strides.is_some_and(|strides| strides_overlap(shape, strides)) {
        return Err(ParseReason::StructureShared(word));
    }
    if TensorSpec::count(shape) > MAX_ELEMENTS {
        return Err(ParseReason::StructureTooLarge { word, most: MAX_ELEMENTS });
    }
    let range = tensor.range.filter(|range| !range.contains(0));
    match range.filter(|_| *structure != TensorStructure::Symmetric) {
        Some(range) => Err(ParseReason::StructureRange { word, range: range.into() }),
        None => Ok(()),
    }
}
