//! Stops at reads that poll memory ([`crate::polls`]): waits between blocks are not modelled.

use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::Gap;
use crate::launch::Access as Permission;
use crate::polls::{WAITS, target};
use ir::{Address, AddressBase, Op, Space};

/// The reason if no other block can change the polled memory.
const ALONE: &str =
    "this loop polls global memory until something else changes it; such waits are not modelled";
/// Number of polls after which a loop is considered endless.
const MAX_POLLS: u64 = 1 << 20;
/// The same in a run with a domain, whose polls take a hundred times as long.
const MAX_POLLS_OF_VALUES: u64 = 1 << 14;

/// Ends the run at a polling read: at once if races are checked and another block may change the memory, otherwise
/// after too many polls.
pub(crate) fn check(context: &mut Context<'_, '_>, op: &Op) -> Result<(), Gap> {
    let Some((address, space)) = target(op) else { return Ok(()) };
    let Some(Area::Global(number)) = area(context, address, space) else { return Ok(()) };
    let several = context.machine.launch.blocks() > 1;
    let changes = context.global.get(number).is_some_and(|memory| memory.access != Permission::In);
    context.report.polls += 1;
    if several && changes && context.tracker.is_checking() {
        return Err(context.gap(WAITS));
    }
    let most = if context.valued.is_some() { MAX_POLLS_OF_VALUES } else { MAX_POLLS };
    match context.report.polls > most {
        true if several && changes => Err(context.gap(WAITS)),
        true => Err(context.gap(ALONE)),
        false => Ok(()),
    }
}

/// The target of the lowest lane's access, if known.
fn area(context: &mut Context<'_, '_>, address: Address, space: Space) -> Option<Area> {
    match address.base {
        AddressBase::Variable(variable) => {
            context.machine.areas.get(&variable).map(|&area| context.own_instance(area))
        }
        AddressBase::Absolute => None,
        AddressBase::Register(register) => {
            let lane = context.lanes.lowest()?;
            let width = context.layout.width(register);
            let (values, tags) = context.read(register.into(), width);
            let full = values[lane].wrapping_add_signed(address.offset) & width.mask();
            let pointer = tags.pointer.has(lane).then(|| Pointer::decode(full, space)).flatten();
            pointer.map(|pointer| pointer.area)
        }
    }
}
