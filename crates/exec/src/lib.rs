//! Executes kernels: every thread of every block, a warp at a time, with memory checking.
//!
//! A run takes a program ([`ir::Program`]) and a [`Launch`]. It returns the final memory, [`Finding`]s about the
//! kernel, and [`Gap`]s where the run could not continue. The [`domain`] of a run represents its unknown values.
//! This crate does not depend on PTX text, command lines or verdicts.

mod address;
mod arrival;
mod barrier;
mod block;
mod budget;
mod causality;
mod cluster;
mod cluster_fault;
pub mod concrete;
mod context;
mod coverage;
mod deadlock;
mod determined_stores;
pub mod domain;
mod doubt;
mod early_end;
mod encoded;
mod fast;
mod finding;
pub mod formulas;
mod handle;
mod in_flight;
mod interpret;
mod lanes;
mod launch;
mod layout;
mod legal;
mod machine;
mod mbarrier;
mod mbarrier_fault;
mod memory;
mod open_pair;
mod options;
mod outcome;
mod packing;
mod parameters;
mod path;
mod pipeline;
mod placement;
mod polls;
mod pool;
mod position;
mod race;
mod races;
mod racing_reads;
mod registers;
mod report;
mod results;
mod run;
mod run_group;
mod run_path;
mod scatter;
mod snapshot;
mod speculative_blocks;
mod stores;
mod tags;
mod tally;
mod tensor_box;
mod tensor_fault;
mod terminators;
mod tickets;
mod tile;
mod tracker;
mod undecided;
mod updates;
mod value;
mod warp;
mod warp_groups;
mod watch;

pub use arrival::{BarrierArrival, BarrierUse};
pub use cluster_fault::ClusterFault;
pub use doubt::{Doubt, Doubtful, Reason, TicketResult};
pub use early_end::{EarlyFinding, IsUnwanted};
pub use finding::{
    AccessKind, BarrierFault, Fault, Finding, Gap, GroupFault, Origin, Place, RegisterWindow, Sink,
    StopReason, Target, Thread, Wait, WaitKind,
};
pub use interpret::{executes, original_register};
pub use lanes::{Lanes, Mask, WARP};
pub use launch::{Access, Argument, Buffer, Contents, Launch, VariableContents};
pub use legal::{Enclosed, Unfixed};
pub use mbarrier_fault::{
    BulkTransfer, Contributor, CopyCompletion, MbarrierFault, MbarrierFaultKind, MbarrierWait,
    Other,
};
pub use open_pair::Undecided;
pub use options::{Checks, Limits, Paths};
pub use outcome::{Outcome, Syncs, Ticket, WrittenBytes};
pub use packing::misaligning_array;
pub use pipeline::{MbarrierUse, PhaseEvent, PhaseEventKind, PhaseUse};
pub use placement::{AlignmentAssumption, Placement};
pub use race::{PassedBarrier, Race, RaceSide};
pub use racing_reads::follow_racing_reads;
pub use results::{Element, FinalContents, Results};
pub use run::{
    NumberedOutcome, SyncUses, check, check_conditional, check_enclosed, check_in, check_in_order,
    check_last, check_numbered, check_until, check_with, check_with_equal_writes, may_take_tickets,
    run, run_in, sync_uses,
};
pub use stores::{Elements, last_store, last_stores};
pub use tensor_fault::TensorFault;
pub use value::unit::Lost;
pub use watch::{Stage, Watch};
