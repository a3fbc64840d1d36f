//! Findings that the user accepts, with a reason and an expiry date.
//!
//! An allowance changes no verdict. A refuted property stays refuted in every report, with the reason beside it, but
//! it no longer fails the run.

use super::Date;
use crate::demangle::demangle;
use crate::report::{Finding, Report};
use crate::vocabulary::Severity;

/// An `[[allow]]`.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// The code of the finding.
    pub code: String,
    /// A part of the kernel's name.
    pub kernel: Option<String>,
    /// A file, or file and line, of one of its places.
    pub at: Option<String>,
    /// The user's reason.
    pub reason: String,
    /// The first day on which it no longer holds.
    pub expires: Date,
}

impl Allowance {
    fn matches(&self, finding: &Finding, kernel: &str) -> bool {
        let is_kernel = |part: &String| {
            let source = demangle(kernel);
            kernel.contains(part) || source.is_some_and(|source| source.contains(part))
        };
        let is_there = |at: &String| {
            finding.locations.iter().any(|location| {
                let shown = &location.shown;
                place_matches(at, &shown.path, shown.line)
            })
        };
        self.code == finding.code
            && self.kernel.as_ref().is_none_or(is_kernel)
            && self.at.as_ref().is_none_or(is_there)
    }

    /// The allowance's name in messages: `WP0109 at unsnap.cu:210`
    pub(super) fn name(&self) -> String {
        let mut name = self.code.clone();
        self.kernel.iter().for_each(|kernel| name.push_str(&format!(" in {kernel}")));
        self.at.iter().for_each(|at| name.push_str(&format!(" at {at}")));
        name
    }
}

/// Returns `true` if `at` names this line. `csrc/a.cu:12` and `a.cu` both name line 12 of `csrc/a.cu`.
fn place_matches(at: &str, path: &str, line: u32) -> bool {
    let (file, wanted) = match at.rsplit_once(':') {
        Some((file, digits)) => match digits.parse::<u32>() {
            Ok(line) => (file, Some(line)),
            Err(_) => (at, None),
        },
        None => (at, None),
    };
    let is_file = path == file || path.strip_suffix(file).is_some_and(|head| head.ends_with('/'));
    is_file && wanted.is_none_or(|wanted| wanted == line)
}

/// Marks the allowed findings, and records the allowances used.
pub(super) fn apply(report: &mut Report, allowances: &[Allowance], today: Date, used: &mut [bool]) {
    let kernel = report.kernel.clone().unwrap_or_default();
    for finding in report.findings.iter_mut().filter(|finding| finding.severity == Severity::Error)
    {
        for (allowance, used) in allowances.iter().zip(used.iter_mut()) {
            if allowance.matches(finding, &kernel) {
                *used = true;
                if today < allowance.expires {
                    finding.allowed = Some(allowance.reason.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::place_matches;

    #[test]
    fn places_are_files_or_lines() {
        assert!(place_matches("a.cu", "csrc/a.cu", 12));
        assert!(place_matches("csrc/a.cu:12", "csrc/a.cu", 12));
        assert!(!place_matches("a.cu:13", "csrc/a.cu", 12));
        assert!(!place_matches("a.cu", "csrc/ba.cu", 12));
    }
}
