//! Pipelines of the first block as a timeline: a row for each mbarrier, and time from left to right, counted in ends
//! of phases. A bar is a phase, from the end of the one before it on the same mbarrier to its own end. The table below
//! the picture ([`super::pipelines`]) has everything in words.

use crate::render::escape::quoted;
use crate::report::{Pipeline, PipelinePhase};
use std::collections::BTreeSet;

/// Width of the names, of one step of time, and height of a row.
const NAMES: usize = 150;
const STEP: usize = 46;
const ROW: usize = 30;

/// Steps of time that are drawn.
const MAX_STEPS: usize = 48;

pub(super) fn render(pipelines: &[Pipeline]) -> String {
    let phases = pipelines.iter().flat_map(|pipeline| &pipeline.phases);
    let ends: BTreeSet<u32> = phases.filter_map(|phase| phase.ended).collect();
    let ends: Vec<u32> = ends.into_iter().collect();
    // For a single mbarrier, a row of consecutive phases shows nothing.
    if ends.len() < 2 {
        return String::new();
    }
    let steps = ends.len().min(MAX_STEPS);
    // The last column is for phases that never end.
    let (width, height) = (NAMES + (steps + 1) * STEP, pipelines.len() * ROW + 26);
    let rows = pipelines.iter().enumerate();
    let rows: String = rows.map(|(number, one)| row(one, number * ROW, &ends[..steps])).collect();
    let axis = height - 8;
    let more = match ends.len() - steps {
        0 => String::new(),
        more => format!(" {more} later ends are not drawn."),
    };
    format!(
        "<figure class=\"timeline\"><div class=\"scrolls\" role=\"region\" aria-label=\"Timeline of the mbarriers\" tabindex=\"0\">\
         <svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"Phases of {} mbarriers over time; the table below has them in words\">\n{rows}\
         <text class=\"faint\" x=\"{NAMES}\" y=\"{axis}\">time, in ends of phases \u{2192}</text>\n</svg></div>\
         <figcaption>Numbers are phases. A bar ends when its phase ends; dashed: it never ends; thick red frame: a finding.{more}\
         </figcaption></figure>\n",
        pipelines.len()
    )
}

fn row(pipeline: &Pipeline, y: usize, ends: &[u32]) -> String {
    let mut text = format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
        NAMES - 8,
        y + 19,
        quoted(&cut(&pipeline.mbarrier))
    );
    let mut start = 0;
    for phase in &pipeline.phases {
        let Some(number) = phase.phase else { continue };
        let end = match phase.ended {
            Some(ended) => match ends.binary_search(&ended) {
                Ok(at) => at + 1,
                Err(_) => break,
            },
            None => ends.len() + 1,
        };
        // A phase whose predecessors are left out begins right before its end.
        let left_out = pipeline.left_out > 0 && start == 0;
        let from = if left_out && number > 0 { end.saturating_sub(1) } else { start };
        text.push_str(&bar(
            phase,
            number,
            (NAMES + from * STEP, y),
            end.saturating_sub(from) * STEP,
        ));
        start = end;
    }
    text
}

fn bar(phase: &PipelinePhase, number: u64, (x, y): (usize, usize), width: usize) -> String {
    let never = if phase.ended.is_none() { " never" } else { "" };
    let faulty = if phase.faulty { " faulty" } else { "" };
    let PipelinePhase { arrivals, expected, bytes, expected_bytes, .. } = phase;
    format!(
        "<rect class=\"bar{never}{faulty}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"22\" rx=\"3\"><title>phase {number}: \
         {arrivals}/{expected} arrivals, {bytes}/{expected_bytes} bytes</title></rect>\n<text x=\"{}\" y=\"{}\" \
         text-anchor=\"middle\" aria-hidden=\"true\">{number}</text>\n",
        x + 1,
        y + 4,
        width.saturating_sub(2).max(4),
        x + width / 2,
        y + 19
    )
}

/// The end of a name distinguishes the mbarriers of one array.
fn cut(name: &str) -> String {
    let count = name.chars().count();
    match count.checked_sub(18) {
        None | Some(0) => name.to_owned(),
        Some(more) => format!("\u{2026}{}", name.chars().skip(more + 1).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_the_order_of_ends() {
        let phase = |phase: u64, ended: Option<u32>| PipelinePhase {
            phase: Some(phase),
            ended,
            arrivals: 1,
            expected: 1,
            bytes: 0,
            expected_bytes: 0,
            faulty: ended.is_none(),
            contributions: Vec::new(),
            waits: Vec::new(),
        };
        let pipeline = |name: &str, phases: Vec<PipelinePhase>| Pipeline {
            mbarrier: name.to_owned(),
            phases,
            left_out: 0,
        };
        let full = pipeline("<full>[0]", vec![phase(0, Some(1)), phase(1, Some(3))]);
        let empty = pipeline("empty[0]", vec![phase(0, Some(2)), phase(1, None)]);
        let html = render(&[full, empty]);
        assert!(html.contains("&lt;full&gt;[0]") && !html.contains("<full>"), "{html}");
        // The first phase of `empty` ends one step after that of `full`.
        let width = |steps: usize| format!("width=\"{}\" height=\"22\"", steps * STEP - 2);
        assert_eq!(html.matches(&width(1)).count(), 1, "{html}");
        assert_eq!(html.matches(&width(2)).count(), 3, "{html}");
        assert_eq!(html.matches("bar never faulty").count(), 1, "{html}");
        assert_eq!(render(&[pipeline("one", vec![phase(0, Some(1))])]), "");
    }
}
