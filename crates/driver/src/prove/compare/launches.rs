//! Launches for comparing compiled code with our reading: small ones of all sizes, and a few at numbers in the text.

use super::compiled;
use super::data::Difference;
use super::error::NotCompared;
use super::work::{BUDGET, LAUNCHES, Work};
use interp::{Draw, Launch};
use kir::VarId;
use std::collections::BTreeMap;

/// The number of launches to try.
const MAX_LAUNCHES: usize = 24;
/// The number of candidates.
const CANDIDATES: usize = 64;
/// Threads of a small launch.
const MAX_THREADS: i128 = 1024;
/// Budget of our reading on large launches, in instructions.
const LARGE_BUDGET: u64 = 4_000_000;

/// Scalars fixed by an instance.
type InstanceScalars = BTreeMap<VarId, i128>;

impl Work<'_> {
    /// Small launches, spread over all sizes, then the others, in case the first have findings.
    pub(super) fn launches(
        &self,
        program: &compiled::Kernel<'_>,
        given: &InstanceScalars,
    ) -> Vec<Launch> {
        let all = allsizes::launches_with(self.kernel, CANDIDATES, given);
        let fits = |launch: &Launch| launch.threads() <= MAX_THREADS && program.accepts(launch);
        let all: Vec<Launch> = all.into_iter().filter(fits).collect();
        let count = all.len();
        // Evenly from small to large, including the largest.
        let chosen = |number: usize| (number + 1) * count / LAUNCHES.min(count.max(1)) - 1;
        let mut order: Vec<usize> = (0..LAUNCHES.min(count)).map(chosen).collect();
        let rest: Vec<usize> = (0..count).filter(|number| !order.contains(number)).collect();
        order.extend(rest.into_iter().rev());
        order.into_iter().take(MAX_LAUNCHES).filter_map(|number| all.get(number).cloned()).collect()
    }

    /// The first difference on large launches, with sizes around integers in the text: code guarded by such a number,
    /// as in `n > 100000`, does not run on small launches.
    pub(super) fn at_numbers(
        &mut self,
        programs: &[compiled::Kernel<'_>],
        given: &InstanceScalars,
    ) -> Result<Option<Difference>, NotCompared> {
        let program = programs.first().ok_or(NotCompared::NothingCompiled)?;
        let until = self.steps + LARGE_BUDGET;
        self.budget = LARGE_BUDGET;
        for launch in allsizes::launches_at(self.kernel, &self.numbers, given) {
            if self.steps > until || !program.accepts(&launch) {
                continue;
            }
            let before = self.summary.runs;
            if let Some(difference) = self.run(programs, &launch, Draw::Mixed) {
                return Ok(Some(difference));
            }
            self.summary.launches += usize::from(self.summary.runs > before);
        }
        self.budget = BUDGET;
        Ok(None)
    }
}

/// Integers in a text, the largest first. They are taken from the text, because a reading that loses a condition
/// loses its number too.
pub(super) fn numbers(text: &str) -> Vec<i128> {
    let words = text.split(|one: char| !one.is_ascii_alphanumeric() && one != '_' && one != '.');
    let number = |word: &str| {
        let word = word.trim_end_matches(['u', 'U', 'l', 'L']);
        match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        }
    };
    let mut found: Vec<i128> = words.filter_map(number).collect();
    found.sort_unstable();
    found.dedup();
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_a_text() {
        let text = "if (n == 100000u && i > 0x1000 || x1 < 2.5f) { a[70'000] = 12L; }";
        assert_eq!(numbers(text), [100_000, 4096, 70, 12, 0]);
    }
}
