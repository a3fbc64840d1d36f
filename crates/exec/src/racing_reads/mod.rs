//! Racing reads that nothing depends on: which reads race, and what happens if they may read anything.
//!
//! A race of a read with a write is harmless if what is read reaches no output, address, decision or barrier
//! (design: a note). A conflict is found when the second of the two accesses is executed, and by then the value read
//! may have been used, so it takes more runs of the launch:
//! 1. the ordinary one, which keeps the words (four bytes) at which reads conflict;
//! 2. one that keeps *every* access to those words and compares each pair: [`sync::Shadow`] finds at least one conflict at a
//!    word that has any, but forgets reads of a lane for later ones of the same lane, and here all of them must be
//!    known. Of blocks against each other only the words are known: there every load from them counts;
//! 3. one in which those reads give poison. Poison is followed as ever: where it reaches something that matters,
//!    that is a finding. If there is none but the races themselves, they are notes.
//!
//! Errs towards errors: words are coarser than bytes, blocks are taken together, and where the accesses differ in
//! size, something else than a plain load reads, or there are too many, the races stay what they were.

pub(crate) mod distrust;
mod follow;
mod history;
mod suspects;
mod suspicion;

pub use follow::follow_racing_reads;
pub(crate) use history::History;
pub(crate) use suspects::{Counts, Racing, Suspects};
pub(crate) use suspicion::Suspicion;
