//! Finds the last stores to elements of global or shared memory, for reports.

use crate::address::Area;
use crate::block::BlockRun;
use crate::budget::Budget;
use crate::finding::{Place, Thread};
use crate::launch::Launch;
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::options::{Checks, Limits};
use crate::tracker::{Shadows, Traced};
use ir::Program;

/// Adjacent elements of an array.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'e> {
    /// The name of the buffer or the shared array.
    pub array: &'e str,
    /// In a cluster of several blocks, the rank of the block that owns the shared array.
    pub rank: Option<u32>,
    /// The first byte.
    pub start: i64,
    /// Bytes of an element.
    pub bytes: u32,
    /// The number of elements.
    pub count: usize,
}

/// An instruction and the thread that executed it.
type Store = (Place, Thread);

/// Returns the last store to a byte of a buffer, in ascending order of blocks. `None` if there is none, or if
/// the launch depends on contents.
#[must_use]
pub fn last_store(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    (buffer, offset): (usize, usize),
) -> Option<(Place, Thread)> {
    let traced = Traced::new(Area::Global(buffer), offset as i64, (1, 1));
    let (mut stores, ended) = traced_run(program, launch, limits, |_, _| Some(traced))?;
    stores.pop().flatten().filter(|_| ended)
}

/// Returns the last store to each element, in ascending order of blocks, as far as a run gets without contents.
/// `None` if the launch has no such array.
#[must_use]
pub fn last_stores(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    elements: Elements<'_>,
) -> Option<Vec<Option<(Place, Thread)>>> {
    let find = |shared: &[Allocation], global: &[Allocation]| {
        let is_array = |one: &Allocation| one.name == elements.array && one.rank == elements.rank;
        let of_shared = shared.iter().position(is_array).map(Area::Shared);
        let area = of_shared.or_else(|| global.iter().position(is_array).map(Area::Global))?;
        Some(Traced::new(area, elements.start, (elements.bytes, elements.count)))
    };
    traced_run(program, launch, limits, find).map(|(stores, _)| stores)
}

/// Runs a launch; returns the last store to each traced element, and whether the run reached its end.
fn traced_run(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    find: impl FnOnce(&[Allocation], &[Allocation]) -> Option<Traced>,
) -> Option<(Vec<Option<Store>>, bool)> {
    let (machine, mut global) = Machine::new(program, launch, limits.paths, false, None).ok()?;
    let shared = machine.shared_memory();
    let traced = find(&shared, &global)?;
    let mut last = vec![None; traced.count()];
    let mut shadows = Shadows::new(Some(Checks::default()), &shared, &global);
    shadows.trace(traced);
    let mut block = BlockRun::new(&machine, &mut global, Budget::new(limits), shadows);
    let mut ended = true;
    for number in launch.units() {
        ended = block.run(number).is_ok();
        for (at, (site, warp, lane)) in block.tracker.shadows_mut().take_traced() {
            if let (Some(place), Some(store)) = (machine.place_of(site), last.get_mut(at)) {
                *store = Some((place, block.thread(warp, lane)));
            }
        }
        block.tracker.take_conflicts();
        if !ended {
            break;
        }
    }
    Some((last, ended))
}
