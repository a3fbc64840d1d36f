//! The results of a command as data: the single source of all formats ([`crate::render`]).
//!
//! [`Report`] is also the JSON for programs. Fields are only ever added while `schema` stays
//! the same. Data needed by other formats alone is not serialised.

mod build;
mod finding;
mod page;
mod page_facts;
mod pipeline;
mod race;
mod seen;
mod shown_line;
mod tiles;

pub(crate) use crate::paths::relative;
pub(crate) use build::{Comparison, check, empty_report, equiv, exit, refusal, unreadable};
pub(crate) use finding::{Overflowing, location, locations};
pub(crate) use page::{
    LaunchFacts, PageData, ProofFact, PtxText, RaceBarrier, RaceLane, RacePicture, Tiles,
};
pub(crate) use pipeline::{Pipeline, PipelinePart, PipelinePhase};

use crate::Exit;
use crate::verdict::Verdict;
use crate::vocabulary::{FindingKind, PropertyName, Severity};
use serde::Serialize;

/// Version of the JSON.
pub(crate) const SCHEMA: u32 = 2;

/// The results of a command.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub(crate) schema: u32,
    pub(crate) command: &'static str,
    /// Of a project: the name of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kernel: Option<String>,
    /// The kernel that it was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<KernelName>,
    pub(crate) verdict: Verdict,
    pub(crate) properties: Vec<Property>,
    pub(crate) findings: Vec<Finding>,
    /// Accesses that may race.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<Finding>,
    /// The place where a run stopped; `None` if it reached its end.
    pub(crate) stopped: Option<StopPlace>,
    pub(crate) assumptions: Vec<String>,
    /// Conditions of the answer that come from the kernel's file and not from the command: preconditions stated in the
    /// file, and variables that the kernel leaves changed for the next launch. The kernel's author chose them, so a
    /// user who does not trust the author must not count the answer as a proof.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) from_kernel: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// Notes on kernels equal over the reals where the optimised one computes in fewer bits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) precision: Vec<String>,
    pub(crate) stats: Stats,
    /// The part of the kernel that a run executed; `None` if there was no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coverage: Option<Coverage>,
    /// Of `prove`: how our reading of the kernel compares with a compiler's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compared: Option<ReadingComparison>,
    /// An `unknown` answer does not fail the run: the project's entry requires only that nothing is refuted.
    #[serde(skip)]
    pub(crate) accepts_unknown: bool,
    #[serde(skip)]
    pub(crate) exit: Exit,
    /// Files in which findings are shown.
    #[serde(skip)]
    pub(crate) sources: Vec<SourceText>,
    #[serde(skip)]
    pub(crate) barriers: Option<Barriers>,
    #[serde(skip)]
    pub(crate) heat: Option<HeatMap>,
    /// Data for HTML reports alone.
    #[serde(skip)]
    pub(crate) page: PageData,
    /// Mbarriers of the first block over time, if a picture is requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pipelines: Vec<Pipeline>,
}

/// A file and its text.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) side: Option<&'static str>,
}

/// Uses of barriers in the first block, and the warps that pass from one to the next.
#[derive(Clone, Debug)]
pub(crate) struct Barriers {
    pub(crate) uses: Vec<BarrierUse>,
    pub(crate) edges: Vec<BarrierEdge>,
}

/// A use of a barrier.
#[derive(Clone, Debug)]
pub(crate) struct BarrierUse {
    pub(crate) label: String,
    pub(crate) complete: bool,
}

/// Warps that go from one use to another.
#[derive(Clone, Debug)]
pub(crate) struct BarrierEdge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: String,
    pub(crate) waits: bool,
}

/// An output of both kernels on the same numbers.
#[derive(Clone, Debug)]
pub(crate) struct HeatMap {
    pub(crate) output: String,
    pub(crate) shape: Vec<u64>,
    /// Reference first.
    pub(crate) values: [Vec<f64>; 2],
}

