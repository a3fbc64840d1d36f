//! What a run found: faults of the kernel, and places where we stop knowing.

use base::Span;
use ir::LocId;

/// Where in the program something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The PTX instruction.
    pub span: Span,
    /// The source line it comes from.
    pub location: Option<LocId>,
}

/// A thread of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// Its block.
    pub block: [u32; 3],
    /// Its position in the block.
    pub thread: [u32; 3],
}

/// A fault of the kernel, with the first thread that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub fault: Fault,
    /// Where.
    pub place: Place,
    /// The first thread, in the order of execution, to which it happened.
    pub thread: Thread,
    /// How often it happened at this place.
    pub count: u64,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access outside every byte of the allocation its address points into.
    OutOfBounds {
        /// The allocation.
        target: Target,
        /// What the access does.
        kind: AccessKind,
        /// Bytes accessed by the thread.
        bytes: u32,
    },
    /// An access to an address that points into nothing.
    WildAddress {
        /// The address.
        address: u64,
        /// What the access does.
        kind: AccessKind,
        /// Bytes accessed by the thread.
        bytes: u32,
    },
    /// An access that is not aligned to its size.
    Misaligned {
        /// The allocation.
        target: Target,
        /// What the access does.
        kind: AccessKind,
        /// The alignment it needs.
        bytes: u32,
    },
    /// A write to something that may only be read.
    ReadOnly {
        /// The allocation.
        target: Target,
    },
    /// An undefined value decides what the kernel does or returns.
    Undefined {
        /// Where it matters.
        reaches: Sink,
        /// Where it comes from, if known.
        origin: Option<Origin>,
    },
    /// An output that depends on what was in it before.
    DependsOnInitial {
        /// The allocation.
        target: Target,
    },
    /// An integer division by zero.
    DivisionByZero,
    /// `trap` reached.
    Trap,
    /// A call to `__assertfail`.
    AssertFailed,
    /// Threads wait for each other and nobody goes on.
    Deadlock {
        /// How many threads wait.
        waiting: u32,
    },
}

/// A byte of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What the allocation is called.
    pub name: String,
    /// Where it is.
    pub space: ir::Space,
    /// Offset from its start, negative before it.
    pub offset: i64,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes of an element, for naming an index.
    pub element_bytes: u32,
    /// Alignment of the allocation.
    pub align: u64,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
}

/// Where an undefined value matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// It decides a branch or guard.
    Control,
    /// It is part of an address.
    Address,
    /// It is a barrier operand or a lane mask.
    Synchronisation,
    /// It is an operand of an atomic operation.
    Atomic,
    /// It is stored to global memory.
    Output,
}

/// Where an undefined value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A register that nobody wrote.
    Register,
    /// Memory that nobody wrote, loaded at this place.
    Memory(Place),
    /// A shuffle from a lane that does not take part.
    Shuffle(Place),
    /// An access that was out of bounds.
    BadAccess(Place),
    /// An index past the end of a branch table, a division by zero and their like.
    Operation(Place),
}

/// A place where the run stops knowing what the kernel does, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where.
    pub place: Place,
    /// The first thread that cannot be followed, if the run had come to one.
    pub thread: Option<Thread>,
    /// Why, as a sentence without a full stop.
    pub reason: String,
    /// What kind of end it is.
    pub stop: Stop,
}

/// Why a run ends before the kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// What the kernel does next is not known or not executed.
    NotFollowed,
    /// The instructions are used up; whether in a loop, at whose start the place is then.
    Budget {
        /// Whether there is a loop.
        in_loop: bool,
    },
    /// The time is used up, likewise.
    Time {
        /// Whether there is a loop.
        in_loop: bool,
    },
}
