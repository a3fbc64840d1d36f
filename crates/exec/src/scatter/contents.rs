//! The contents of a tensor after writes at data-dependent places: for each element a choice between the old value and
//! the written ones. Elements that are written in smaller parts or as another type become unknown.

use crate::domain::{Binary, Value};
use crate::legal::alias::Aliases;
use crate::results::Element;
use crate::value::bytes::Bytes;
use crate::value::data_writes::{self, WriteKind};
use crate::value::unit::{Byte, Lost};
use crate::value::{Valued, integer};
use ir::Scalar;

/// A write with its bytes.
type DataWrite = data_writes::DataWrite<Bytes>;

/// The reasons why an element has no value.
const UNWRITTEN: &str =
    "that is written only under a condition on data, in a tensor without contents";
const OTHER_TYPE: &str =
    "that is also written in part, or as another type, at a data-dependent place";

impl data_writes::Scatter<Bytes> {
    /// Replaces aliases by the domain's own handles.
    pub(crate) fn forget_aliases(&mut self, aliases: &Aliases) {
        for byte in self.writes.iter_mut().flat_map(|write| &mut write.content) {
            if let Byte::Of { value, sort, .. } = byte
                && sort.format().is_some()
            {
                *value = aliases.target(*value);
            }
        }
    }

    /// Returns the element at a byte that contained `before` at the start of the launch. Writes begin at
    /// multiples of their size; larger ones are split, and smaller ones make the element unknown.
    pub(crate) fn element(
        &self,
        valued: &mut Valued<'_>,
        before: Element,
        start: usize,
        scalar: Scalar,
    ) -> Element {
        let lost = |reason| Element::Lost(Lost { place: None, reason });
        let size = scalar.width().bytes();
        let mut value = None;
        for (write, part) in self.writes.iter().flat_map(|write| parts(write, size)) {
            // For a smaller write, the part of the element does not matter.
            let is_smaller = write.size < size;
            let at = start as i128 - i128::from(part * size);
            let holds = valued.domain.is_place(&write.place, at);
            if !is_smaller && holds.known.has(0) && !holds.truth.has(0) {
                continue;
            }
            let fits = match write.kind {
                WriteKind::Store => !is_smaller,
                WriteKind::Update(_, of, _) => of == scalar || is_sum_of(write.kind, scalar),
            };
            if !fits {
                return lost(OTHER_TYPE);
            }
            let old = match value.map_or_else(|| initial(valued, &before, scalar), Ok) {
                Ok(old) => old,
                Err(Element::Unwritten) => return lost(UNWRITTEN),
                Err(other) => return other,
            };
            let Some(new) = written_value(valued, write, part, scalar) else {
                return lost(OTHER_TYPE);
            };
            let condition = (!holds.known.has(0)).then_some(holds.values[0]);
            value = Some(element_after(valued, write.kind, (condition, scalar), [old, new]));
        }
        value.map_or(before, Element::Value)
    }
}

/// Returns `true` if an update adds integers, with or without sign.
fn is_sum_of(kind: WriteKind, scalar: Scalar) -> bool {
    match (kind, scalar) {
        (
            WriteKind::Update(Binary::Add, Scalar::Integer { width, .. }, _),
            Scalar::Integer { width: element_width, .. },
        ) => width == element_width,
        _ => false,
    }
}

/// Returns the initial value of an element; the element itself if it has none.
fn initial(valued: &mut Valued<'_>, before: &Element, scalar: Scalar) -> Result<Value, Element> {
    match (before, scalar) {
        (Element::Value(value), _) => Ok(*value),
        (Element::Bits(bits), Scalar::Float(format)) => Ok(valued.constant(format, *bits)),
        (Element::Bits(bits), Scalar::Integer { .. }) => {
            let number = crate::results::number(scalar, *bits);
            Ok(valued.domain.integer(number))
        }
        (other, _) => Err(other.clone()),
    }
}

/// The parts of a write in the size of an element.
fn parts(write: &DataWrite, size: u32) -> impl Iterator<Item = (&DataWrite, u32)> {
    (0..(write.size / size).max(1)).map(move |part| (write, part))
}

/// Returns the written value in the element's type.
fn written_value(
    valued: &mut Valued<'_>,
    write: &DataWrite,
    part: u32,
    scalar: Scalar,
) -> Option<Value> {
    let size = scalar.width().bytes();
    let bytes = write.content.get((part * size) as usize..((part + 1) * size) as usize)?;
    match scalar {
        Scalar::Float(format) => valued.real(bytes, format, None).ok(),
        Scalar::Integer { signed, .. } => integer::integer_or_number(valued, bytes, signed),
    }
}

/// Returns the element after a write, which happens if the condition holds, or always without one.
fn element_after(
    valued: &mut Valued<'_>,
    kind: WriteKind,
    (condition, scalar): (Option<Value>, Scalar),
    [old, new]: [Value; 2],
) -> Value {
    let chosen = |valued: &mut Valued<'_>, with: Value, without: Value| match condition {
        Some(condition) => valued.select(condition, with, without),
        None => with,
    };
    match kind {
        WriteKind::Store => chosen(valued, new, old),
        // A sum of choices is the same in every order of the updates.
        WriteKind::Update(Binary::Add, ..) => {
            let zero = match scalar {
                Scalar::Float(format) => valued.constant(format, 0),
                Scalar::Integer { .. } => valued.domain.integer(0),
            };
            let more = chosen(valued, new, zero);
            match scalar {
                Scalar::Float(_) => valued.domain.unordered_sum(old, more),
                Scalar::Integer { .. } => valued.binary(Binary::Add, old, more),
            }
        }
        WriteKind::Update(op, ..) => {
            let both = valued.binary(op, old, new);
            chosen(valued, both, old)
        }
    }
}
