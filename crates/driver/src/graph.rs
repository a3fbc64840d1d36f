//! The barrier dependence graph of a block, for Graphviz: one node for each use of a barrier, and how
//! warps go from one to the next (Sharma, Bauer and Aiken, "Verification of producer-consumer
//! synchronization in GPU programs", 2015, Figures 6 and 7).
//!
//! A solid edge is a wait: some warp waited for the first use to be complete before it came to the
//! second, so the one happens before the other. A dashed edge is a warp that only arrived and went
//! on: it orders its own two arrivals and nothing else. Uses that not everybody came to are dashed.
//!
//! Phases of mbarriers are nodes as well, those of one mbarrier in a box. A warp that arrives, announces bytes or issues a
//! copy there goes on; one that waits has waited. Phases with a finding are red. Of a long pipeline the first and last
//! phases are drawn, so a node there may follow one that is left out.

use crate::pipelines;
use crate::render::escape;
use crate::report::{self, Pipeline, PipelinePhase};
use base::SourceFile;
use exec::{BarrierArrival, BarrierUse, MbarrierUse, Outcome, PhaseEventKind, Place};
use ir::Program;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The graph as text; `pipelines` are the mbarriers of `outcome`.
pub(crate) fn render(
    outcome: &Outcome,
    pipelines: &[Pipeline],
    (program, source): (&Program, &SourceFile),
) -> String {
    let uses = &outcome.barrier_uses;
    let mut text = String::from(
        "// Uses of barriers in the first block. Solid: waits for. Dashed: arrives and goes on.\n\
         digraph barriers {\n    node [shape=box, fontname=monospace];\n",
    );
    let mut counts = [0; 16];
    for (number, one) in uses.iter().enumerate() {
        counts[usize::from(one.id) % 16] += 1;
        let label = label(one, counts[usize::from(one.id) % 16], program, source);
        let style = if one.complete { "" } else { ", style=dashed" };
        let _ = writeln!(text, "    u{number} [label=\"{label}\"{style}];");
    }
    for (row, pipeline) in pipelines.iter().enumerate() {
        text.push_str(&cluster(row, pipeline));
    }
    let visits = visits(uses).into_iter().map(|(warp, at, node, waits)| {
        let name = format!("u{node}");
        (warp, at, (0, node), name, waits)
    });
    let visits = visits.chain(phase_visits(&outcome.mbarrier_uses));
    for ((_, from), (_, to), waits, warps) in edges(visits) {
        let style = if waits { "" } else { ", style=dashed" };
        let warps = ranges(&warps);
        let _ = writeln!(text, "    {from} -> {to} [label=\"{warps}\"{style}];");
    }
    text.push_str("}\n");
    text
}

/// The phases of an mbarrier, in a box of their own.
fn cluster(row: usize, pipeline: &Pipeline) -> String {
    let name = escape::line(&pipeline.mbarrier).replace(['"', '\\'], "_");
    let mut text = format!("    subgraph cluster_m{row} {{\n        label=\"mbarrier {name}");
    if pipeline.left_out > 0 {
        let _ = write!(text, ", {} phases left out", pipeline.left_out);
    }
    text.push_str("\";\n");
    for (number, phase) in pipeline.phases.iter().enumerate() {
        let style = match (phase.faulty, phase.ended.is_none() && phase.phase.is_some()) {
            (true, true) => ", color=red, style=dashed",
            (true, false) => ", color=red",
            (false, true) => ", style=dashed",
            (false, false) => "",
        };
        let label = phase_label(&name, phase);
        let _ = writeln!(text, "        m{row}p{number} [label=\"{label}\"{style}];");
    }
    text.push_str("    }\n");
    text
}

/// `full[0], phase 1`, and below it what it counted and who took part.
fn phase_label(name: &str, phase: &PipelinePhase) -> String {
    let mut text = match phase.phase {
        Some(number) => format!("{name}, phase {number}"),
        None => format!("{name}, before phase 0"),
    };
    if phase.phase.is_some() {
        let _ = write!(text, "\\n{} of {} arrivals", phase.arrivals, phase.expected);
    }
    if (phase.bytes, phase.expected_bytes) != (0, 0) {
        let _ = write!(text, ", {} of {} bytes", phase.bytes, phase.expected_bytes);
    }
    if phase.ended.is_none() && phase.phase.is_some() {
        text.push_str("\\nnot complete");
    }
    for part in phase.contributions.iter().chain(&phase.waits) {
        let bytes = match (part.bytes, part.operation) {
            (0, _) => String::new(),
            (bytes, "arrive") => format!(", expect {bytes} bytes"),
            (bytes, _) => format!(" {bytes} bytes"),
        };
        let _ =
            write!(text, "\\n{}: {}{bytes} at {}", ranges(&part.warps), part.operation, part.at);
    }
    text
}

