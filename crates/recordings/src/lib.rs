//! Recorded results of a real GPU, instruction by instruction.
//!
//! A [`Case`] is one instruction with its operands. [`cases`] lists one for every scalar instruction form and
//! every combination of modifiers that NVIDIA's assembler accepts for [`kernel::TARGET`], and for shuffles,
//! votes, atomics and matrix instructions. Inputs are drawn from a seed, so only outputs are stored. [`load`]
//! joins both, for tests that replay them:
//!
//! ```no_run
//! for recording in recordings::load()? {
//!     let Some(outputs) = recording.outputs() else { continue };
//!     let lowered = recordings::lower(&recording.case)?;
//!     for (inputs, outputs) in recording.case.vectors().iter().zip(&outputs) {
//!         // Put `inputs` into `lowered.inputs`, run, compare `lowered.outputs` with `outputs`.
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Recording needs a GPU: `cargo run -p xtask -- record-plan DIR` writes kernels and inputs, `python3
//! tools/record.py DIR DIR` runs them, and `cargo run -p xtask -- record-pack DIR` rewrites the files in
//! `data/`. Results that the manual leaves open are recorded too; the replaying tests treat them differently
//! ([`Case::is_approximate`], [`Case::exact_vectors`]).

mod case;
mod families;
mod hash;
pub mod kernel;
mod kind;
mod layout;
mod lowering;
mod sample;
mod store;
mod warp;

pub use case::{Case, Cell, Input, Output, Register, Space};
pub use kind::InputKind;
pub use layout::Layout;
pub use lowering::{Lowered, lower, program};
pub use store::{Damaged, File, Outcome};

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Cases that the assembler rejects: a case and the reason in each line, separated by a tab.
const REFUSED: &str = include_str!("../refused.txt");

/// All considered cases, accepted by the assembler or not.
#[must_use]
pub fn candidates() -> Vec<Case> {
    families::candidates()
}

/// All cases, family by family, in a fixed order.
#[must_use]
pub fn cases() -> Vec<Case> {
    let lines = REFUSED.lines().filter_map(|line| line.split_once('\t'));
    let refused: BTreeSet<&str> = lines.map(|(case, _)| case).collect();
    let mut cases = candidates();
    cases.retain(|case| !refused.contains(case.to_string().as_str()));
    cases
}

/// The folder of the data files, one for each family.
#[must_use]
pub fn data_folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/data"))
}

/// A case and its outcome.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The case.
    pub case: Case,
    /// Its outcome.
    pub outcome: Outcome,
}

impl Recording {
    /// Returns the values of the output registers for each vector, if they were recorded.
    #[must_use]
    pub fn outputs(&self) -> Option<Vec<Vec<u64>>> {
        match &self.outcome {
            Outcome::Recorded(bytes) => self.case.split_outputs(bytes),
            Outcome::NotRecorded(_) => None,
        }
    }
}

/// All cases in order, each with its recording or the reason why there is none.
///
/// # Errors
///
/// If a data file is damaged.
pub fn load() -> Result<impl Iterator<Item = Recording>, Damaged> {
    let mut outcomes: BTreeMap<u64, Outcome> = BTreeMap::new();
    let cases = cases();
    let families: BTreeSet<&str> = cases.iter().map(|case| case.family).collect();
    for family in families {
        outcomes.extend(read(family)?.map(|file| file.outcomes).unwrap_or_default());
    }
    Ok(cases.into_iter().map(move |case| {
        let missing = || Outcome::NotRecorded("changed or new since the recording".to_owned());
        let outcome = outcomes.get(&case.fingerprint()).cloned().unwrap_or_else(missing);
        Recording { case, outcome }
    }))
}

/// The data file of a family; `None` if there is none.
///
/// # Errors
///
/// If it is damaged.
pub fn read(family: &str) -> Result<Option<File>, Damaged> {
    let path = data_folder().join(format!("{family}.bin"));
    match std::fs::read(&path) {
        Ok(bytes) => File::read(&bytes).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Damaged(format!("{}: {error}", path.display()))),
    }
}
