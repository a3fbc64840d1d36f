//! Executes kernels: every thread of every block, a warp at a time, with memory checking.
//!
//! A run takes a program ([`ir::Program`]) and a [`Launch`] and gives what the kernel left in
//! memory, [`Finding`]s about it, and [`Gap`]s where it could not be followed. It knows nothing of
//! PTX, command lines or verdicts.

mod address;
mod barrier;
mod block;
pub mod concrete;
mod deadlock;
mod decode;
mod finding;
mod interpret;
mod lanes;
mod launch;
mod machine;
mod memory;
mod races;
mod registers;
mod report;
mod run;
mod tags;
mod tracker;
mod warp;

pub use finding::{
    AccessKind, BarrierArrival, BarrierFault, BarrierUse, Fault, Finding, Gap, Origin, Passed,
    Place, Race, RaceSide, Sink, Target, Thread, Undecided, Wait, WaitKind,
};
pub use interpret::executes;
pub use lanes::{Lanes, Mask, WARP};
pub use launch::{Access, Argument, Buffer, Contents, Launch};
pub use run::{Checks, Limits, Outcome, check, check_with, run};
