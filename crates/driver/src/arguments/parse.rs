//! Parses arguments into [`ArgumentSpec`]. The grammar:
//!
//! ```text
//! argument  = NAME "=" ( "?" | number | scalar | tensor | pointers | map | structure | recorded | related )
//! pointers  = "[" ( NAME | "0" ) "," … "]"
//! scalar    = TYPE [ "=" number ]
//! tensor    = TYPE "[" ( "?" | sizes ) "]" [ "@[" sizes "]" ] { ":" ( direction | range | "distinct" | pattern ) } [ "=" initial ]
//! pattern   = "lower" | "upper" | "symmetric" | "mask=" ( "[" numbers "]" | "@" FILE )
//! range     = integer ".." integer { "|" integer }, of inputs of integers, the upper end excluded
//! initial   = "@" FILE | "iota" | "random" [ "(" seed ")" ] | "[" numbers "]" | number
//! map       = "tensormap(" … ")", see `tensor_map.rs`
//! structure = "{" offset ":" ( number | scalar | map | NAME ) "," … "}"
//! recorded  = "@" FILE [ "{" ( NAME "=" address | offset ":" … ) "," … "}" ]
//! related   = an expression over names and numbers, see `equiv::Formula`
//! ```
//!
//! Numbers are checked against their type here, so that a later stage meets only values that fit.

use super::index_range::strides_overlap;
use super::statements::{Statements, check_structure};
use super::{
    AliasSpec, ArgumentSpec, ArgumentValue, AssumeSpec, Direction, ElementType, Field, FieldValue,
    Initial, Number, ParseError, ParseReason, RecordedSpec, RecordedTensor, TensorMapSpec,
    TensorSpec,
    tensor_map::{self, MapText},
};
use equiv::Formula;
use std::str::FromStr;

/// The largest buffer: GPUs have addresses of 49 bits, and sums of them must not wrap.
const LARGEST_BUFFER: u64 = 1 << 48;

impl FromStr for ArgumentSpec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let fail = |reason: ParseReason| ParseError::new(text, reason);
        let Some((name, value)) = text.split_once('=') else {
            return Err(fail(ParseReason::MissingEquals));
        };
        if !is_name(name) {
            return Err(fail(ParseReason::NotAName(name.to_owned())));
        }
        let value = parse_value(name, value).map_err(fail)?;
        Ok(Self { name: name.to_owned(), value })
    }
}

impl FromStr for AliasSpec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if let Some(name) = names.iter().find(|name| !is_name(name)) {
            return Err(ParseError::new(text, ParseReason::NotAnAliasName(name.clone())));
        }
        if names.len() < 2 {
            return Err(ParseError::new(text, ParseReason::OneAlias));
        }
        Ok(Self { names })
    }
}

impl FromStr for AssumeSpec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match Formula::condition(text) {
            Ok(condition) => Ok(Self { condition }),
            Err(why) => Err(ParseError::new(text, ParseReason::Condition(why))),
        }
    }
}

/// Reads a number: decimal, hexadecimal, negative, with a fraction or exponent, `inf`, `nan`,
/// `true`, `false`.
pub(super) fn number(text: &str) -> Option<Number> {
    if let Some(truth) = ["false", "true"].iter().position(|word| *word == text) {
        return Some(Number::Integer(truth as i128));
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((digits, 10), |digits| (digits, 16));
    if !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix)) {
        let magnitude = i128::from_str_radix(digits, radix).ok()?;
        let value = if negative { -magnitude } else { magnitude };
        let fits = value >= i128::from(i64::MIN) && value <= i128::from(u64::MAX);
        return fits.then_some(Number::Integer(value));
    }
    // Rust reads the same numbers as C, except for suffixes and hexadecimal fractions.
    text.parse::<f64>().ok().map(|_| Number::Float(text.to_owned()))
}

