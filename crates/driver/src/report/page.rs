//! Data for HTML reports alone: the launches, the kernel's PTX, and the facts about a proof. None of it is in JSON.

use super::ShownLine;
use std::collections::BTreeMap;

/// Data for HTML reports alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageData {
    pub(crate) launches: Vec<LaunchFacts>,
    /// Of a property that is proved: how, and for which inputs.
    pub(crate) proof: Vec<ProofFact>,
    pub(crate) ptx: Vec<PtxText>,
}

/// A launch, as the user gave it.
#[derive(Clone, Debug)]
pub(crate) struct LaunchFacts {
    pub(crate) side: Option<&'static str>,
    /// The kernel's name, or the formula.
    pub(crate) kernel: String,
    pub(crate) is_formula: bool,
    /// Grid, block, cluster, shared memory: a name and a value.
    pub(crate) sizes: Vec<(&'static str, String)>,
    pub(crate) arguments: Vec<String>,
}

/// A line about a proof: its subject, and one sentence or several.
#[derive(Clone, Debug)]
pub(crate) struct ProofFact {
    pub(crate) subject: &'static str,
    pub(crate) sentences: Vec<String>,
}

impl ProofFact {
    pub(crate) fn new(subject: &'static str, sentence: impl Into<String>) -> Self {
        Self { subject, sentences: vec![sentence.into()] }
    }
}

/// The PTX of a kernel that was compiled from a source.
#[derive(Clone, Debug)]
pub(crate) struct PtxText {
    /// The PTX file.
    pub(crate) path: String,
    pub(crate) kernel: String,
    pub(crate) side: Option<&'static str>,
    /// The line number of the first line.
    pub(crate) first: u32,
    pub(crate) lines: Vec<String>,
    /// Lines that are left out at the end.
    pub(crate) left_out: usize,
    /// For lines with an instruction: the file and line of its source.
    pub(crate) origins: BTreeMap<u32, (String, u32)>,
}

/// A race as a picture: two threads, and what each did last.
#[derive(Clone, Debug)]
pub(crate) struct RacePicture {
    /// The thread whose access came first in the run, then the other.
    pub(crate) lanes: [RaceLane; 2],
    /// The accessed memory, in words.
    pub(crate) about: String,
    /// The missing order or fence between the two, in a few words.
    pub(crate) missing: &'static str,
}

/// A thread of a race.
#[derive(Clone, Debug)]
pub(crate) struct RaceLane {
    pub(crate) thread: String,
    pub(crate) block: String,
    pub(crate) barrier: RaceBarrier,
    /// `writes`, with more words.
    pub(crate) access: String,
    pub(crate) at: ShownLine,
}

/// The last barrier that a thread passed before an access.
#[derive(Clone, Debug)]
pub(crate) enum RaceBarrier {
    At(Box<ShownLine>),
    /// The thread passed none.
    Never,
    /// It is not recorded.
    Unknown,
}

/// Elements of an array, and who wrote each.
#[derive(Clone, Debug)]
pub(crate) struct Tiles {
    /// The name of the array, demangled.
    pub(crate) array: String,
    /// Its memory holds elements of this shape; of a part, one row.
    pub(crate) shape: Vec<u64>,
    /// The number of the first element shown.
    pub(crate) first: u64,
    /// The number of all elements of the array.
    pub(crate) all: u64,
    /// Groups of threads, for the legend: `warp 0`.
    pub(crate) groups: Vec<String>,
    /// For each element the number of its group and its writer in words; `None` if nothing wrote it.
    pub(crate) writers: Vec<Option<(usize, String)>>,
    /// The element of the finding, by its number.
    pub(crate) marked: Option<u64>,
    /// The side of a comparison.
    pub(crate) side: Option<&'static str>,
}

impl PtxText {
    /// The source that most of its instructions are from.
    pub(super) fn main_source(&self) -> Option<&str> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        self.origins.values().for_each(|(path, _)| *counts.entry(path).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(path, _)| path)
    }
}
