//! The barrier dependence graph of the first block (`graph.rs` explains its edges), drawn from top to bottom in the
//! order in which uses ended.

use crate::render::escape::quoted;
use crate::report::{BarrierEdge, Barriers, Report};

/// The largest graph that is drawn, in uses.
const MAX_USES: usize = 60;

const X: usize = 400;
const WIDTH: usize = 420;
const LINE: usize = 16;

pub(super) fn render(report: &Report) -> String {
    let Some(barriers) = report.barriers.as_ref().filter(|graph| !graph.uses.is_empty()) else {
        return String::new();
    };
    if barriers.uses.len() > MAX_USES {
        let count = barriers.uses.len();
        return format!(
            "<h3>Barriers</h3>\n<p>{count} uses in the first block; --graph writes them all.</p>\n"
        );
    }
    let (picture, height) = picture(barriers);
    let width = X * 2;
    format!(
        "<h3>Barriers of the first block</h3>\n<figure class=\"barriers\"><div class=\"scrolls\" role=\"region\" \
         aria-label=\"Uses of barriers\" tabindex=\"0\"><svg viewBox=\"0 0 {width} \
         {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"Uses of barriers; \
         the table below has them in words\">\n{picture}</svg></div><figcaption>A box is one use of a barrier; dashed: it never \
         ended. A line leads to the next use; dashed: its warps arrive without waiting.</figcaption>\n{}</figure>\n",
        table(barriers)
    )
}

/// The edges in words.
fn table(barriers: &Barriers) -> String {
    let name = |at: usize| {
        barriers.uses.get(at).map_or("", |one| one.label.lines().next().unwrap_or_default())
    };
    let row = |edge: &BarrierEdge| {
        let how = if edge.waits { "waits for" } else { "arrives, without waiting, then" };
        format!(
            "<tr><td>{}</td><td>{how}</td><td>{}</td><td>{}</td></tr>\n",
            quoted(name(edge.from)),
            quoted(name(edge.to)),
            quoted(&edge.label)
        )
    };
    let rows: String = barriers.edges.iter().map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<details><summary>As a table</summary>\n<table>\n<thead><tr><th scope=\"col\">From</th><th scope=\"col\">How</th>\
         <th scope=\"col\">To</th><th scope=\"col\">Who</th></tr></thead>\n<tbody>\n{rows}</tbody></table></details>\n"
    )
}

fn picture(barriers: &Barriers) -> (String, usize) {
    let (mut text, mut y) = (String::new(), 10);
    let mut tops = Vec::new();
    for one in &barriers.uses {
        let lines: Vec<&str> = one.label.lines().collect();
        let height = lines.len() * LINE + 10;
        let dash = if one.complete { "" } else { " stroke-dasharray=\"5 4\"" };
        text.push_str(&format!(
            "<rect class=\"box\" x=\"{}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{height}\" rx=\"4\"{dash}/>\n",
            X - WIDTH / 2
        ));
        for (number, line) in lines.iter().enumerate() {
            text.push_str(&format!(
                "<text x=\"{X}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                y + (number + 1) * LINE,
                quoted(line)
            ));
        }
        tops.push((y, y + height));
        y += height + 40;
    }
    for edge in &barriers.edges {
        let (Some(&(_, from)), Some(&(to, _))) = (tops.get(edge.from), tops.get(edge.to)) else {
            continue;
        };
        let dash = if edge.waits { "" } else { " stroke-dasharray=\"5 4\"" };
        text.push_str(&arrow(edge, from, to, dash));
    }
    (text, y)
}

/// Draws neighbours with a straight edge, others with a bow beside the boxes: to the right going down, to the left
/// going up.
fn arrow(edge: &BarrierEdge, from: usize, to: usize, dash: &str) -> String {
    let side = WIDTH / 2;
    let label = quoted(&edge.label);
    if edge.to == edge.from + 1 {
        let x = if edge.waits { X } else { X + 60 };
        return format!(
            "<line class=\"axis\" x1=\"{x}\" y1=\"{from}\" x2=\"{x}\" y2=\"{to}\"{dash}/>\n<text x=\"{}\" \
             y=\"{}\">{label}</text>\n",
            x + 6,
            usize::midpoint(from, to) + 4
        );
    }
    let down = edge.to > edge.from;
    let (edge_x, bow) = if down { (X + side, X + side + 90) } else { (X - side, X - side - 90) };
    let (start, end) = (from.saturating_sub(12), to + 12);
    let (text_x, anchor) = if down { (bow - 20, "start") } else { (bow + 20, "end") };
    format!(
        "<path d=\"M {edge_x} {start} C {bow} {start} {bow} {end} {edge_x} {end}\" fill=\"none\" \
         class=\"axis\"{dash}/>\n<text x=\"{text_x}\" y=\"{}\" text-anchor=\"{anchor}\">{label}</text>\n",
        usize::midpoint(start, end) + 4
    )
}