fn parse_value(name: &str, text: &str) -> Result<ArgumentValue, ParseReason> {
    if text == "?" {
        return Ok(ArgumentValue::Missing);
    }
    if let Some(number) = number(text) {
        return Ok(ArgumentValue::Number(number));
    }
    if let Some(map) = map_text(text) {
        return Ok(ArgumentValue::TensorMap(Box::new(map_spec(map)?)));
    }
    if text.starts_with('{') {
        return structure(text);
    }
    if let Some(rest) = text.strip_prefix('@').filter(|rest| !is_array_file(rest)) {
        return recorded(rest);
    }
    if let Some(all) = text.strip_prefix('[').filter(|rest| map_text(rest.trim_start()).is_some()) {
        return maps(all).map(ArgumentValue::TensorMaps);
    }
    if let Some(targets) = text.starts_with('[').then(|| pointers(text)).flatten() {
        return Ok(ArgumentValue::Pointers(targets));
    }
    if text.is_empty() || text.starts_with(['[', '@']) {
        return Err(ParseReason::MissingType { name: name.to_owned(), text: text.to_owned() });
    }
    let (word, rest) = split_word(text);
    let Some(element) = ElementType::from_name(word) else {
        return related(text).unwrap_or_else(|| Err(unknown_type(text, word)));
    };
    if rest.starts_with('[') { tensor(element, rest) } else { scalar_argument(element, rest) }
}

/// `[A,B]`: pointers to other arguments, or null.
fn pointers(text: &str) -> Option<Vec<Option<String>>> {
    let (items, _) = bracketed(text).ok().filter(|(_, rest)| rest.is_empty())?;
    let target = |item: &str| match item {
        "0" => Some(None),
        name => is_name(name).then(|| Some(name.to_owned())),
    };
    comma_separated(items).map(target).collect()
}

/// Strips the word `tensormap` from the beginning of a text.
fn map_text(text: &str) -> Option<&str> {
    text.strip_prefix("tensormap").filter(|rest| rest.starts_with('('))
}

/// `tensormap(A, …),tensormap(B, …)]`: maps in memory.
fn maps(text: &str) -> Result<Vec<TensorMapSpec>, ParseReason> {
    let wrong = |item: &str| {
        ParseReason::TensorMap(format!(
            "`{item}` is in a list of tensor maps, but is not a tensor map"
        ))
    };
    let items = text.strip_suffix(']').ok_or_else(|| wrong(text))?;
    let map = |item: &str| map_spec(map_text(item).ok_or_else(|| wrong(item))?);
    let items = tensor_map::separated(items).map_err(ParseReason::TensorMap)?;
    items.into_iter().map(map).collect()
}

/// A tensor map, from the text after the word.
fn map_spec(text: &str) -> Result<TensorMapSpec, ParseReason> {
    let MapText { file, name, inline, keys } =
        tensor_map::parse(text).map_err(ParseReason::TensorMap)?;
    if !is_name(name) {
        let why = format!("`{name}` is not the name of a tensor");
        return Err(ParseReason::TensorMap(why));
    }
    Ok(TensorMapSpec {
        file: file.map(str::to_owned),
        tensor: name.to_owned(),
        inline: inline.map(tensor_text).transpose()?,
        keys,
    })
}

/// A tensor described inside a map.
fn tensor_text(text: &str) -> Result<TensorSpec, ParseReason> {
    let (word, rest) = split_word(text);
    let element = ElementType::from_name(word).ok_or_else(|| unknown_type(text, word))?;
    match rest.starts_with('[') {
        true => tensor_spec(element, rest),
        false => Err(ParseReason::AfterType { element, rest: rest.to_owned() }),
    }
}

/// A word that is neither a type nor a number.
fn unknown_type(text: &str, word: &str) -> ParseReason {
    let digits = text.trim_start_matches(['-', '+']);
    if digits.chars().all(|c| c.is_ascii_digit()) || digits.starts_with("0x") {
        return ParseReason::NotAnInteger(text.to_owned());
    }
    if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return ParseReason::NotANumber(text.to_owned());
    }
    let shown = if word.is_empty() { text } else { word };
    match ElementType::suggestion(word) {
        Some(suggestion) => {
            ParseReason::MisspeltType { word: shown.to_owned(), meant: suggestion.to_string() }
        }
        None => ParseReason::UnknownType(shown.to_owned()),
    }
}

