//! Finds the thread that stored each element of an array last, by a run of its own. Only for the pictures of HTML
//! reports; no verdict depends on it.

use super::Tiles;
use crate::arguments::OutputSpec;
use crate::demangle::variable_name;
use crate::execute::{FinishedRun, last_writer};
use crate::findings::target;
use crate::naming::thread_name;
use exec::{Elements, Fault, Limits, Thread};
use std::ops::Range;

/// The most elements shown.
const MAX_ELEMENTS: u64 = 4096;

/// Elements in a row of a picture.
const ROW: usize = 32;

/// The budget in instructions, counted for each lane.
const MAX_INSTRUCTIONS: u64 = 50_000_000;

/// The writers around the element of a finding, if they explain it: for races, and for outputs that depend on their
/// earlier contents.
pub(super) fn of_finding(finished: &FinishedRun<'_>, finding: &exec::Finding) -> Option<Tiles> {
    let (element, block) = match &finding.fault {
        Fault::Race(race) if race.target.space == ir::Space::Shared => {
            (race.element_bytes, Some(race.sides[0].thread.block))
        }
        Fault::Race(race) => (race.element_bytes, None),
        Fault::DependsOnInitial { .. } => (None, None),
        _ => return None,
    };
    let target = target(&finding.fault)?;
    let bytes = element.unwrap_or(target.element_bytes).max(1);
    let count = target.size / u64::from(bytes);
    let marked = u64::try_from(target.offset).ok()? / u64::from(bytes);
    let array = variable_name(&target.name);
    let about = About { memory: &target.name, rank: target.rank, bytes, block };
    let shown = window(count, marked);
    let mut stores = about.stores(finished, shown.clone())?;
    // Much of shared memory may be unused: the picture ends soon after its last element of interest.
    let last = stores.iter().rposition(Option::is_some).unwrap_or(0);
    let framed = usize::try_from(marked - shown.start).unwrap_or(0);
    stores.truncate((last.max(framed) + 1).next_multiple_of(ROW) + ROW);
    let shape = vec![stores.len() as u64];
    Some(tiles((finished, about), array, shape, (shown.start, count), stores, Some(marked)))
}

/// The writers of an output.
pub(super) fn of_output(
    finished: &FinishedRun<'_>,
    name: &str,
    marked: Option<u64>,
) -> Option<Tiles> {
    let output = finished.built.outputs.iter().find(|output| output.name == name)?;
    let is_dense = output.strides.is_none();
    let memory = &finished.built.launch.buffers.get(output.buffer)?.name;
    let bytes = output.element.bytes();
    let about = About { memory, rank: None, bytes, block: None };
    let count = extent(output)?;
    let shown = window(count, marked.unwrap_or(0));
    let stores = about.stores(finished, shown.clone())?;
    let is_complete = is_dense && shown == (0..count);
    let shape = if is_complete { output.shape.clone() } else { vec![shown.end - shown.start] };
    Some(tiles((finished, about), output.name.clone(), shape, (shown.start, count), stores, marked))
}

/// The writers of the element in which two kernels differ, and of its neighbours, on both sides.
pub(super) fn of_difference(
    sides: &[Vec<FinishedRun<'_>>; 2],
    difference: &equiv::Difference,
) -> Vec<Tiles> {
    let position = &difference.position;
    let named = sides.iter().zip(["reference", "optimised"]);
    let of_side = |(side, name): (&Vec<FinishedRun<'_>>, &'static str)| {
        let launch = last_writer(side, &position.name).filter(|one| !one.is_formula)?;
        let output = launch.built.outputs.iter().find(|output| output.name == position.name)?;
        let marked = output.offsets().nth(position.index)?;
        Some(Tiles { side: Some(name), ..of_output(launch, &position.name, Some(marked))? })
    };
    named.filter_map(of_side).collect()
}

/// Elements from the start of an output's buffer to its last one.
fn extent(output: &OutputSpec) -> Option<u64> {
    match &output.strides {
        None => Some(output.shape.iter().product()),
        Some(strides) => {
            let last = output
                .shape
                .iter()
                .zip(strides)
                .map(|(size, stride)| size.checked_sub(1)?.checked_mul(*stride));
            last.sum::<Option<u64>>()?.checked_add(1)
        }
    }
}

/// The elements to show: all, or some around the marked one.
fn window(count: u64, marked: u64) -> Range<u64> {
    if count <= MAX_ELEMENTS {
        return 0..count;
    }
    let half = MAX_ELEMENTS / 2;
    let start = (marked.saturating_sub(half) / 64 * 64).min(count - MAX_ELEMENTS);
    start..start + MAX_ELEMENTS
}

/// Memory, and the size of its elements.
#[derive(Clone, Copy)]
struct About<'a> {
    memory: &'a str,
    rank: Option<u32>,
    bytes: u32,
    /// The block that owns the memory, if it is shared.
    block: Option<[u32; 3]>,
}

type Stores = Vec<Option<(exec::Place, Thread)>>;

impl About<'_> {
    /// Runs the launch once more, or the block that owns the memory; `None` if no pictures are requested, or nothing
    /// was stored.
    fn stores(&self, finished: &FinishedRun<'_>, shown: Range<u64>) -> Option<Stores> {
        if !finished.pictures {
            return None;
        }
        let mut launch = finished.built.launch.clone();
        if let Some([x, y, z]) = self.block.map(|block| block.map(u64::from)) {
            let [width, height, _] = launch.grid.map(u64::from);
            let number = x + width * (y + height * z);
            launch.selected = std::iter::once(number..number + 1).collect();
        }
        let limits = finished.limits();
        let most = limits.lane_instructions.min(MAX_INSTRUCTIONS);
        let limits = Limits { lane_instructions: most, ..limits };
        let start = i64::try_from(shown.start.checked_mul(u64::from(self.bytes))?).ok()?;
        let count = usize::try_from(shown.end - shown.start).ok()?;
        let (array, rank, bytes) = (self.memory, self.rank, self.bytes);
        let elements = Elements { array, rank, start, bytes, count };
        let stores = exec::last_stores(finished.program(), &launch, limits, elements)?;
        stores.iter().any(Option::is_some).then_some(stores)
    }
}

fn tiles(
    (finished, about): (&FinishedRun<'_>, About<'_>),
    array: String,
    shape: Vec<u64>,
    (first, all): (u64, u64),
    stores: Stores,
    marked: Option<u64>,
) -> Tiles {
    let mut groups: Vec<String> = Vec::new();
    let blocks = finished.built.launch.blocks() > 1 && about.block.is_none();
    let warps = finished.built.launch.threads() > 32;
    let [width, height, _] = finished.built.launch.block.map(u64::from);
    let group = |thread: Thread| {
        let [x, y, z] = thread.thread.map(u64::from);
        let linear = x + width * (y + height * z);
        match (blocks, warps) {
            (true, _) => format!("block {}", triple(thread.block)),
            (false, true) => format!("warp {}", linear / 32),
            (false, false) => format!("thread {}", triple(thread.thread)),
        }
    };
    let mut writer = |(place, thread): (exec::Place, Thread)| {
        let name = group(thread);
        let known = groups.iter().position(|group| *group == name).unwrap_or_else(|| {
            groups.push(name);
            groups.len() - 1
        });
        let line = finished.kernel().line(place);
        (known, format!("{}, {line}", thread_name(thread)))
    };
    let writers = stores.into_iter().map(|store| store.map(&mut writer)).collect();
    Tiles { array, shape, first, all, groups, writers, marked, side: None }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (0, 0) => x.to_string(),
        _ => format!("({x},{y},{z})"),
    }
}
