//! The barrier dependence graph of a block, for Graphviz: one node for each use of a barrier, and how
//! warps go from one to the next (Sharma, Bauer and Aiken, "Verification of producer-consumer
//! synchronization in GPU programs", 2015, Figures 6 and 7).
//!
//! A solid edge is a wait: some warp waited for the first use to be complete before it came to the
//! second, so the one happens before the other. A dashed edge is a warp that only arrived and went
//! on: it orders its own two arrivals and nothing else. Uses that not everybody came to are dashed.

use crate::render::escape;
use crate::report;
use crate::source_lines::outermost_line;
use base::SourceFile;
use exec::{BarrierArrival, BarrierUse, Place};
use ir::Program;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The graph as text.
pub(crate) fn render(uses: &[BarrierUse], program: &Program, source: &SourceFile) -> String {
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
    for ((from, to, waits), warps) in edges(uses) {
        let style = if waits { "" } else { ", style=dashed" };
        let warps = ranges(&warps);
        let _ = writeln!(text, "    u{from} -> u{to} [label=\"{warps}\"{style}];");
    }
    text.push_str("}\n");
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
    let edges = edges(uses).into_iter().map(|((from, to, waits), warps)| {
        let label = ranges(&warps);
        report::BarrierEdge { from, to, label, waits }
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
        let at = match outermost_line(place, program) {
            Some((file, line)) => {
                format!("{}:{line}", escape::line(file)).replace(['"', '\\'], "_")
            }
            None => format!("PTX line {}", source.line(place.span.start)),
        };
        let _ = write!(text, "\\n{} {does} at {at}", ranges(&warps));
    }
    text
}

/// From each use to the next of the same warp: the warps, by whether they waited in the first.
fn edges(uses: &[BarrierUse]) -> BTreeMap<(usize, usize, bool), Vec<usize>> {
    // A use may end after one that its warps came to later.
    let mut order: BTreeMap<usize, Vec<(u32, usize, bool)>> = BTreeMap::new();
    for (number, one) in uses.iter().enumerate() {
        for &BarrierArrival { warp, waits, time, .. } in &one.arrivals {
            order.entry(warp).or_default().push((time, number, waits));
        }
    }
    let mut edges: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (warp, mut uses) in order {
        uses.sort_unstable();
        for pair in uses.windows(2) {
            if let &[(_, from, waits), (_, to, _)] = pair {
                edges.entry((from, to, waits)).or_default().push(warp);
            }
        }
    }
    edges
}

/// `warps 0-3, 7`
fn ranges(warps: &[usize]) -> String {
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