/// A scalar, from the text after its type.
fn scalar_argument(element: ElementType, rest: &str) -> Result<ArgumentValue, ParseReason> {
    let value = scalar_value(element, rest)?;
    Ok(ArgumentValue::Scalar { element, value })
}

fn scalar_value(element: ElementType, rest: &str) -> Result<Option<Number>, ParseReason> {
    if rest.is_empty() && element.is_float() {
        return Ok(None);
    }
    if rest.is_empty() {
        return Err(ParseReason::OpenInteger(element));
    }
    if rest.starts_with(':') {
        return Err(ParseReason::ScalarDirection { element, rest: rest.to_owned() });
    }
    let Some(text) = rest.strip_prefix('=') else {
        return Err(ParseReason::AfterType { element, rest: rest.to_owned() });
    };
    let number = checked_number(element, text)?;
    Ok(Some(number))
}

/// A number that fits the type.
fn checked_number(element: ElementType, text: &str) -> Result<Number, ParseReason> {
    let number = number(text).ok_or_else(|| match text {
        "iota" | "random" => ParseReason::ScalarFill(element, text.to_owned()),
        _ => ParseReason::Not64Bits(text.to_owned()),
    })?;
    element.encode(&number, &mut Vec::new())?;
    Ok(number)
}

/// `[4,512]@[s0,s1]:out=INIT`
fn tensor(element: ElementType, text: &str) -> Result<ArgumentValue, ParseReason> {
    tensor_spec(element, text).map(ArgumentValue::Tensor)
}

fn tensor_spec(element: ElementType, text: &str) -> Result<TensorSpec, ParseReason> {
    let (sizes, rest) = bracketed(text)?;
    let shape = if sizes.trim() == "?" { None } else { Some(counts(sizes, "size")?) };
    let (strides, rest) = match rest.strip_prefix('@') {
        Some(strides) if strides.starts_with('[') => {
            let (strides, rest) = bracketed(strides)?;
            (Some(counts(strides, "stride")?), rest)
        }
        Some(_) => return Err(ParseReason::MissingStrides),
        None => (None, rest),
    };
    let (stated, rest) = Statements::parse(element, rest)?;
    let Statements { direction, range, is_distinct, structure } = stated;
    let initial = match rest.strip_prefix('=') {
        Some(text) => Some(parse_initial(element, text)?),
        None if rest.is_empty() => None,
        None => return Err(ParseReason::AfterShape(rest.to_owned())),
    };
    let tensor =
        TensorSpec { element, shape, strides, direction, range, is_distinct, structure, initial };
    check_tensor(&tensor)?;
    if let Some(structure) = &tensor.structure {
        check_structure(structure, &tensor)?;
    }
    Ok(tensor)
}

fn check_tensor(tensor: &TensorSpec) -> Result<(), ParseReason> {
    let Some(shape) = &tensor.shape else {
        if tensor.strides.is_some() {
            return Err(ParseReason::StridesOfUnknown);
        }
        return match tensor.initial {
            Some(Initial::Iota | Initial::Random(_) | Initial::Fill(_)) => {
                Err(ParseReason::ContentsOfUnknown)
            }
            Some(Initial::File(_) | Initial::List(_)) | None => Ok(()),
        };
    };
    let strides = tensor.strides.as_deref();
    if let Some(strides) = strides {
        if strides.len() != shape.len() {
            let (sizes, given) = (shape.len(), strides.len());
            return Err(ParseReason::StrideCount { sizes, given });
        }
        let overlaps = shape.iter().zip(strides).any(|(&size, &stride)| size > 1 && stride == 0);
        if overlaps && tensor.direction != Direction::In {
            return Err(ParseReason::OverlappingOutput);
        }
        if tensor.is_distinct && strides_overlap(shape, strides) {
            return Err(ParseReason::DistinctShared);
        }
    }
    let extents = [TensorSpec::extent(shape, strides), TensorSpec::extent(shape, None)];
    let bytes = u64::from(tensor.element.bytes());
    let fits = |extent: &Option<u64>| extent.is_some_and(|count| count <= LARGEST_BUFFER / bytes);
    if !extents.iter().all(fits) {
        return Err(ParseReason::TensorTooLarge);
    }
    if tensor.is_distinct {
        let (elements, numbers) = (TensorSpec::count(shape), tensor.possible_integers());
        if i128::from(elements) > numbers {
            return Err(ParseReason::DistinctTooMany { elements, numbers });
        }
    }
    if let (Some(Initial::List(numbers)), Some(elements)) = (&tensor.initial, tensor.elements())
        && numbers.len() as u64 != elements
    {
        let given = numbers.len();
        return Err(ParseReason::ListLength { elements, given });
    }
    Ok(())
}

