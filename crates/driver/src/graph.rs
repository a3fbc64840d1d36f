//! The barrier dependence graph of a block, for Graphviz: one node for each use of a barrier, and an edge for warps
//! that pass from one to the next (Sharma, Bauer and Aiken, "Verification of producer-consumer synchronization in GPU
//! programs", 2015, Figures 6 and 7).
//!
//! A solid edge is a wait: some warp waited for the first use to complete before it reached the second, so the first
//! happens before the second. A dashed edge is a warp that arrived at the first use without waiting: only this warp's
//! own two arrivals are ordered. Incomplete uses have a dashed border.
//!
//! Phases of mbarriers are nodes as well, those of one mbarrier in a box. A warp that arrives, announces bytes or
//! issues a copy does not wait there; a wait is a solid edge, as for barriers. Phases with a finding are red. Of a
//! long pipeline only the first and last phases are drawn, so the predecessor of a node may be missing.

use crate::pipelines;
use crate::render::escape;
use crate::report::{self, Pipeline, PipelinePhase};
use base::SourceFile;
use exec::{BarrierArrival, BarrierUse, MbarrierUse, Outcome, PhaseEventKind, Place};
use ir::Program;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Renders the graph as text; `pipelines` are the mbarriers of `outcome`.
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
    let mut uses_so_far = [0; 16];
    for (number, one) in uses.iter().enumerate() {
        uses_so_far[usize::from(one.id) % 16] += 1;
        let label = use_label(one, uses_so_far[usize::from(one.id) % 16], program, source);
        let style = if one.complete { "" } else { ", style=dashed" };
        let _ = writeln!(text, "    u{number} [label=\"{label}\"{style}];");
    }
    for (row, pipeline) in pipelines.iter().enumerate() {
        text.push_str(&mbarrier_box(row, pipeline));
    }
    let visits = [visits(uses), phase_visits(&outcome.mbarrier_uses)].concat();
    for ((from, to, waits), warps) in edges(visits) {
        let (from, to) = (from.name(), to.name());
        let style = if waits { "" } else { ", style=dashed" };
        let warps = ranges(&warps);
        let _ = writeln!(text, "    {from} -> {to} [label=\"{warps}\"{style}];");
    }
    text.push_str("}\n");
    text
}

/// Renders the phases of an mbarrier, in a box.
fn mbarrier_box(row: usize, pipeline: &Pipeline) -> String {
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

/// Formats the label of a phase: `full[0], phase 1`, and below it its counts and participants.
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

/// Returns the uses of barriers and their edges for reports; `None` if no use was recorded.
pub(crate) fn data(
    uses: &[BarrierUse],
    program: &Program,
    source: &SourceFile,
) -> Option<report::Barriers> {
    let mut uses_so_far = [0; 16];
    let nodes = uses.iter().map(|one| {
        uses_so_far[usize::from(one.id) % 16] += 1;
        let label = use_label(one, uses_so_far[usize::from(one.id) % 16], program, source);
        report::BarrierUse { label: label.replace("\\n", "\n"), complete: one.complete }
    });
    let nodes: Vec<report::BarrierUse> = nodes.collect();
    let edges = edges(visits(uses)).into_iter().filter_map(|((from, to, waits), warps)| {
        let (Node::Use(from), Node::Use(to)) = (from, to) else { return None };
        Some(report::BarrierEdge { from, to, label: ranges(&warps), waits })
    });
    (!nodes.is_empty()).then(|| report::Barriers { uses: nodes, edges: edges.collect() })
}

/// Formats the label of a barrier use: `barrier 1, use 2`, and below it the threads and where they arrived.
fn use_label(one: &BarrierUse, number: u32, program: &Program, source: &SourceFile) -> String {
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
        let at = pipelines::line_name(place, program, source);
        let _ = write!(text, "\\n{} {does} at {at}", ranges(&warps));
    }
    text
}

/// A node of the graph: the number of a barrier use, or of an mbarrier and its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Use(usize),
    Phase(usize, usize),
}

impl Node {
    fn name(self) -> String {
        match self {
            Self::Use(number) => format!("u{number}"),
            Self::Phase(row, number) => format!("m{row}p{number}"),
        }
    }
}

/// A warp that reaches a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    warp: usize,
    /// The time on the warp's own clock, which advances at barriers of the block, and the order of events at the same
    /// time.
    when: (u32, u32),
    node: Node,
    waits: bool,
}

/// Collects the visits of warps to barrier uses.
fn visits(uses: &[BarrierUse]) -> Vec<Visit> {
    let each = uses.iter().enumerate();
    let visits = each.flat_map(|(number, one)| {
        one.arrivals.iter().map(move |&BarrierArrival { warp, waits, time, .. }| Visit {
            warp,
            when: (time, 0),
            node: Node::Use(number),
            waits,
        })
    });
    visits.collect()
}

/// Collects the visits of warps to phases of mbarriers.
fn phase_visits(uses: &[MbarrierUse]) -> Vec<Visit> {
    let mut visits = Vec::new();
    for (row, one) in uses.iter().enumerate() {
        for (number, phase) in one.phases.iter().enumerate() {
            visits.extend(phase.events.iter().map(|event| Visit {
                warp: event.warp,
                when: (event.time, event.sequence),
                node: Node::Phase(row, number),
                waits: event.kind == PhaseEventKind::Wait,
            }));
        }
    }
    visits
}

/// Returns the edges from each node to the next node of the same warp, each with its warps. The flag of an edge is set
/// if the warps waited at the first node. Consecutive events of a warp at a node are one visit.
fn edges(mut visits: Vec<Visit>) -> BTreeMap<(Node, Node, bool), Vec<usize>> {
    // Uses are listed in the order of their ends, which may differ from the order in which a warp reached them.
    visits.sort_unstable();
    visits.dedup_by(|later, earlier| {
        let same = (later.warp, later.node) == (earlier.warp, earlier.node);
        earlier.waits |= same && later.waits;
        same
    });
    let mut edges: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for pair in visits.windows(2) {
        if let [from, to] = pair
            && from.warp == to.warp
        {
            edges.entry((from.node, to.node, from.waits)).or_default().push(from.warp);
        }
    }
    edges
}

/// Formats warps as ranges: `warps 0-3, 7`
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
