//! Racing reads that nothing depends on: finds the reads that race, and the effect of arbitrary values for
//! them.
//!
//! A race of a read with a write is harmless if the value read reaches no output, address, decision or
//! barrier (by design a note). A conflict is found when the second of the two accesses is executed, and by
//! then the value may have been used. So it takes more runs of the launch:
//! 1. the ordinary one, which records the words (four bytes) with conflicting reads;
//! 2. one that records *every* access to those words and compares each pair. [`sync::Shadow`] finds at least
//!    one conflict at a word that has any. But it drops a lane's read for a later one of the same lane, and
//!    here all of them are needed. Between blocks only the words are known, so every load from them counts;
//! 3. one in which those reads return poison. Poison is tracked as usual: if it reaches something that
//!    matters, that is a finding. The run ends there, and the races stay errors;
//! 4. if there was no such finding, the same with a search for races. If there are no findings but the races
//!    themselves, they are notes.
//!
//! The second and the third run do not look for races in shared memory, which is most of the cost of a run.
//!
//! This errs towards errors: words are coarser than bytes, and blocks are combined. If the accesses differ in
//! size, if anything but a plain load reads, or if there are too many, the races stay errors.

mod conflict_words;
mod follow;
mod history;
mod mode;
pub(crate) mod poison_reads;

pub(crate) use conflict_words::{ConflictWords, Counts, Racing};
pub use follow::follow_racing_reads;
pub(crate) use history::History;
pub(crate) use mode::RacingReadMode;