fn parse_initial(element: ElementType, text: &str) -> Result<Initial, ParseReason> {
    if let Some(path) = text.strip_prefix('@') {
        return if path.is_empty() {
            Err(ParseReason::MissingFile)
        } else {
            Ok(Initial::File(path.to_owned()))
        };
    }
    if text == "iota" {
        return Ok(Initial::Iota);
    }
    if let Some(seed) = text.strip_prefix("random") {
        let seed = match seed.strip_prefix('(').and_then(|seed| seed.strip_suffix(')')) {
            Some(seed) => seed.parse().ok(),
            None => seed.is_empty().then_some(0),
        };
        return seed.map(Initial::Random).ok_or_else(|| ParseReason::Seed(text.to_owned()));
    }
    if text.starts_with('[') {
        let (items, rest) = bracketed(text)?;
        if !rest.is_empty() {
            return Err(ParseReason::AfterList(rest.to_owned()));
        }
        if items.contains('[') {
            return Err(ParseReason::NestedList);
        }
        let numbers = comma_separated(items).map(|item| checked_number(element, item));
        return numbers.collect::<Result<_, _>>().map(Initial::List);
    }
    if number(text).is_none() {
        return Err(ParseReason::NotContents(text.to_owned()));
    }
    checked_number(element, text).map(Initial::Fill)
}

fn structure(text: &str) -> Result<ArgumentValue, ParseReason> {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let inner = inner.ok_or(ParseReason::UnclosedStructure)?;
    let items = match inner.trim() {
        "" => Vec::new(),
        inner => tensor_map::separated(inner).map_err(ParseReason::TensorMap)?,
    };
    // An empty class has no fields.
    let fields: Vec<Field> = items.into_iter().map(field).collect::<Result<_, _>>()?;
    Ok(ArgumentValue::Structure(fields))
}

/// Returns `true` if a file holds an array: the argument then needs an element type.
fn is_array_file(path: &str) -> bool {
    path.is_empty() || path.ends_with(".npy")
}

/// The bytes of a structure in a file, with the addresses of tensors and replacements of fields.
fn recorded(text: &str) -> Result<ArgumentValue, ParseReason> {
    let (file, items) = match text.split_once('{') {
        None => (text, Vec::new()),
        Some((file, rest)) => {
            let inner = rest.strip_suffix('}').ok_or(ParseReason::UnclosedStructure)?;
            (file, tensor_map::separated(inner).map_err(ParseReason::TensorMap)?)
        }
    };
    if file.is_empty() {
        return Err(ParseReason::MissingRecording);
    }
    let mut spec = RecordedSpec { file: file.to_owned(), tensors: Vec::new(), fields: Vec::new() };
    for item in items.into_iter().filter(|item| !item.is_empty()) {
        match item.split_once('=').filter(|(name, _)| is_name(name)) {
            Some((name, address)) => {
                let Some(Number::Integer(address)) = number(address) else {
                    return Err(ParseReason::NotAnAddress(item.to_owned()));
                };
                let address = u64::try_from(address);
                let address = address.map_err(|_| ParseReason::NotAnAddress(item.to_owned()))?;
                spec.tensors.push(RecordedTensor { name: name.to_owned(), address });
            }
            None => spec.fields.push(field(item)?),
        }
    }
    Ok(ArgumentValue::Recorded(Box::new(spec)))
}

