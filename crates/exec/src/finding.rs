//! Results of a run: faults of the kernel, and places where the run had to stop.

use crate::cluster_fault::ClusterFault;
use crate::mbarrier_fault::{MbarrierFault, MbarrierWait};
use crate::race::Race;
use crate::tensor_fault::TensorFault;
use base::Span;
use ir::LocId;

/// A place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The PTX instruction.
    pub span: Span,
    /// Its source line.
    pub location: Option<LocId>,
}

/// A thread of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// Its block.
    pub block: [u32; 3],
    /// Its position in the block.
    pub thread: [u32; 3],
    /// The rank of its block, in a cluster of several.
    pub rank: Option<u32>,
}

/// A fault of the kernel, with the first thread that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The fault.
    pub fault: Fault,
    /// Its place.
    pub place: Place,
    /// The first affected thread, in execution order.
    pub thread: Thread,
    /// The number of times it occurred at this place.
    pub count: u64,
}

/// The kinds of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access outside every byte of the allocation that its address points into.
    OutOfBounds {
        /// The allocation.
        target: Target,
        /// The kind of access.
        kind: AccessKind,
        /// The number of bytes accessed by the thread.
        bytes: u32,
        /// The data for which it happens, if it depends on data.
        when: Option<String>,
    },
    /// An access to an address outside every allocation.
    WildAddress {
        /// The address.
        address: u64,
        /// The kind of access.
        kind: AccessKind,
        /// The number of bytes accessed by the thread.
        bytes: u32,
    },
    /// An access without the alignment of its size.
    Misaligned {
        /// The allocation.
        target: Target,
        /// The kind of access.
        kind: AccessKind,
        /// The required alignment.
        bytes: u32,
    },
    /// A write to read-only memory.
    ReadOnly {
        /// The allocation.
        target: Target,
    },
    /// An undefined value affects control flow or results.
    Undefined {
        /// Its use.
        reaches: Sink,
        /// Its origin, if known.
        origin: Option<Origin>,
    },
    /// An output that depends on its initial contents.
    DependsOnInitial {
        /// The allocation.
        target: Target,
    },
    /// An integer division by zero.
    DivisionByZero,
    /// `trap` was reached.
    Trap,
    /// A call to `__assertfail`.
    AssertFailed,
    /// Threads wait for each other, and none can continue.
    Deadlock {
        /// The number of waiting threads.
        waiting: u32,
        /// Their places and reasons.
        waits: Vec<Wait>,
    },
    /// Misuse of a CTA barrier.
    Barrier(BarrierFault),
    /// Misuse of an mbarrier.
    Mbarrier(Box<MbarrierFault>),
    /// A lane executes a collective whose mask excludes it.
    NotInMask {
        /// The mask.
        mask: u32,
    },
    /// A collective that completes only because lanes named by its mask have exited without executing it. The
    /// manual requires only non-exited lanes, so it is defined, but hardly intended.
    LanesExited {
        /// The mask.
        mask: u32,
        /// The exited lanes, and the places where they exited.
        exited: Vec<(u32, Place)>,
    },
    /// A whole-warp instruction with missing lanes: some have exited, or never existed.
    LanesMissing {
        /// The missing lanes.
        missing: u32,
    },
    /// A warp-group instruction that its warps do not execute alike.
    PartOfWarpGroup {
        /// Its name.
        instruction: &'static str,
        /// The reason.
        why: GroupFault,
    },
    /// An access of the block that took the last ticket, without a fence between the ticket and the access.
    NoAcquire {
        /// The place where the first block takes its ticket.
        ticket: Place,
    },
    /// An access to global memory without a preceding `griddepcontrol.wait`.
    BeforeGridWait {
        /// The allocation.
        target: Target,
        /// The kind of access.
        kind: AccessKind,
        /// Set if an earlier launch is known to make a conflicting access.
        conflicts: bool,
    },
    /// Asynchronous copies are in flight when their thread ends.
    CopiesInFlight {
        /// Their number.
        copies: usize,
        /// Set if the copies are in groups; otherwise no wait for a group could cover them.
        committed: bool,
    },
    /// An asynchronous copy that reads more bytes than it writes, which the manual leaves undefined.
    CopySize {
        /// Bytes to read.
        source: u32,
        /// Bytes to write.
        bytes: u8,
    },
    /// A bulk copy with a size that is not a multiple of 16.
    BulkSize {
        /// The number of bytes.
        bytes: u32,
    },
    /// A tensor copy that the manual leaves undefined, or that leaves its tensor.
    Tensor(Box<TensorFault>),
    /// Registers of a product are touched too early; an assembler delays the instruction.
    ProductRegisters(RegisterWindow),
    /// Products are in flight when their warp ends.
    ProductsInFlight {
        /// Their number.
        products: usize,
    },
    /// A fault between blocks of a cluster.
    Cluster(Box<ClusterFault>),
    /// Two unordered conflicting accesses.
    Race(Box<Race>),
}

