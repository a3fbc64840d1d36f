//! The assumption of a proof about values that each float operation has a real value where it is executed
//! ([`kir::partial`]). It is listed line by line; under `--strict` it leaves the claim open.

use super::answer::Report;
use kir::partial::{self, Partial};

impl Report<'_> {
    /// Operations of the kernel that are assumed to have a real value, each with its place.
    pub(super) fn assumed_defined(&self) -> Vec<String> {
        let assumption = |partial: &Partial| {
            format!("defined at {}: {}", self.input.path_and_line(partial.span), partial.demand)
        };
        let mut all: Vec<String> = Vec::new();
        for one in partial::operations(self.kernel).iter().map(assumption) {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }

    /// The reasons why values are not proved under `--strict`.
    pub(super) fn undefined_somewhere(&self) -> Vec<String> {
        let all = if self.strict { self.assumed_defined() } else { Vec::new() };
        all.into_iter().map(|one| format!("could not show: {one}")).collect()
    }
}