/// The graph as data; nothing if no use was kept.
pub(crate) fn data(
    uses: &[BarrierUse],
    program: &Program,
    source: &SourceFile,
) -> Option<report::Barriers> {
    let mut counts = [0; 16];
    let nodes = uses.iter().map(|one| {
        counts[usize::from(one.id) % 16] += 1;
        let label = label(one, counts[usize::from(one.id) % 16], program, source);
        report::BarrierUse { label: label.replace("\\n", "\n"), complete: one.complete }
    });
    let nodes: Vec<report::BarrierUse> = nodes.collect();
    let visits = visits(uses).into_iter();
    let visits = visits.map(|(warp, at, node, waits)| (warp, at, (0, node), String::new(), waits));
    let edges = edges(visits).into_iter().map(|(from, to, waits, warps)| {
        let label = ranges(&warps);
        report::BarrierEdge { from: from.0.1, to: to.0.1, label, waits }
    });
    (!nodes.is_empty()).then(|| report::Barriers { uses: nodes, edges: edges.collect() })
}

/// `barrier 1, use 2`, and below it who came where.
fn label(one: &BarrierUse, number: u32, program: &Program, source: &SourceFile) -> String {
    let mut text = format!("barrier {}, use {number}", one.id);
    if let Some(count) = one.count {
        let _ = write!(text, " of {count} threads");
    }
    if !one.complete {
        text.push_str("\\nnot complete");
    }
    let mut places: BTreeMap<(bool, Place), Vec<usize>> = BTreeMap::new();
    for arrival in &one.arrivals {
        places.entry((!arrival.waits, arrival.place)).or_default().push(arrival.warp);
    }
    for ((arrives, place), mut warps) in places {
        warps.sort_unstable();
        let does = match (arrives, warps.len()) {
            (true, 1) => "arrives",
            (true, _) => "arrive",
            (false, 1) => "waits",
            (false, _) => "wait",
        };
        let at = pipelines::at(place, program, source);
        let _ = write!(text, "\\n{} {does} at {at}", ranges(&warps));
    }
    text
}

/// When a warp came: its own count of what it does, and among events of one time their order. A barrier of the block begins a
/// new time.
type When = (u32, u32);

/// A node of the graph: whether it is a phase and which mbarrier, its number, its name.
type Node = ((usize, usize), String);

/// Who came to which use, and whether it waited there.
fn visits(uses: &[BarrierUse]) -> Vec<(usize, When, usize, bool)> {
    let each = uses.iter().enumerate();
    let visits = each.flat_map(|(number, one)| {
        one.arrivals
            .iter()
            .map(move |&BarrierArrival { warp, waits, time, .. }| (warp, (time, 0), number, waits))
    });
    visits.collect()
}

/// The same for phases of mbarriers.
fn phase_visits(uses: &[MbarrierUse]) -> Vec<(usize, When, (usize, usize), String, bool)> {
    let mut visits = Vec::new();
    for (row, one) in uses.iter().enumerate() {
        for (number, phase) in one.phases.iter().enumerate() {
            for event in &phase.events {
                let (node, name) = ((row + 1, number), format!("m{row}p{number}"));
                let waits = event.kind == PhaseEventKind::Wait;
                visits.push((event.warp, (event.time, event.sequence), node, name, waits));
            }
        }
    }
    visits
}

/// From each node to the next of the same warp: the warps, by whether they waited in the first. What a warp does twice in
/// a row at a node is one visit.
fn edges(
    visits: impl Iterator<Item = (usize, When, (usize, usize), String, bool)>,
) -> Vec<(Node, Node, bool, Vec<usize>)> {
    // A use may end after one that its warps came to later.
    let mut order: BTreeMap<usize, Vec<(When, (usize, usize), String, bool)>> = BTreeMap::new();
    for (warp, when, node, name, waits) in visits {
        order.entry(warp).or_default().push((when, node, name, waits));
    }
    let mut edges: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (warp, mut visits) in order {
        visits.sort_unstable();
        visits.dedup_by(|later, earlier| {
            let same = later.1 == earlier.1;
            earlier.3 |= same && later.3;
            same
        });
        for pair in visits.windows(2) {
            if let [(_, from, from_name, waits), (_, to, to_name, _)] = pair {
                let key = ((*from, from_name.clone()), (*to, to_name.clone()), *waits);
                edges.entry(key).or_default().push(warp);
            }
        }
    }
    edges.into_iter().map(|((from, to, waits), warps)| (from, to, waits, warps)).collect()
}

/// `warps 0-3, 7`
pub(crate) fn ranges(warps: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &warp in warps {
        match parts.last_mut() {
            Some((_, end)) if *end + 1 == warp => *end = warp,
            _ => parts.push((warp, warp)),
        }
    }
    let part = |&(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let word = if warps.len() == 1 { "warp" } else { "warps" };
    format!("{word} {}", parts.iter().map(part).collect::<Vec<_>>().join(", "))
}
