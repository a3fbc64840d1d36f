//! Tiny programs, run under every schedule by a naive interpreter.
//!
//! A checker of kernels runs one schedule and claims things about all of them. This crate is what
//! such a claim is tested against: random programs of two to four threads, a few accesses and a few
//! synchronising instructions each, small enough to follow every schedule ([`Explorer`]). The same
//! program is emitted as a PTX kernel ([`emit`]), a checker says what it thinks of it, and
//! [`compare`] says whether the two agree; a program on which they do not is made smaller by
//! [`shrink`] and printed with its PTX.
//!
//! The interpreter shares no code with any engine, and none of its ideas: it keeps sets of events
//! where an engine keeps clocks, and looks at all schedules where an engine argues that one is
//! enough. [`observe`] is that argument in its simplest form, a single run judged by the rules for
//! single runs; it shares the interpreter's steps, so comparing it tests the rules and not an engine.
//!
//! It can err in both directions only by misreading PTX, in the same way for all schedules. What is
//! taken to be the meaning of each instruction stands at the head of [`program`] and of the modules
//! for barriers, collectives and memory; where manual and hardware leave a choice, they say so.

mod barrier;
pub mod clusters;
mod collective;
mod compare;
mod emit;
mod explore;
mod findings;
mod generate;
mod machine;
mod observe;
pub mod phases;
pub mod program;
mod shrink;
mod spoil;
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
