//! The final contents of a launch's buffers after a run with a domain, as numbers or domain values, element by element:
//! what `equiv` compares, and what a next launch starts from.

use crate::domain::{Domain, Value};
use crate::legal::alias::Aliases;
use crate::memory::{Allocation, state};
use crate::value::integer;
use crate::value::unit::{Byte, Content, Lost, Sort, content, known};
use crate::value::{Store, Valued};
use ir::Scalar;

/// An element of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// It was not written, or only in part.
    Unwritten,
    /// A number.
    Bits(u64),
    /// A value of the domain.
    Value(Value),
    /// An untracked value.
    Lost(Lost),
}

/// The contents of a buffer, for the next launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinalContents {
    /// Bytes of integers that are numbers.
    Bytes(Vec<u8>),
    /// Domain values, one for each element.
    Values(Vec<Value>),
}

/// Final contents of a launch's buffers after a run with a domain.
#[derive(Debug)]
pub struct Results {
    buffers: Vec<Allocation>,
    store: Store,
}

impl Results {
    pub(crate) fn new(mut buffers: Vec<Allocation>, mut store: Store, aliases: &Aliases) -> Self {
        store.forget_aliases(aliases, &mut buffers);
        Self { buffers, store }
    }

    /// The block of each ticket, after [`crate::check_in_order`]; empty if no block took one.
    #[must_use]
    pub fn takers(&self) -> &[u64] {
        &self.store.tickets.takers
    }

    /// Returns the element of a buffer that starts at a byte; `Unwritten` beyond its end. The domain is that
    /// of the run.
    pub fn element(
        &mut self,
        domain: &mut dyn Domain,
        buffer: usize,
        start: usize,
        scalar: Scalar,
    ) -> Element {
        let before = self.in_memory(domain, buffer, start, scalar);
        let Some(scatter) = self.store.scatters.remove(&buffer) else { return before };
        let aliases = &mut Aliases::default();
        let mut valued = Valued { domain, store: &mut self.store, aliases };
        let element = scatter.element(&mut valued, before, start, scalar);
        self.store.scatters.insert(buffer, scatter);
        element
    }

    /// Like [`element`](Self::element), without writes at data-dependent places.
    fn in_memory(
        &mut self,
        domain: &mut dyn Domain,
        buffer: usize,
        start: usize,
        scalar: Scalar,
    ) -> Element {
        let size = scalar.width().bytes() as usize;
        let Some(memory) = self.buffers.get(buffer) else { return Element::Unwritten };
        let states = start.checked_add(size).and_then(|end| memory.states.get(start..end));
        let Some(states) = states else { return Element::Unwritten };
        if states.contains(&state::UNDEFINED) {
            return Element::Unwritten;
        }
        let bytes: Vec<Byte> =
            (start..start + size).map(|at| self.store.byte(memory, at)).collect();
        if let Some(number) = known(&bytes) {
            return Element::Bits(number);
        }
        let aliases = &mut Aliases::default();
        let mut valued = Valued { domain, store: &mut self.store, aliases };
        let found = match (scalar, Sort::of(scalar)) {
            (Scalar::Float(format), _) => valued.real(&bytes, format, None),
            (Scalar::Integer { signed, .. }, Some(sort)) => {
                let integer = integer::integer_or_number(&mut valued, &bytes, signed);
                integer.ok_or(match content(&bytes, sort) {
                    Content::Opaque(word) => word,
                    _ => 0,
                })
            }
            (_, None) => Err(0),
        };
        match found {
            Ok(value) => Element::Value(value),
            Err(word) => Element::Lost(self.lost(word)),
        }
    }

    /// Like [`element`](Self::element) for a float, with numbers converted to domain values.
    ///
    /// # Errors
    /// The element itself, if it has no value.
    pub fn real(
        &mut self,
        domain: &mut dyn Domain,
        buffer: usize,
        start: usize,
        format: ir::Format,
    ) -> Result<Value, Element> {
        match self.element(domain, buffer, start, Scalar::Float(format)) {
            Element::Value(value) => Ok(value),
            Element::Bits(bits) => {
                let aliases = &mut Aliases::default();
                let mut valued = Valued { domain, store: &mut self.store, aliases };
                Ok(valued.constant(format, bits))
            }
            other => Err(other),
        }
    }

    /// Returns all elements of a buffer. Floats are always domain values.
    ///
    /// # Errors
    /// The first element that is neither a number nor a value, and its number.
    pub fn final_contents(
        &mut self,
        domain: &mut dyn Domain,
        buffer: usize,
        scalar: Scalar,
    ) -> Result<FinalContents, (usize, Element)> {
        let size = scalar.width().bytes() as usize;
        let count = self.buffers.get(buffer).map_or(0, |memory| memory.states.len() / size.max(1));
        let (mut values, mut bytes, mut numbers) = (Vec::new(), Vec::new(), true);
        for index in 0..count {
            let element = match scalar {
                Scalar::Float(format) => {
                    numbers = false;
                    let value = self.real(domain, buffer, index * size, format);
                    value.map_or_else(|element| element, Element::Value)
                }
                Scalar::Integer { .. } => self.element(domain, buffer, index * size, scalar),
            };
            match element {
                Element::Value(value) => {
                    numbers = false;
                    values.push(value);
                }
                Element::Bits(bits) => {
                    bytes.extend(&bits.to_le_bytes()[..size]);
                    values.push(domain.integer(number(scalar, bits)));
                }
                other => return Err((index, other)),
            }
        }
        Ok(if numbers { FinalContents::Bytes(bytes) } else { FinalContents::Values(values) })
    }

    fn lost(&self, word: u32) -> Lost {
        let unknown = Lost { place: None, reason: "whose bits belong to another type" };
        self.store.units.lost(word).filter(|_| word != 0).unwrap_or(unknown)
    }
}

/// Decodes an integer.
pub(crate) fn number(scalar: Scalar, bits: u64) -> i128 {
    let width = scalar.width().bits();
    let signed = matches!(scalar, Scalar::Integer { signed: true, .. });
    let negative = signed && bits >> (width - 1) & 1 == 1;
    i128::from(bits) - if negative { 1 << width } else { 0 }
}
