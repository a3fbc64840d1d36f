//! Pipelines of the first block as a table: a row for each mbarrier, a column for each phase. A cell has the phase's
//! counts, its contributors and its waiters; phases with a finding are marked in colour and in words.
//!
//! A table reads well even without a picture. It is as bounded as the log it is made from, and has at most [`MAX_ROWS`]
//! rows.

use super::timeline;
use crate::graph::ranges;
use crate::render::escape::quoted;
use crate::report::{Pipeline, PipelinePart, PipelinePhase, Report};
use std::collections::BTreeSet;

/// More mbarriers than these are left to `--graph`.
const MAX_ROWS: usize = 32;

pub(super) fn render(report: &Report) -> String {
    let pipelines = &report.pipelines;
    if pipelines.is_empty() {
        return String::new();
    }
    let columns = columns(&pipelines[..pipelines.len().min(MAX_ROWS)]);
    let head: String = columns.iter().map(|column| heading(*column)).collect();
    let rows: String =
        pipelines.iter().take(MAX_ROWS).map(|pipeline| row(pipeline, &columns)).collect();
    let more = match pipelines.len().saturating_sub(MAX_ROWS) {
        0 => String::new(),
        more => format!("<p>{more} more mbarriers; --graph writes them all.</p>\n"),
    };
    let picture = timeline::render(&pipelines[..pipelines.len().min(MAX_ROWS)]);
    format!(
        "<h3>Pipelines of the first block</h3>\n{picture}<figure class=\"pipelines\"><div class=\"scrolls\" role=\"region\" \
         aria-label=\"Phases of the mbarriers\" tabindex=\"0\">\n<table>\n<caption class=\"unseen\">Mbarriers and their phases</caption>\n\
         <thead><tr><th scope=\"col\">mbarrier</th>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table></div>\n<figcaption>\u{25b2} contributes to the phase; \u{25bc} waits for it; #n: the n-th \
         phase of the block to end; a/b: came, expected; PTX:n: line n of the PTX; dashed: never ended</figcaption></figure>\n{more}"
    )
}

/// A phase, or phases that are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Before,
    Phase(u64),
    Gap,
}

fn columns(pipelines: &[Pipeline]) -> Vec<Column> {
    let phases = pipelines.iter().flat_map(|pipeline| &pipeline.phases);
    let numbers: BTreeSet<Option<u64>> = phases.map(|phase| phase.phase).collect();
    let mut columns = Vec::new();
    let mut last = None;
    for number in numbers {
        match (number, last) {
            (None, _) => columns.push(Column::Before),
            (Some(number), Some(last)) if number > last + 1 => {
                columns.extend([Column::Gap, Column::Phase(number)]);
            }
            (Some(number), _) => columns.push(Column::Phase(number)),
        }
        last = number;
    }
    columns
}

fn heading(column: Column) -> String {
    match column {
        Column::Before => "<th scope=\"col\">before phase 0</th>".to_owned(),
        Column::Phase(number) => format!("<th scope=\"col\">phase {number}</th>"),
        Column::Gap => "<th scope=\"col\" class=\"gap\">\u{2026}</th>".to_owned(),
    }
}

fn row(pipeline: &Pipeline, columns: &[Column]) -> String {
    let mut said_gap = false;
    let cells: String = columns
        .iter()
        .map(|column| {
            let number = match column {
                Column::Before => None,
                Column::Phase(number) => Some(*number),
                Column::Gap if pipeline.left_out > 0 && !said_gap => {
                    said_gap = true;
                    return format!("<td class=\"gap\">{} more</td>", pipeline.left_out);
                }
                Column::Gap => return "<td class=\"gap\"></td>".to_owned(),
            };
            match pipeline.phases.iter().find(|phase| phase.phase == number) {
                Some(phase) => cell(phase),
                None => "<td></td>".to_owned(),
            }
        })
        .collect();
    format!("<tr><th scope=\"row\"><code>{}</code></th>{cells}</tr>\n", quoted(&pipeline.mbarrier))
}