/// A kernel and its file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct KernelName {
    pub(crate) file: String,
    pub(crate) kernel: Option<String>,
    /// The part of it that a run executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coverage: Option<Coverage>,
    /// The comparison of our reading with a compiler's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compared: Option<ReadingComparison>,
}

/// Our reading of a kernel and a compiler's, run on the same launches.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReadingComparison {
    /// `same`, `different` or `not-compared`.
    pub(crate) result: &'static str,
    /// The reason why it was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compiler: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) architecture: Option<String>,
    pub(crate) launches: usize,
    /// Launches, counted once for each set of contents.
    pub(crate) runs: usize,
    /// Elements of arrays, over all runs.
    pub(crate) elements: u64,
    /// One sentence for each thing that was not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<ReadingDifference>,
}

/// A difference between our reading of a kernel and a compiler's.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReadingDifference {
    /// An element, a finding, or the size of a parameter.
    pub(crate) what: String,
    pub(crate) compiled: String,
    pub(crate) read: String,
    /// `blockDim.x = 2` and so on.
    pub(crate) launch: Vec<String>,
}

/// The part of a kernel that its runs executed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Coverage {
    #[serde(skip)]
    pub(crate) kernel: String,
    /// Instructions of the kernel and of the functions it calls.
    pub(crate) instructions: usize,
    /// The number of them that some thread executed.
    pub(crate) executed: usize,
    /// Lines of the PTX with the others: first and last of each range.
    pub(crate) unexecuted_lines: Vec<[u32; 2]>,
    /// Source lines without an executed instruction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unexecuted_sources: Vec<SourceRanges>,
    /// Kernels that were launched before it on the same side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<Self>,
}

/// Lines of a source file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SourceRanges {
    pub(crate) file: String,
    pub(crate) lines: Vec<[u32; 2]>,
}

/// A property and its verdict.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Property {
    pub(crate) name: PropertyName,
    pub(crate) verdict: Verdict,
    pub(crate) reasons: Vec<String>,
    /// Of a comparison: which of the two kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) side: Option<&'static str>,
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) code: String,
    pub(crate) kind: FindingKind,
    pub(crate) severity: Severity,
    pub(crate) property: PropertyName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) side: Option<&'static str>,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    pub(crate) locations: Vec<Location>,
    pub(crate) witness: Option<Witness>,
    /// The number of occurrences, and of instructions of the line at which it occurred.
    pub(crate) count: u64,
    pub(crate) instructions: usize,
    /// The user's reason to accept it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allowed: Option<String>,
    /// Of a race: both threads, for a picture.
    #[serde(skip)]
    pub(crate) race: Option<RacePicture>,
    /// Who wrote the elements around the one of the finding, for pictures.
    #[serde(skip)]
    pub(crate) tiles: Vec<Tiles>,
}

impl Finding {
    /// Returns `true` for an error that the user did not accept.
    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error && self.allowed.is_none()
    }
}

/// A place in the PTX.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Location {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
    /// The source line, then the call sites it was inlined at.
    pub(crate) source: Vec<SourceLine>,
    #[serde(skip)]
    pub(crate) shown: ShownLine,
    /// Of a comparison: the side whose file it is in.
    #[serde(skip)]
    pub(crate) side: Option<&'static str>,
}

/// A line of the source that the PTX was compiled from.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SourceLine {
    pub(crate) file: Option<String>,
    pub(crate) line: u32,
}

/// The line to show the reader: of the source if it can be read, else of the PTX.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownLine {
    /// Relative to the working folder, if it is in it.
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_column: u32,
    /// The text of the line, without indentation.
    pub(crate) text: String,
}

/// The evidence for a finding.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Witness {
    Thread(ThreadWitness),
    Difference(DifferenceWitness),
    Overflow(OverflowWitness),
}

/// A thread at fault.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ThreadWitness {
    pub(crate) block: [u32; 3],
    /// The rank of the block, in a cluster of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rank: Option<u32>,
    pub(crate) thread: [u32; 3],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) array: Option<Array>,
    /// Of a race: both accesses, in the order of the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sides: Vec<Side>,
}

