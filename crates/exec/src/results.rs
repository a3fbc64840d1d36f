//! What the buffers of a launch hold after a run with a domain.

use crate::domain::{Domain, Value};
use crate::memory::{Allocation, state};
use crate::value::integer;
use crate::value::unit::{Byte, Content, Lost, Sort, content, known};
use crate::value::{Store, Valued};
use ir::Scalar;

/// An element of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// Nobody wrote it, or not all of it.
    Unwritten,
    /// A number.
    Bits(u64),
    /// A value of the domain.
    Value(Value),
    /// Something that was not followed to here.
    Lost(Lost),
}

/// What the buffers of a launch hold after a run with a domain.
#[derive(Debug)]
pub struct Results {
    buffers: Vec<Allocation>,
    store: Store,
}

impl Results {
    pub(crate) fn new(buffers: Vec<Allocation>, store: Store) -> Self {
        Self { buffers, store }
    }

    /// The element of a buffer that starts at a byte; `Unwritten` beyond its end. The domain is the
    /// one of the run.
    pub fn element(
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
        let mut valued = Valued { domain, store: &mut self.store };
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

    /// As [`element`](Self::element) of a float, a number as the domain's value of it.
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
                Ok(Valued { domain, store: &mut self.store }.constant(format, bits))
            }
            other => Err(other),
        }
    }

    fn lost(&self, word: u32) -> Lost {
        let unknown = Lost { place: None, reason: "whose bits are of another type" };
        self.store.units.lost(word).filter(|_| word != 0).unwrap_or(unknown)
    }
}
