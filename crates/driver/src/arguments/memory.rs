//! The buffers of a launch: one for each tensor, or for each group of aliases.

use super::contents::{self, Data};
use super::misfit::{AliasError, BufferError, ContentsError};
use super::output::element_offsets;
use super::structured::zeros;
use super::{AliasSpec, Direction, InputSpec, MissingData, OutputSpec, Request, TensorSpec};
use crate::npy::shape_text;
use equiv::StructuredElement;
use exec::{Access, Buffer, Contents};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Buffers under construction.
pub(super) struct Buffers<'r> {
    aliases: &'r [AliasSpec],
    missing_data: MissingData,
    /// The buffer of an argument or of its alias group.
    known: BTreeMap<String, usize>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) inputs: Vec<InputSpec>,
    pub(super) outputs: Vec<OutputSpec>,
    pub(super) notes: Vec<String>,
}

impl<'r> Buffers<'r> {
    pub(super) fn new(request: &Request<'r>) -> Self {
        Self {
            aliases: &request.arguments.aliases,
            missing_data: request.missing_data,
            known: BTreeMap::new(),
            buffers: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns `true` if there is a buffer with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// A buffer of unknown size.
    pub(super) fn unbounded(
        &mut self,
        name: &str,
        element_bytes: u32,
    ) -> Result<usize, BufferError> {
        if let Some(&buffer) = self.known.get(name) {
            return Ok(buffer);
        }
        self.note_unbounded(name);
        let contents = Contents::Unbounded;
        let name = name.to_owned();
        let element = None;
        self.place(Buffer { name, element_bytes, element, contents, access: Access::InOut })
    }

    /// A buffer of pointers to others; the same one for each request.
    pub(super) fn pointers(
        &mut self,
        name: &str,
        targets: Vec<Option<usize>>,
    ) -> Result<usize, BufferError> {
        if let Some(&buffer) = self.known.get(name) {
            return Ok(buffer);
        }
        let (contents, access, element) = (Contents::Pointers(targets), Access::In, None);
        let name = name.to_owned();
        self.place(Buffer { name, element_bytes: 8, element, contents, access })
    }

    /// A read-only buffer with values that are not tensor elements, such as tensor maps; the same one for each request.
    pub(super) fn structures(
        &mut self,
        name: &str,
        bytes: u64,
        pieces: Vec<(u64, exec::Argument)>,
    ) -> Result<usize, BufferError> {
        if let Some(&buffer) = self.known.get(name) {
            return Ok(buffer);
        }
        let contents = Contents::Structures { bytes, pieces };
        let (name, access, element) = (name.to_owned(), Access::In, None);
        self.place(Buffer { name, element_bytes: 1, element, contents, access })
    }

    /// The buffer of a tensor; the same one for each request.
    pub(super) fn tensor(&mut self, name: &str, tensor: &TensorSpec) -> Result<usize, BufferError> {
        if let Some(&buffer) = self.known.get(name) {
            return Ok(buffer);
        }
        let data = contents::data(tensor).map_err(|why| {
            let argument = format!("{name}={tensor}");
            BufferError::Contents { argument, why }
        })?;
        if let Some(Data { shape, reshaped: Some(found), .. }) = &data {
            let (found, taken) = (shape_text(found), shape_text(shape));
            self.notes.push(format!("the file of `{name}` has shape {found}, read as {taken}"));
        }
        let shape = data.as_ref().map(|data| data.shape.clone()).or_else(|| tensor.shape.clone());
        let access = match tensor.direction {
            Direction::In => Access::In,
            // An output with stated contents may be left unchanged or added to.
            Direction::Out if data.is_some() => Access::InOut,
            Direction::Out => Access::Out,
            Direction::InOut => Access::InOut,
            Direction::Scratch => Access::Scratch,
        };
        let cells = cells(tensor, &shape).map_err(|why| {
            let argument = format!("{name}={tensor}");
            BufferError::Contents { argument, why }
        })?;
        let contents = self.contents(name, tensor, (data, cells.as_deref()))?;
        let any = matches!(contents, Contents::Opaque(_) | Contents::Sparse { .. });
        let element_bytes = tensor.element.bytes();
        let element = Some(tensor.element.scalar());
        let named = name.to_owned();
        let buffer =
            self.place(Buffer { name: named, element_bytes, element, contents, access })?;
        if let (Some(shape), true) = (&shape, any) {
            self.inputs.push(InputSpec {
                name: name.to_owned(),
                buffer,
                element: tensor.element,
                shape: shape.clone(),
                strides: tensor.strides.clone(),
                range: tensor.range,
                is_distinct: tensor.is_distinct,
                structure: tensor.structure.clone(),
                cells,
            });
        }
        if let (Some(shape), Direction::Out | Direction::InOut) = (shape, tensor.direction) {
            self.outputs.push(OutputSpec {
                name: name.to_owned(),
                buffer,
                element: tensor.element,
                shape,
                strides: tensor.strides.clone(),
            });
        }
        Ok(buffer)
    }

    fn contents(
        &mut self,
        name: &str,
        tensor: &TensorSpec,
        (data, cells): (Option<Data>, Option<&[StructuredElement]>),
    ) -> Result<Contents, BufferError> {
        if let Some(data) = data {
            return Ok(Contents::Known(data.bytes));
        }
        let needs = |what, example: &TensorSpec| {
            let (name, example) = (name.to_owned(), example.to_string());
            Err(BufferError::Needs { name, what, example })
        };
        let refused = self.missing_data == MissingData::Refused;
        let Some(shape) = &tensor.shape else {
            if refused && matches!(tensor.direction, Direction::Out | Direction::Scratch) {
                return needs("a size", &TensorSpec { shape: Some(vec![4]), ..tensor.clone() });
            }
            if refused {
                return needs("data", &with_file(name, tensor));
            }
            self.note_unbounded(name);
            return Ok(Contents::Unbounded);
        };
        // The parser bounds the size of tensors.
        let extent = TensorSpec::extent(shape, tensor.strides.as_deref()).unwrap_or(0);
        let bytes = extent.saturating_mul(tensor.element.bytes().into());
        match tensor.direction {
            Direction::Out | Direction::Scratch => Ok(Contents::Undefined(bytes)),
            Direction::In | Direction::InOut if refused && bytes > 0 => {
                needs("data", &with_file(name, tensor))
            }
            Direction::In | Direction::InOut => {
                let offsets = element_offsets(shape, tensor.strides.as_deref());
                let zeros = zeros(cells.unwrap_or_default(), offsets, tensor.element);
                Ok(match zeros.is_empty() {
                    true => Contents::Opaque(bytes),
                    false => Contents::Sparse { bytes, zeros },
                })
            }
        }
    }

    fn note_unbounded(&mut self, name: &str) {
        self.notes
            .push(format!("`{name}` is a buffer of unknown size: its bounds are not checked"));
    }

    /// Adds a buffer, or merges it with that of an alias.
    fn place(&mut self, buffer: Buffer) -> Result<usize, BufferError> {
        let name = buffer.name.clone();
        let group = self.aliases.iter().find(|alias| alias.names.contains(&name));
        let known = group
            .and_then(|group| group.names.iter().find_map(|name| self.known.get(name).copied()));
        let position = match (known, group) {
            (Some(position), Some(group)) => {
                let merged = merge(&self.buffers[position], buffer);
                let group = || group.to_string();
                self.buffers[position] =
                    merged.map_err(|why| BufferError::Alias { group: group(), why })?;
                position
            }
            _ => {
                self.buffers.push(buffer);
                self.buffers.len() - 1
            }
        };
        self.known.insert(name, position);
        Ok(position)
    }
}

/// Returns the structure of a tensor element by element, unless its contents are given.
fn cells(
    tensor: &TensorSpec,
    shape: &Option<Vec<u64>>,
) -> Result<Option<Arc<[StructuredElement]>>, ContentsError> {
    let (Some(structure), Some(shape), None) = (&tensor.structure, shape, &tensor.initial) else {
        return Ok(None);
    };
    Ok(Some(structure.cells(shape)?.into()))
}

fn with_file(name: &str, tensor: &TensorSpec) -> TensorSpec {
    let initial = Some(super::Initial::File(format!("{name}.npy")));
    TensorSpec { initial, ..tensor.clone() }
}

/// Merges the buffers of two arguments at one address.
fn merge(first: &Buffer, second: Buffer) -> Result<Buffer, AliasError> {
    let names = [first.name.clone(), second.name.clone()];
    if let (Some(a), Some(b)) = (size(&first.contents), size(&second.contents))
        && a != b
    {
        return Err(AliasError::Sizes { names, bytes: [a, b] });
    }
    let contents = match (&first.contents, second.contents) {
        (Contents::Unbounded, _) | (_, Contents::Unbounded) => Contents::Unbounded,
        (Contents::Undefined(_), contents) => contents,
        (contents, Contents::Undefined(_)) => contents.clone(),
        (Contents::Opaque(bytes), Contents::Opaque(_)) => Contents::Opaque(*bytes),
        (Contents::Sparse { zeros: a, .. }, Contents::Sparse { bytes, zeros: b }) if *a == b => {
            Contents::Sparse { bytes, zeros: b }
        }
        (Contents::Known(a), Contents::Known(b)) if *a == b => Contents::Known(b),
        // Buffers of pointers have no aliases.
        (Contents::Pointers(_) | Contents::Structures { .. }, _)
        | (_, Contents::Pointers(_) | Contents::Structures { .. })
        | (
            Contents::Known(_) | Contents::Opaque(_) | Contents::Sparse { .. },
            Contents::Known(_) | Contents::Opaque(_) | Contents::Sparse { .. },
        ) => {
            return Err(AliasError::Contents { names });
        }
    };
    let access = if first.access == second.access { first.access } else { Access::InOut };
    let name = format!("{}/{}", first.name, second.name);
    let element_bytes = first.element_bytes.min(second.element_bytes);
    let element = if first.element == second.element { first.element } else { None };
    Ok(Buffer { name, element_bytes, element, contents, access })
}

fn size(contents: &Contents) -> Option<u64> {
    match contents {
        Contents::Known(bytes) => Some(bytes.len() as u64),
        Contents::Opaque(bytes) | Contents::Undefined(bytes) | Contents::Sparse { bytes, .. } => {
            Some(*bytes)
        }
        Contents::Pointers(targets) => Some(8 * targets.len() as u64),
        Contents::Structures { bytes, .. } => Some(*bytes),
        Contents::Unbounded => None,
    }
}
