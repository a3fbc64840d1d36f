//! Structure parameters: the bytes that each field of `{0:x,8:y,16:512}` fills.
//!
//! The PTX declares a structure as an array of bytes. So a plain number has the size of the kernel's load at its
//! offset; without a load it fills the room to the next field (at most 8 bytes, aligned). A stated type
//! (`16:s32=512`) leaves no doubt.

use super::misfit::{FieldError, StructureError};
use super::parameter::Parameter;
use super::{ArgumentSpec, ArgumentValue, ElementType, Field, FieldValue, Number, TensorMapSpec};

/// The value of a field, resolved.
pub(super) enum Piece<'s> {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Any number of a type.
    Symbolic(ElementType),
    /// A number of a type, given by an expression of other scalars.
    Related(ElementType, &'s str),
    /// The address of another argument.
    Pointer(&'s ArgumentSpec),
    /// A tensor map.
    Map(&'s TensorMapSpec),
}

impl Piece<'_> {
    fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Symbolic(element) | Self::Related(element, _) => element.bytes().into(),
            Self::Pointer(_) => 8,
            Self::Map(_) => ir::TENSOR_MAP_BYTES as u64,
        }
    }
}

/// A field with a plain number at an offset without a visible load: the number's size is then unknown.
pub(super) fn unsized_field<'s>(
    fields: &'s [Field],
    parameter: &Parameter<'_>,
    arguments: &[ArgumentSpec],
) -> Option<&'s Field> {
    let is_number = |field: &Field| match &field.value {
        FieldValue::Number(_) => true,
        FieldValue::Name(name) => arguments.iter().any(|argument| {
            argument.name == *name && matches!(argument.value, ArgumentValue::Number(_))
        }),
        _ => false,
    };
    fields.iter().find(|field| is_number(field) && !parameter.loads.contains_key(&field.offset))
}

/// The pieces of a structure, by offset.
///
/// # Errors
/// If a field names no argument, does not fit, overlaps another or exceeds the parameter.
pub(super) fn pieces<'s>(
    fields: &'s [Field],
    parameter: &Parameter<'_>,
    arguments: &'s [ArgumentSpec],
) -> Result<Vec<(u64, Piece<'s>)>, StructureError> {
    let mut sorted: Vec<&Field> = fields.iter().collect();
    sorted.sort_by_key(|field| field.offset);
    let mut pieces: Vec<(u64, Piece<'s>)> = Vec::new();
    let mut end = 0;
    for (position, field) in sorted.iter().enumerate() {
        let fail = |why: FieldError| StructureError { field: field.to_string(), why };
        if position > 0 && field.offset < end {
            return Err(fail(FieldError::Overlap));
        }
        let next = sorted.get(position + 1).map_or(parameter.bytes, |next| next.offset);
        let room = next.min(parameter.bytes).saturating_sub(field.offset);
        let piece = piece(field, room, parameter, arguments).map_err(fail)?;
        end = field.offset.saturating_add(piece.bytes());
        if end > parameter.bytes {
            let (size, most) = (piece.bytes(), parameter.bytes);
            return Err(fail(FieldError::Beyond { size, most }));
        }
        pieces.push((field.offset, piece));
    }
    Ok(pieces)
}

fn piece<'s>(
    field: &'s Field,
    room: u64,
    parameter: &Parameter<'_>,
    arguments: &'s [ArgumentSpec],
) -> Result<Piece<'s>, FieldError> {
    let map = |map: &'s TensorMapSpec| match field.offset.is_multiple_of(64) {
        true => Ok(Piece::Map(map)),
        false => Err(FieldError::MapAlignment),
    };
    let room = Room::new(field.offset, room, parameter);
    match &field.value {
        FieldValue::Number(value) => number(value, room),
        FieldValue::Scalar { element, value } => scalar(*element, value.as_ref()),
        FieldValue::Related(expression) => related(expression, room),
        FieldValue::TensorMap(spec) => map(spec),
        FieldValue::Name(name) => {
            let argument = arguments.iter().find(|argument| argument.name == *name);
            let argument =
                argument.ok_or_else(|| FieldError::UnknownArgument { name: name.clone() })?;
            match &argument.value {
                ArgumentValue::Number(value) => number(value, room),
                ArgumentValue::Scalar { element, value } => scalar(*element, value.as_ref()),
                ArgumentValue::Tensor(_)
                | ArgumentValue::Pointers(_)
                | ArgumentValue::TensorMaps(_)
                | ArgumentValue::Missing => Ok(Piece::Pointer(argument)),
                ArgumentValue::TensorMap(spec) => map(spec),
                ArgumentValue::Structure(_) | ArgumentValue::Recorded(_) => Err(FieldError::Nested),
                ArgumentValue::Related(expression) => related(expression, room),
            }
        }
    }
}

fn related(expression: &str, room: Room) -> Result<Piece<'_>, FieldError> {
    match room.loaded.unwrap_or(room.bytes.min(4)) {
        4 => Ok(Piece::Related(ElementType::F32, expression)),
        8 => Ok(Piece::Related(ElementType::F64, expression)),
        bytes => Err(FieldError::NotAFloat { expression: expression.to_owned(), bytes }),
    }
}

/// The possible sizes of a number at an offset.
#[derive(Clone, Copy)]
struct Room {
    /// A power of two up to 8, aligned and free.
    bytes: u64,
    /// The size of the kernel's load there, if that is free.
    loaded: Option<u64>,
}

impl Room {
    fn new(offset: u64, free: u64, parameter: &Parameter<'_>) -> Self {
        let aligned = 1 << offset.trailing_zeros().min(3);
        let bytes = 1 << free.clamp(1, aligned).ilog2();
        let loaded = parameter.loads.get(&offset).copied();
        Self { bytes, loaded: loaded.filter(|&loaded| loaded <= free.min(8)) }
    }
}

fn scalar<'s>(element: ElementType, value: Option<&Number>) -> Result<Piece<'s>, FieldError> {
    let Some(value) = value else { return Ok(Piece::Symbolic(element)) };
    let mut bytes = Vec::new();
    element.encode(value, &mut bytes)?;
    Ok(Piece::Bytes(bytes))
}

fn number<'s>(value: &Number, room: Room) -> Result<Piece<'s>, FieldError> {
    let Number::Integer(integer) = value else {
        return match room.loaded.unwrap_or(room.bytes.min(4)) {
            4 => scalar(ElementType::F32, Some(value)),
            8 => scalar(ElementType::F64, Some(value)),
            _ => Err(FieldError::UnclearType { number: value.to_string() }),
        };
    };
    let bytes = room.loaded.unwrap_or(room.bytes);
    integer_bytes(*integer, bytes)
        .map(Piece::Bytes)
        .ok_or_else(|| FieldError::Number { number: value.to_string(), bytes })
}

/// An integer as so many bytes, at most 8, if it fits signed or unsigned.
pub(super) fn integer_bytes(value: i128, bytes: u64) -> Option<Vec<u8>> {
    let bits = 8 * u32::try_from(bytes).ok().filter(|&bytes| bytes <= 8)?;
    let fits = bits > 0 && value >= -(1_i128 << (bits - 1)) && value < (1_i128 << bits);
    fits.then(|| value.to_le_bytes()[..bytes as usize].to_vec())
}