impl Fault {
    /// Returns `true` for a note: worth reporting, but no error, because current hardware behaves
    /// predictably.
    #[must_use]
    pub fn is_note(&self) -> bool {
        match self {
            Self::CopiesInFlight { committed, .. } => *committed,
            Self::Barrier(fault) => fault.is_note(),
            Self::Mbarrier(fault) => fault.kind.is_note(),
            Self::LanesExited { .. } | Self::NoAcquire { .. } => true,
            Self::ProductRegisters(_) | Self::ProductsInFlight { .. } => true,
            Self::BeforeGridWait { conflicts, .. } => !conflicts,
            Self::Race(race) => race.is_harmless() || race.lacks_fence_after_read(),
            _ => false,
        }
    }
}

/// The missing synchronisation between an access to a product's registers and the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterWindow {
    /// No fence precedes the first product.
    First,
    /// No fence separates an access and a product.
    Unfenced {
        /// The access.
        access: Place,
    },
    /// The warp has not waited for an earlier product that uses the register.
    InFlight {
        /// The product.
        product: Place,
    },
}

/// A fault of a warp-group instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupFault {
    /// This warp of the group does not execute it.
    Absent(u32),
    /// This warp of the group executes it with other operands.
    Differs(u32),
    /// The group has fewer than four warps.
    Incomplete,
    /// Operands differ between lanes of a warp.
    Lanes,
    /// The executing warp has waited for something that this warp of the group does only after the instruction.
    /// Each warp waits there for all four, so the group hangs.
    Waits(u32),
}

/// A fault at a CTA barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierFault {
    /// Lanes of a warp come to different instructions, one of them `.aligned`.
    Divergent {
        /// The other instruction.
        other: Place,
    },
    /// Lanes of a warp come to different barriers.
    DifferentBarriers {
        /// The barriers.
        ids: [u8; 2],
        /// The other instruction.
        other: Place,
    },
    /// A barrier number other than 0 to 15.
    Id {
        /// The given number.
        id: u64,
    },
    /// A count other than a positive multiple of 32.
    Count {
        /// The given count.
        count: u32,
    },
    /// Two counts in one generation.
    MixedCounts {
        /// The count here.
        here: Option<u32>,
        /// The earlier count.
        before: Option<u32>,
        /// The other instruction.
        other: Place,
    },
    /// A reduction and a plain barrier in one generation.
    MixedKinds {
        /// The other instruction.
        other: Place,
    },
    /// Some lanes of a warp wait and others only arrive: an H200 hangs.
    ArriveAndWait {
        /// The other instruction.
        other: Place,
    },
    /// On another schedule this counts for the previous generation.
    Reuse {
        /// The number of the barrier.
        id: u8,
        /// The generation, counted from zero.
        generation: u64,
        /// The event that is not ordered before it.
        other: Place,
        /// A thread of that event.
        thread: Thread,
    },
    /// Warps wait at different `.aligned` instructions.
    DifferentSites {
        /// The number of the barrier.
        id: u8,
        /// The other instruction.
        other: Place,
    },
    /// Warps arrive, and no thread waits for them.
    Unawaited {
        /// The number of the barrier.
        id: u8,
        /// The number of threads it counts.
        count: Option<u32>,
        /// The number of threads that have arrived.
        arrived: u32,
    },
}

impl BarrierFault {
    /// Returns `true` for a note: worth reporting, but no error, because current hardware behaves
    /// predictably.
    #[must_use]
    pub fn is_note(&self) -> bool {
        matches!(self, Self::DifferentSites { .. } | Self::Unawaited { .. })
    }
}

