//! What is claimed of a kernel, property by property.
//!
//! A run sees one schedule, and what it sees holds for all only if there are no races, which are not
//! looked for yet: so nothing is proved but the launch itself.

use crate::execute::Finished;
use crate::findings;
use exec::{Contents, Doubt, Doubtful};

/// Reasons of one kind beyond this many are only counted.
const SHOWN: usize = 3;

/// What is known of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Proved,
    Refuted,
    Unknown,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Refuted => "refuted",
            Self::Unknown => "unknown",
        }
    }

    /// The verdict on everything: refuted if anything is, unknown if anything is.
    pub(crate) fn of_all(verdicts: impl Iterator<Item = Self>) -> Self {
        verdicts.fold(Self::Proved, |all, one| match (all, one) {
            (Self::Refuted, _) | (_, Self::Refuted) => Self::Refuted,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Proved, Self::Proved) => Self::Proved,
        })
    }
}

/// A property and what is known of it.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
    /// Why it is unknown, apart from what concerns all properties alike.
    pub(crate) reasons: Vec<String>,
}

/// Those that the run itself looks at, in the order of reports.
const OF_A_RUN: [&str; 8] =
    ["bounds", "alignment", "initialised", "frame", "division", "traps", "deadlock", "determinism"];

/// Those that are not looked at yet.
const UNCHECKED: [&str; 3] = ["races", "barriers", "collectives"];

/// All properties of a run.
pub(crate) fn properties(finished: &Finished<'_>) -> Vec<Property> {
    let launch = Property { name: "launch", verdict: Verdict::Proved, reasons: Vec::new() };
    let of_run = OF_A_RUN.into_iter().map(|name| of_run(finished, name));
    let unchecked = UNCHECKED.into_iter().map(|name| Property {
        name,
        verdict: Verdict::Unknown,
        reasons: vec!["not checked yet".to_owned()],
    });
    std::iter::once(launch).chain(of_run).chain(unchecked).collect()
}

fn of_run(finished: &Finished<'_>, name: &'static str) -> Property {
    let faults = finished.result.findings.iter().map(|finding| &finding.fault);
    let mut refuted = faults.map(findings::property).any(|property| property == name);
    refuted |= name == "frame" && !finished.unwritten.is_empty();
    let verdict = if refuted { Verdict::Refuted } else { Verdict::Unknown };
    Property { name, verdict, reasons: reasons(finished, name) }
}

fn reasons(finished: &Finished<'_>, name: &str) -> Vec<String> {
    let result = &finished.result;
    match name {
        "bounds" => unbounded(finished),
        "alignment" => match result.alignments.len() {
            0 => Vec::new(),
            count => vec![format!(
                "{count} accesses are aligned only if an array lies better than it declares"
            )],
        },
        "frame" if finished.built.launch.is_partial() => {
            vec![format!("{} were executed; what the others write is not known", finished.blocks())]
        }
        "division" => doubts(finished, |about| matches!(about, Doubtful::Divisor(_))),
        "determinism" => doubts(finished, |about| !matches!(about, Doubtful::Divisor(_))),
        _ => Vec::new(),
    }
}

/// Buffers whose bounds nobody gave.
fn unbounded(finished: &Finished<'_>) -> Vec<String> {
    let buffers = finished.built.launch.buffers.iter();
    let unbounded = buffers.filter(|buffer| matches!(buffer.contents, Contents::Unbounded));
    unbounded.map(|buffer| format!("the size of `{}` is not given", buffer.name)).collect()
}

fn doubts(finished: &Finished<'_>, is_meant: fn(&Doubtful) -> bool) -> Vec<String> {
    let meant: Vec<&Doubt> =
        finished.result.doubts.iter().filter(|doubt| is_meant(&doubt.about)).collect();
    let (program, source) = (finished.program(), finished.source());
    let shown = meant.iter().take(SHOWN).map(|doubt| findings::doubt(doubt, program, source));
    let mut sentences: Vec<String> = shown.collect();
    if meant.len() > SHOWN {
        sentences.push(format!("and {} more places", meant.len() - SHOWN));
    }
    sentences
}
