//! Finds the module variables that a run changed, by comparing their contents before and after.
//!
//! A variable that was overwritten with its old contents does not count. Above a size limit nothing is
//! copied, and all possibly written variables count: it errs towards naming too many.

use crate::address::Area;
use crate::launch::Access;
use crate::machine::Machine;
use crate::memory::Allocation;
use ir::VarId;

/// Largest size of all module variables to copy.
const LARGEST: usize = 64 << 20;

/// Module variables before a run: bytes and their states; `None` if they are too large.
pub(crate) struct Snapshot(Option<Vec<(Vec<u8>, Vec<u8>)>>);

impl Snapshot {
    /// Copies the allocations of module variables.
    pub(crate) fn of(variables: &[Allocation]) -> Self {
        let size: usize = variables.iter().map(|memory| memory.bytes.len()).sum();
        let copy = |memory: &Allocation| (memory.bytes.clone(), memory.states.to_vec());
        Self((size <= LARGEST).then(|| variables.iter().map(copy).collect()))
    }

    /// Returns the variables with other contents in `global`, in module order.
    pub(crate) fn changed(&self, machine: &Machine<'_>, global: &[Allocation]) -> Vec<VarId> {
        let buffers = machine.launch.buffers.len();
        let is_changed = |id: &VarId| {
            let Some(&Area::Global(number)) = machine.areas.get(id) else { return false };
            let Some(memory) = global.get(number).filter(|memory| memory.access != Access::In)
            else {
                return false;
            };
            let before =
                self.0.as_ref().map(|all| number.checked_sub(buffers).and_then(|at| all.get(at)));
            match before {
                None => true,
                Some(before) => before.is_some_and(|(bytes, states)| {
                    *bytes != memory.bytes || *states != *memory.states
                }),
            }
        };
        machine.program.variables.indices().filter(is_changed).collect()
    }
}