/// Waiting threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Their place.
    pub place: Place,
    /// The first of them.
    pub first: Thread,
    /// Their number.
    pub threads: u32,
    /// Their reason.
    pub kind: WaitKind,
}

/// The reason why threads wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// An incomplete CTA barrier.
    Barrier {
        /// The number of the barrier.
        id: u8,
        /// The number of threads it counts; `None` for all that run.
        count: Option<u32>,
        /// The number of threads that have come.
        arrived: u32,
        /// A running thread that has not come.
        missing: Option<Thread>,
        /// The number of exited threads.
        exited: u32,
    },
    /// The other lanes of their warp, which must come before the warp registers.
    OwnWarp {
        /// The number of the barrier.
        id: u8,
        /// The lanes that have not come.
        missing: u32,
    },
    /// A phase of an mbarrier.
    Mbarrier(Box<MbarrierWait>),
    /// An incomplete cluster barrier.
    Cluster {
        /// The generation, counted from zero.
        generation: u64,
        /// The number of threads that have come.
        arrived: u32,
        /// A running thread that has not come.
        missing: Option<Thread>,
        /// The number of exited threads of the cluster.
        exited: u32,
    },
    /// Lanes named by a mask.
    Lanes {
        /// The lanes that have not come.
        missing: u32,
    },
}

/// A byte of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name of the allocation.
    pub name: String,
    /// Its state space.
    pub space: ir::Space,
    /// Offset from its start, negative before it.
    pub offset: i64,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes of an element, to report an index.
    pub element_bytes: u32,
    /// Alignment of the allocation.
    pub align: u64,
    /// In a cluster of several blocks, the rank of the block that owns the shared memory.
    pub rank: Option<u32>,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
}

/// The use of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// It decides a branch or guard.
    Control,
    /// It is part of an address.
    Address,
    /// It is a barrier operand or a lane mask.
    Synchronisation,
    /// It is the number of bytes that an asynchronous copy reads.
    CopySize,
    /// It is an operand of an atomic operation.
    Atomic,
    /// It is stored to global memory.
    Output,
}

impl Sink {
    /// Returns `true` if an undefined value makes everything after it unknown.
    #[must_use]
    pub fn decides(self) -> bool {
        matches!(self, Self::Control | Self::Address | Self::Synchronisation)
    }
}

/// The origin of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A register that was never written.
    Register,
    /// Memory that was never written, loaded at this place.
    Memory(Place),
    /// A shuffle from an inactive lane.
    Shuffle(Place),
    /// An access out of bounds.
    BadAccess(Place),
    /// A read that races with a write.
    RacingRead(Place),
    /// An index past the end of a branch table, a division by zero, and similar.
    Operation(Place),
}

/// A place where the run could not continue, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The place.
    pub place: Place,
    /// The first thread that could not continue, if the run had reached one.
    pub thread: Option<Thread>,
    /// The reason, as a sentence without a full stop.
    pub reason: String,
    /// The reason why the run ended.
    pub stop: StopReason,
}

/// The reason why a run ends before the kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The next action of the kernel is unknown or unsupported.
    NotFollowed,
    /// The next action depends on tensor data that is not given.
    Data,
    /// The instruction budget is exhausted. In a loop, the place is its start.
    Budget {
        /// Set if there is a loop.
        in_loop: bool,
    },
    /// The time limit is reached. In a loop, the place is its start.
    Time {
        /// Set if there is a loop.
        in_loop: bool,
    },
    /// The values of a domain take too much memory.
    Memory,
    /// By the cost of the first block, the launch exceeds the budget by far.
    Estimate {
        /// The number of instructions of all blocks.
        needed: u64,
        /// The number of blocks that the budget covers.
        fitting: u64,
    },
    /// An action with an undecided path condition is unsupported, or would be a fault.
    Conditional,
    /// A decision depends on a float without fixed bits in the manual, and its legal results decide
    /// differently.
    NotFixed,
    /// The watcher ended the run.
    Interrupted,
}

impl StopReason {
    /// Returns `true` if the next action is unknown or unsupported, for any reason.
    pub fn is_not_followed(self) -> bool {
        matches!(self, Self::NotFollowed | Self::Data)
    }
}
