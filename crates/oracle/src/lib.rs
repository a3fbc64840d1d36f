//! Runs tiny programs under every schedule, by a naive interpreter.
//!
//! A checker of kernels runs one schedule and makes claims about all of them. This crate tests such claims.
//! It generates random programs of two to four threads with a few accesses and synchronising instructions
//! each, small enough to explore every schedule ([`Explorer`]). The same program is emitted as a PTX kernel
//! ([`emit`]) and given to the checker, and [`compare`] compares the verdicts. If they disagree, [`shrink`]
//! makes the program smaller, and it is printed with its PTX.
//!
//! The interpreter shares no code with any engine, and none of its ideas. It keeps sets of events where an
//! engine keeps clocks, and explores all schedules where an engine argues that one is enough. [`observe`] is
//! that argument in its simplest form: a single run judged by the rules for single runs. It shares the
//! interpreter's steps, so comparing it tests the rules rather than an engine.
//!
//! It can err, in either direction, only by misreading PTX in the same way for all schedules. The assumed
//! meaning of each instruction is at the head of [`program`] and of the modules for barriers, collectives and
//! memory. Where manual and hardware leave a choice, they say so.

mod barrier;
pub mod clusters;
mod collective;
mod compare;
mod emit;
mod explore;
mod findings;
mod generate;
mod machine;
mod mutate;
mod observe;
pub mod phases;
pub mod program;
mod shrink;
mod state;
mod table;
mod text;
mod values;

pub use compare::{Agreement, CheckerVerdict, Disagreement, agree, compare};
pub use emit::{Kernel, emit};
pub use explore::{Event, Explorer, Outcome, Verdict};
pub use findings::Misuse;
pub use generate::generate;
pub use observe::observe;
pub use program::{Invalid, Program};
pub use shrink::shrink;
pub use text::NotAProgram;
