//! Collects the data for HTML reports from finished runs.

use super::build::shown_kernel;
use super::{LaunchFacts, PageData, ProofFact, PtxText, relative};
use crate::execute::FinishedRun;
use crate::source_lines::source_lines;
use std::collections::BTreeMap;

/// The most lines of PTX that an HTML report has for one kernel.
const MAX_LINES: usize = 4000;

/// The data of a check.
pub(super) fn of_check(finished: &FinishedRun<'_>, holds_on_every_schedule: bool) -> PageData {
    let inputs = "every thread schedule, and all contents of tensors that were not given";
    let proof = vec![
        ProofFact::new("Holds for", format!("this launch ({}), {inputs}", finished.blocks())),
        ProofFact::new(
            "Method",
            "every thread was executed on one schedule. No race makes a difference and no barrier is misused, so every other \
             schedule does the same",
        ),
    ];
    PageData {
        launches: vec![launch(finished, None)],
        proof: if holds_on_every_schedule { proof } else { Vec::new() },
        ptx: all_ptx(std::iter::once((finished, ""))),
    }
}

/// The PTX of each kernel, once.
pub(super) fn all_ptx<'f, 'r: 'f>(
    launches: impl Iterator<Item = (&'f FinishedRun<'r>, &'static str)>,
) -> Vec<PtxText> {
    let mut all: Vec<PtxText> = Vec::new();
    for (finished, side) in launches {
        let side = (!side.is_empty()).then_some(side);
        let Some(text) = ptx(finished, side) else { continue };
        let is_same = |ptx_text: &PtxText| {
            (&ptx_text.path, ptx_text.first, ptx_text.side) == (&text.path, text.first, text.side)
        };
        if !all.iter().any(is_same) {
            all.push(text);
        }
    }
    all
}

/// The facts about launches. A formula becomes several launches and is listed once.
pub(super) fn launches<'f, 'r: 'f>(
    launches: impl Iterator<Item = (&'f FinishedRun<'r>, &'static str)>,
) -> Vec<LaunchFacts> {
    let mut all: Vec<LaunchFacts> =
        launches.map(|(finished, side)| launch(finished, Some(side))).collect();
    all.dedup_by(|one, other| one.is_formula && other.is_formula && one.kernel == other.kernel);
    all
}

/// The facts about a launch.
fn launch(finished: &FinishedRun<'_>, side: Option<&'static str>) -> LaunchFacts {
    let launch = &finished.built.launch;
    let shape = |[x, y, z]: [u32; 3], unit: &str| {
        let axes = if z > 1 {
            vec![x, y, z]
        } else if y > 1 {
            vec![x, y]
        } else {
            vec![x]
        };
        let all: u64 = axes.iter().map(|&axis| u64::from(axis)).product();
        let text = axes.iter().map(u32::to_string).collect::<Vec<_>>().join(" \u{d7} ");
        format!("{text} {unit}{}", if all == 1 { "" } else { "s" })
    };
    let mut sizes =
        vec![("grid", shape(launch.grid, "block")), ("block", shape(launch.block, "thread"))];
    if let Some(cluster) = launch.cluster.filter(|_| launch.cluster_blocks() > 1) {
        sizes.push(("cluster", shape(cluster, "block")));
    }
    if launch.dynamic_shared > 0 {
        sizes.push(("dynamic shared memory", format!("{} bytes", launch.dynamic_shared)));
    }
    if launch.is_partial() {
        sizes.push(("checked", finished.blocks()));
    }
    let kernel = match finished.is_formula {
        true => finished.source().text().trim().to_owned(),
        false => shown_kernel(finished),
    };
    let mut arguments = finished.built.given.clone();
    if finished.is_formula {
        // Its launches and their arguments are ours.
        sizes.clear();
        arguments.clear();
    }
    LaunchFacts { side, kernel, is_formula: finished.is_formula, sizes, arguments }
}

/// The PTX of a kernel with the source lines of its instructions; `None` if the PTX is itself the source.
fn ptx(finished: &FinishedRun<'_>, side: Option<&'static str>) -> Option<PtxText> {
    if finished.is_formula || finished.program().files.is_empty() {
        return None;
    }
    let (source, input) = (finished.source(), finished.input());
    let program = finished.original();
    let function = &program.functions[finished.built.launch.kernel];
    let mut origins = BTreeMap::new();
    let mut last = source.line(function.span.end);
    let places = function.blocks.iter().flat_map(|block| {
        let instructions =
            block.instructions.iter().map(|instruction| (instruction.span, instruction.location));
        instructions.chain([(block.span, block.location)])
    });
    for (span, location) in places {
        let line = source.line(span.start);
        last = last.max(line);
        let lines = source_lines(exec::Place { span, location }, program);
        let shown = lines.iter().find_map(|line| {
            let file = input.source_file(line.file.as_deref()?)?;
            Some((relative(file.name()), line.line))
        });
        if let Some(shown) = shown {
            origins.entry(line).or_insert(shown);
        }
    }
    if origins.is_empty() {
        return None;
    }
    let first = source.line(function.span.start);
    // The brace that ends the kernel is on a line of its own.
    let count = (last.saturating_sub(first) as usize).saturating_add(2);
    let all = source.text().lines().skip(first.saturating_sub(1) as usize).take(count);
    let lines: Vec<String> = all.take(MAX_LINES).map(str::to_owned).collect();
    let left_out = count - lines.len().min(count);
    Some(PtxText {
        path: relative(source.name()),
        kernel: shown_kernel(finished),
        side,
        first,
        left_out: if lines.len() < MAX_LINES { 0 } else { left_out },
        lines,
        origins,
    })
}