fn field(text: &str) -> Result<Field, ParseReason> {
    let fail = |why| ParseReason::Field { field: text.to_owned(), why: Box::new(why) };
    let (offset, value) = text.split_once(':').ok_or_else(|| fail(ParseReason::MissingOffset))?;
    let offset = count(offset, "offset").map_err(fail)?;
    let value = field_value(value.trim()).map_err(fail)?;
    Ok(Field { offset, value })
}

fn field_value(text: &str) -> Result<FieldValue, ParseReason> {
    if let Some(number) = number(text) {
        return Ok(FieldValue::Number(number));
    }
    if let Some(map) = map_text(text) {
        return Ok(FieldValue::TensorMap(Box::new(map_spec(map)?)));
    }
    let (word, rest) = split_word(text);
    if let Some(element) = ElementType::from_name(word) {
        if rest.starts_with('[') {
            return Err(ParseReason::TensorField(text.to_owned()));
        }
        return Ok(FieldValue::Scalar { element, value: scalar_value(element, rest)? });
    }
    if is_name(text) && !CONSTANTS.contains(&text) {
        return Ok(FieldValue::Name(text.to_owned()));
    }
    match related(text) {
        Some(Ok(ArgumentValue::Related(expression))) => Ok(FieldValue::Related(expression)),
        Some(Err(reason)) => Err(reason),
        _ => Err(ParseReason::NotAFieldValue),
    }
}

/// Names of numbers that are expressions by themselves.
const CONSTANTS: [&str; 5] = ["pi", "log2e", "log10e", "ln2", "ln10"];

/// An expression over other arguments; `None` if the text does not look like one.
fn related(text: &str) -> Option<Result<ArgumentValue, ParseReason>> {
    let is_operator = |letter: char| "+-*/^(".contains(letter);
    let allowed = |c: char| c.is_ascii_alphanumeric() || is_operator(c) || "_.,) ".contains(c);
    // A sign alone makes no expression.
    let unsigned = text.trim_start_matches(['-', '+']);
    let is_expression = unsigned.contains(is_operator) || CONSTANTS.contains(&unsigned);
    if !text.chars().all(allowed) || !is_expression {
        return None;
    }
    Some(match Formula::expression(text) {
        Err(why) => Err(ParseReason::Expression { text: text.to_owned(), why }),
        Ok(formula) => match formula.is_undefined() {
            true => Err(ParseReason::UndefinedExpression(text.to_owned())),
            false => Ok(ArgumentValue::Related(text.to_owned())),
        },
    })
}

/// Letters, digits, `_`, `.` and `$`; not beginning with a digit or a dot.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || "_$".contains(c));
    starts && letters.all(|c| c.is_ascii_alphanumeric() || "_.$".contains(c))
}

fn split_word(text: &str) -> (&str, &str) {
    let inside = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    text.split_at(text.find(|c: char| !inside(c)).unwrap_or(text.len()))
}

/// Splits the text after its leading bracket at the next closing one.
pub(super) fn bracketed(text: &str) -> Result<(&str, &str), ParseReason> {
    let end = text.find(']').ok_or_else(|| ParseReason::Unclosed(text.to_owned()))?;
    Ok((&text[1..end], &text[end + 1..]))
}

/// Items between commas; none in an empty text.
pub(super) fn comma_separated(text: &str) -> impl Iterator<Item = &str> {
    let items = if text.trim().is_empty() { None } else { Some(text.split(',')) };
    items.into_iter().flatten().map(str::trim)
}

fn counts(text: &str, what: &'static str) -> Result<Vec<u64>, ParseReason> {
    comma_separated(text).map(|item| count(item, what)).collect()
}

fn count(text: &str, what: &'static str) -> Result<u64, ParseReason> {
    match number(text.trim()) {
        Some(Number::Integer(value)) if value >= 0 => u64::try_from(value)
            .map_err(|_| ParseReason::CountTooLarge { what, text: text.to_owned() }),
        _ if text.trim() == "?" => Err(ParseReason::UnknownCount { what }),
        _ => Err(ParseReason::NotACount { what, text: text.to_owned() }),
    }
}