/// One access of a race.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Side {
    pub(crate) block: [u32; 3],
    /// The rank of the block, in a cluster of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rank: Option<u32>,
    pub(crate) thread: [u32; 3],
    pub(crate) access: &'static str,
    pub(crate) line: u32,
    pub(crate) asynchronous: bool,
    /// The line of the last barrier that the thread reached before.
    pub(crate) barrier: Option<u32>,
}

/// Bytes of an array.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) space: String,
    pub(crate) offset: i64,
    pub(crate) size: u64,
    pub(crate) element_bytes: u32,
}

/// Inputs on which two kernels differ.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DifferenceWitness {
    pub(crate) output: String,
    pub(crate) index: usize,
    /// Reference first.
    pub(crate) expressions: [String; 2],
    /// Elements of inputs that only one side uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reads: Vec<[String; 2]>,
    pub(crate) inputs: Vec<InputValue>,
    /// `None` if undefined.
    pub(crate) values: [Option<f64>; 2],
    /// Running both kernels on intervals confirms these values.
    pub(crate) confirmed: bool,
    /// The kernels differ only in how constants are rounded.
    pub(crate) constant_rounding: bool,
    /// The difference is below 10⁻⁵ relative: likely a rounded constant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) likely_constant: bool,
    /// Where each side stored the element last, reference first.
    pub(crate) stored: [Option<String>; 2],
}

/// The value of an element of an input.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InputValue {
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// Inputs on which floats overflow.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OverflowWitness {
    pub(crate) output: String,
    pub(crate) index: usize,
    pub(crate) inputs: Vec<FilledInput>,
    /// Reference first; texts, because JSON has no infinities.
    pub(crate) values: [String; 2],
}

/// All elements of an input.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FilledInput {
    pub(crate) name: String,
    /// The number of elements.
    pub(crate) elements: u64,
    /// The first thousand in the order of the indices; a single value if all are the same.
    pub(crate) values: Vec<f64>,
}

/// The place where a run stopped.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StopPlace {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) location: Location,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
}

/// The cost of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Stats {
    pub(crate) blocks: u64,
    pub(crate) grid_blocks: u64,
    pub(crate) thread_instructions: u64,
    /// Barriers of blocks, counted for each thread that reached one.
    pub(crate) block_syncs: u64,
    /// Instructions that the lanes of a warp execute together, counted for each lane.
    pub(crate) warp_syncs: u64,
    /// Threads of a block.
    pub(crate) block_threads: u64,
    /// Blocks of a cluster, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cluster_blocks: Option<u64>,
    /// The launches of a comparison; their sums are above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) launches: Vec<LaunchStats>,
}

/// The cost of one launch of a comparison.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LaunchStats {
    pub(crate) side: &'static str,
    pub(crate) kernel: String,
    #[serde(flatten)]
    pub(crate) stats: Stats,
}

impl Report {
    /// `check kernel.ptx::name`, for headings.
    pub(crate) fn title(&self) -> String {
        if let Some(name) = &self.name {
            return format!("{} {name}", self.command);
        }
        let name = |file: &str, kernel: Option<&str>| match kernel {
            Some(kernel) => {
                let kernel = crate::demangle::demangle(kernel).unwrap_or_else(|| kernel.to_owned());
                format!("{file}::{kernel}")
            }
            None => file.to_owned(),
        };
        let this = name(&self.file, self.kernel.as_deref());
        match &self.reference {
            Some(other) => {
                let other = name(&other.file, other.kernel.as_deref());
                format!("{} {other} {this}", self.command)
            }
            None => format!("{} {this}", self.command),
        }
    }

    /// The number of executed instructions.
    pub(crate) fn thread_instructions(&self) -> u64 {
        self.stats.thread_instructions
    }

    /// Returns the name of the command.
    #[must_use]
    pub fn command(&self) -> &'static str {
        self.command
    }

    /// Errors that the user did not accept.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_error())
    }
}
