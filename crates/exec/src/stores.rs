//! Finds the last store to a byte of global memory, for reports.

use crate::address::Area;
use crate::block::BlockRun;
use crate::budget::Budget;
use crate::finding::{Place, Thread};
use crate::launch::Launch;
use crate::machine::Machine;
use crate::options::{Checks, Limits};
use crate::tracker::Shadows;
use ir::Program;

/// Returns the last store to a byte of a buffer, in ascending order of blocks. `None` if there is none, or if
/// the launch depends on contents.
#[must_use]
pub fn last_store(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    (buffer, offset): (usize, usize),
) -> Option<(Place, Thread)> {
    let (machine, mut global) = Machine::new(program, launch, limits.paths, false, None).ok()?;
    let shared = machine.shared_memory();
    let mut shadows = Shadows::new(Some(Checks::default()), &shared, &global);
    shadows.trace(Area::Global(buffer), offset as i64);
    let mut block = BlockRun::new(&machine, &mut global, Budget::new(limits), shadows);
    let mut last = None;
    for number in launch.units() {
        block.run(number).ok()?;
        if let Some((site, warp, lane)) = block.tracker.shadows_mut().take_traced() {
            last = machine.place_of(site).map(|place| (place, block.thread(warp, lane)));
        }
        block.tracker.take_conflicts();
    }
    last
}
