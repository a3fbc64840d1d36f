//! Coverage of the kernels by their runs, as data and in a sentence.

use super::{Coverage, Report, SourceRanges};
use crate::demangle::demangle;
use crate::execute::FinishedRun;
use crate::verdict::Verdict;

/// Ranges of lines that a sentence names.
const SHOWN: usize = 8;

/// The coverage of the launches of a side, those of one kernel together; the last kernel first. `None` if nothing was
/// run.
pub(super) fn of_launches(launches: &[&FinishedRun<'_>]) -> Option<Coverage> {
    let mut kernels: Vec<Vec<&FinishedRun<'_>>> = Vec::new();
    for &launch in launches.iter().rev().filter(|launch| !launch.is_formula) {
        match kernels.iter_mut().find(|known| known[0].is_of_same_kernel(launch)) {
            Some(known) => known.push(launch),
            None => kernels.push(vec![launch]),
        }
    }
    let mut all = kernels.iter().map(|runs| of_kernel(runs[0], &runs[1..]));
    let last = all.next()?;
    Some(Coverage { before: all.collect(), ..last })
}

fn of_kernel(run: &FinishedRun<'_>, others: &[&FinishedRun<'_>]) -> Coverage {
    let seen = run.coverage(others);
    let pairs = |ranges: &[(u32, u32)]| ranges.iter().map(|&(a, b)| [a, b]).collect();
    let sources = seen.sources.iter();
    let name = &run.program().functions[run.built.launch.kernel].name;
    Coverage {
        kernel: demangle(name).unwrap_or_else(|| name.clone()),
        instructions: seen.instructions,
        executed: seen.executed,
        unexecuted_lines: pairs(&seen.lines),
        unexecuted_sources: sources
            .map(|(file, lines)| SourceRanges {
                file: crate::paths::relative(file),
                lines: pairs(lines),
            })
            .collect(),
        before: Vec::new(),
    }
}

impl Report {
    /// A sentence for each kernel with unexecuted parts, the reference's first. It qualifies a proof, so there is
    /// none if something is wrong, nothing is proved or a run stopped.
    pub(crate) fn unexecuted(&self) -> Vec<String> {
        let proves = self.properties.iter().any(|property| property.verdict == Verdict::Proved);
        if self.stopped.is_some() || !proves || self.verdict == Verdict::Refuted {
            return Vec::new();
        }
        let reference = self.reference.as_ref().and_then(|one| one.coverage.as_ref());
        let side = |name: &'static str| if self.reference.is_some() { name } else { "" };
        let sides =
            [(reference, side("reference: ")), (self.coverage.as_ref(), side("optimised: "))];
        let mut sentences = Vec::new();
        for (coverage, side) in sides {
            let Some(coverage) = coverage else { continue };
            let several = !coverage.before.is_empty();
            for one in coverage.before.iter().rev().chain([coverage]) {
                let kernel = if several { format!("{}: ", one.kernel) } else { String::new() };
                sentences.extend(one.sentence().map(|text| format!("{side}{kernel}{text}")));
            }
        }
        sentences
    }
}

impl Coverage {
    /// `118 of 903 instructions were never executed (lines 12-40, 77)`; `None` if all were.
    pub(crate) fn sentence(&self) -> Option<String> {
        let count = self.instructions - self.executed;
        let verb = if count == 1 { "was" } else { "were" };
        let mut places = vec![ranges("line", &self.unexecuted_lines)];
        for SourceRanges { file, lines } in &self.unexecuted_sources {
            places.push(format!("{file}:{}", ranges("", lines)));
        }
        (count > 0).then(|| {
            let all = self.instructions;
            let places = places.join("; ");
            format!("{count} of {all} instructions {verb} never executed ({places})")
        })
    }
}

/// Formats ranges: `lines 12-40, 77 and 3 more`
fn ranges(word: &str, ranges: &[[u32; 2]]) -> String {
    let one = |&[first, last]: &[u32; 2]| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let single = matches!(ranges, [[first, last]] if first == last);
    let word = match (word, single) {
        ("", _) => String::new(),
        (word, true) => format!("{word} "),
        (word, false) => format!("{word}s "),
    };
    let shown: Vec<String> = ranges.iter().take(SHOWN).map(one).collect();
    let more = match ranges.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word}{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn lines_are_ranges() {
        assert_eq!(ranges("line", &[[3, 3]]), "line 3");
        assert_eq!(ranges("line", &[[3, 5], [7, 7]]), "lines 3-5, 7");
        let many: Vec<[u32; 2]> = (0..10).map(|n| [n * 2, n * 2]).collect();
        assert_eq!(ranges("", &many), "0, 2, 4, 6, 8, 10, 12, 14 and 2 more");
    }
}
