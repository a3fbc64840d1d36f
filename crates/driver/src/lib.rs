//! From a request to a report: reads the inputs, runs the rooms below and renders what they found.
//!
//! Everything a user sees is made here, in data types of its own; the rooms below know nothing of
//! files, JSON or colours.

mod alignment;
mod allow;
pub mod arguments;
mod assumptions;
pub mod check;
mod cluster_findings;
mod collective_findings;
mod coverage;
mod cpp_text;
mod demangle;
pub mod doctor;
pub mod duration;
pub mod equiv;
mod execute;
mod exit;
pub mod explain;
mod findings;
pub mod functions;
mod graph;
mod grouping;
mod heat;
mod hints;
pub mod inspect;
mod mbarrier_findings;
mod naming;
pub mod npy;
mod outcome;
mod output;
mod paths;
mod pipelines;
mod pointers;
mod precision;
mod prepared;
mod product_findings;
pub mod project;
mod properties;
pub mod prove;
mod race_groups;
pub mod render;
pub mod report;
mod rerun;
pub mod simulate;
mod source_lines;
mod sources;
pub mod support;
mod sync_findings;
mod tensor_findings;
mod unwritten;
mod verdict;
mod vocabulary;
mod wmma;

pub use allow::{Allow, UnknownAllowance};
pub use exec::{Limits, Stage, Watch};
pub use execute::Execution;
pub use exit::Exit;
pub use outcome::Outcome;
pub use output::WriteError;
pub(crate) use render::diagnostics;
pub use render::{Colour, Format, escape};
pub use sources::{Input, InputError, InputReason, cuda};
