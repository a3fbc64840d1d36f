//! Contents of memory and results during a run.
//!
//! Every store writes the number of its event into each byte, and every addition adds a bit of its own, so
//! contents identify their writers. The emitted kernel uses the same numbers.

use crate::program::{Access, MEMORY_BYTES, Space, Value};
use crate::table::MAX_EVENTS;

/// Contents of the memories, and results of threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Values {
    shared: [u8; MEMORY_BYTES],
    global: [u8; MEMORY_BYTES],
    /// Results by event; zero for events without one.
    pub(crate) results: [u64; MAX_EVENTS],
}

impl Values {
    pub(crate) fn initial() -> Self {
        let bytes = |space| std::array::from_fn(|byte| initial_byte(space, byte));
        Self {
            shared: bytes(Space::Shared),
            global: bytes(Space::Global),
            results: [0; MAX_EVENTS],
        }
    }

    pub(crate) fn shared(&self) -> &[u8; MEMORY_BYTES] {
        &self.shared
    }

    pub(crate) fn global(&self) -> &[u8; MEMORY_BYTES] {
        &self.global
    }

    pub(crate) fn load(&self, access: Access) -> u64 {
        let memory = match access.space {
            Space::Shared => &self.shared,
            Space::Global => &self.global,
        };
        let mut bytes = [0; 8];
        let (start, width) = (usize::from(access.offset), usize::from(access.width));
        bytes[..width].copy_from_slice(&memory[start..start + width]);
        u64::from_le_bytes(bytes)
    }

    pub(crate) fn store(&mut self, access: Access, value: u64) {
        let memory = match access.space {
            Space::Shared => &mut self.shared,
            Space::Global => &mut self.global,
        };
        let (start, width) = (usize::from(access.offset), usize::from(access.width));
        memory[start..start + width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

/// The initial value of a byte of memory.
pub(crate) fn initial_byte(space: Space, byte: usize) -> u8 {
    let base = match space {
        Space::Shared => 0xa0,
        Space::Global => 0xe0,
    };
    base + byte as u8
}

/// The value of a store; a narrow one uses only its lowest bytes.
pub(crate) fn stored_value(event: usize, value: Value) -> u64 {
    let byte = match value {
        Value::Own => 0x10 + event as u8,
        Value::Common => 0x77,
    };
    u64::from_le_bytes([byte; 8])
}

/// The summand of an addition.
pub(crate) fn summand(event: usize) -> u32 {
    1 << event
}

/// The value that a lane provides in a shuffle.
pub(crate) fn offered(event: usize) -> u32 {
    0x100 + event as u32
}