fn cell(phase: &PipelinePhase) -> String {
    let mut classes = vec!["phase"];
    let never = phase.ended.is_none() && phase.phase.is_some();
    classes.extend(never.then_some("never"));
    classes.extend(phase.faulty.then_some("faulty"));
    let mut text = format!("<td><div class=\"{}\">", classes.join(" "));
    if phase.phase.is_some() {
        text.push_str(&counts(phase));
    }
    if phase.faulty {
        text.push_str("<b class=\"mark\">finding</b>");
    }
    for (sign, parts) in [("\u{25b2}", &phase.contributions), ("\u{25bc}", &phase.waits)] {
        let class = if sign == "\u{25b2}" { "gives" } else { "waits" };
        for one in parts {
            text.push_str(&format!(
                "<span class=\"{class}\"><i aria-hidden=\"true\">{sign}</i> {}</span>",
                part(one)
            ));
        }
    }
    text.push_str("</div></td>");
    text
}

/// The counts of a phase: `#3 1/1 arrivals, 256/256 B`
fn counts(phase: &PipelinePhase) -> String {
    let order = match phase.ended {
        Some(number) => format!("<i>#{number}</i> "),
        None => String::new(),
    };
    let bytes = match (phase.bytes, phase.expected_bytes) {
        (0, 0) => String::new(),
        (bytes, expected) => format!(", {bytes}/{expected} B"),
    };
    format!("<span>{order}{}/{} arrivals{bytes}</span>", phase.arrivals, phase.expected)
}

/// Formats a participant: `copy 256 B, warp 0, PTX:35`
fn part(part: &PipelinePart) -> String {
    let bytes = match (part.bytes, part.operation) {
        (0, _) => String::new(),
        (bytes, "arrive") => format!(", expect {bytes} B"),
        (bytes, _) => format!(" {bytes} B"),
    };
    let who = ranges(&part.warps);
    let threads = match part.threads as usize == part.warps.len() * 32 {
        true => String::new(),
        false if part.threads == 1 => " (1 thread)".to_owned(),
        false => format!(" ({} threads)", part.threads),
    };
    let at = quoted(&part.at).replace("PTX line ", "PTX:");
    format!("{}{bytes}, <small>{who}{threads}, {at}</small>", part.operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(phase: Option<u64>) -> PipelinePhase {
        let part = PipelinePart {
            operation: "copy",
            at: "<k>:1".to_owned(),
            warps: vec![0],
            threads: 1,
            bytes: 256,
        };
        PipelinePhase {
            phase,
            ended: Some(1),
            arrivals: 1,
            expected: 1,
            bytes: 256,
            expected_bytes: 512,
            faulty: true,
            contributions: vec![part],
            waits: Vec::new(),
        }
    }

    #[test]
    fn a_gap_between_phases_is_one_column() {
        let phases = [None, Some(0), Some(1), Some(9)].map(phase).into();
        let pipeline = Pipeline { mbarrier: "bar[0]".to_owned(), phases, left_out: 7 };
        let columns = columns(std::slice::from_ref(&pipeline));
        let (gap, at) = (Column::Gap, Column::Phase);
        assert!(columns == [Column::Before, at(0), at(1), gap, at(9)]);
        let row = row(&pipeline, &columns);
        assert!(row.contains("<td class=\"gap\">7 more</td>"), "{row}");
        assert_eq!(row.matches("<td").count(), 5);
    }

    #[test]
    fn names_are_quoted_and_findings_are_said_in_words() {
        let cell = cell(&phase(Some(3)));
        assert!(cell.contains("256/512 B") && cell.contains("&lt;k&gt;"), "{cell}");
        assert!(cell.contains("finding") && !cell.contains("<k>"), "{cell}");
    }
}
