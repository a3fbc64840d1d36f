//! What a run found: faults of the kernel, and places where we stop knowing.

use crate::cluster_fault::ClusterFault;
use crate::mbarrier_fault::{MbarrierFault, MbarrierWait};
use crate::race::Race;
use crate::tensor_fault::TensorFault;
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
    /// The rank of its block, in a cluster of several.
    pub rank: Option<u32>,
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
        /// What data must be for it to happen, if it depends on them.
        when: Option<String>,
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
        /// Where, and for what.
        waits: Vec<Wait>,
    },
    /// A barrier of the block is used as it must not be.
    Barrier(BarrierFault),
    /// An mbarrier is used as it must not be.
    Mbarrier(Box<MbarrierFault>),
    /// A lane executes a collective whose mask does not name it.
    NotInMask {
        /// The mask.
        mask: u32,
    },
    /// A collective that completes only because lanes its mask names have exited without executing
    /// it. The manual waits for non-exited lanes alone, so it is defined; it is hardly meant.
    LanesLeft {
        /// The mask.
        mask: u32,
        /// The lanes that have exited, and where.
        left: Vec<(u32, Place)>,
    },
    /// An instruction of whole warps without all lanes: some have exited, or never were.
    LanesMissing {
        /// Which.
        missing: u32,
    },
    /// An instruction of a warp group that not all of it do alike.
    PartOfWarpGroup {
        /// Its name.
        instruction: &'static str,
        /// The reason.
        why: GroupFault,
    },
    /// An access of the block that took the last ticket, without a fence between the ticket and the access.
    NoAcquire {
        /// Where the first block takes its ticket.
        ticket: Place,
    },
    /// An access to global memory that no `griddepcontrol.wait` comes before.
    BeforeGridWait {
        /// The allocation.
        target: Target,
        /// What the access does.
        kind: AccessKind,
        /// An earlier launch is known to touch it so that the order matters.
        conflicts: bool,
    },
    /// Asynchronous copies are on their way when their thread ends.
    CopiesInFlight {
        /// How many.
        copies: usize,
        /// Whether they are in groups; if not, no wait for a group could cover them.
        committed: bool,
    },
    /// An asynchronous copy is to read more bytes than it writes, which the manual leaves undefined.
    CopySize {
        /// Bytes to read.
        source: u32,
        /// Bytes to write.
        bytes: u8,
    },
    /// A bulk copy of a number of bytes that is not a multiple of 16.
    BulkSize {
        /// Bytes.
        bytes: u32,
    },
    /// A tensor copy that the manual leaves undefined, or that goes beyond its tensor.
    Tensor(Box<TensorFault>),
    /// Registers of a product are touched when they must not be; an assembler delays what touches them.
    ProductRegisters(RegisterWindow),
    /// Products are on their way when their warp ends.
    ProductsInFlight {
        /// How many.
        products: usize,
    },
    /// Something is wrong between blocks of a cluster.
    Cluster(Box<ClusterFault>),
    /// Two accesses that nothing orders.
    Race(Box<Race>),
}

impl Fault {
    /// Whether it is worth telling but no error: what happens is clear, on today's hardware.
    #[must_use]
    pub fn is_note(&self) -> bool {
        match self {
            Self::CopiesInFlight { committed, .. } => *committed,
            Self::Barrier(fault) => fault.is_note(),
            Self::Mbarrier(fault) => fault.kind.is_note(),
            Self::LanesLeft { .. } | Self::NoAcquire { .. } => true,
            Self::ProductRegisters(_) | Self::ProductsInFlight { .. } => true,
            Self::BeforeGridWait { conflicts, .. } => !conflicts,
            Self::Race(race) => race.is_harmless() || race.lacks_fence_after_read(),
            _ => false,
        }
    }
}

/// How registers of a product are touched when they must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterWindow {
    /// No fence comes before the first product.
    First,
    /// No fence comes between an access and a product.
    Unfenced {
        /// The access.
        access: Place,
    },
    /// Nobody has waited for a product.
    InFlight {
        /// The product.
        product: Place,
    },
}

/// What is wrong with an instruction of a warp group.
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
    /// A warp comes to it only after this one has gone past it, which waits for all four.
    Waits(u32),
}

/// What is wrong at a barrier of the block.
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
    /// There are barriers 0 to 15.
    Id {
        /// The number named.
        id: u64,
    },
    /// The count is not a positive multiple of 32.
    Count {
        /// The count named.
        count: u32,
    },
    /// Two counts in one generation.
    MixedCounts {
        /// The count named here.
        here: Option<u32>,
        /// The count named before.
        before: Option<u32>,
        /// Where.
        other: Place,
    },
    /// A reduction and a plain barrier in one generation.
    MixedKinds {
        /// The other instruction.
        other: Place,
    },
    /// Lanes of a warp of which some wait and some only arrive: an H200 hangs.
    ArriveAndWait {
        /// The other instruction.
        other: Place,
    },
    /// On another schedule this counts for the generation before.
    Reuse {
        /// Which barrier.
        id: u8,
        /// The generation, counted from zero.
        generation: u64,
        /// What is not ordered before it.
        other: Place,
        /// A thread that does it.
        thread: Thread,
    },
    /// Warps wait at different `.aligned` instructions.
    DifferentSites {
        /// Which barrier.
        id: u8,
        /// The other instruction.
        other: Place,
    },
    /// Warps arrive and nobody waits for them.
    Unawaited {
        /// Which barrier.
        id: u8,
        /// How many threads it counts.
        count: Option<u32>,
        /// How many have arrived.
        arrived: u32,
    },
}

impl BarrierFault {
    /// Whether it is worth telling but no error: what happens is clear, on today's hardware.
    #[must_use]
    pub fn is_note(&self) -> bool {
        matches!(self, Self::DifferentSites { .. } | Self::Unawaited { .. })
    }
}

/// Threads that wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Where.
    pub place: Place,
    /// The first of them.
    pub first: Thread,
    /// How many there are.
    pub threads: u32,
    /// For what.
    pub kind: WaitKind,
}

/// What threads wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A barrier that not everybody has come to.
    Barrier {
        /// Which one.
        id: u8,
        /// How many threads it counts; all that run if absent.
        count: Option<u32>,
        /// How many have come.
        arrived: u32,
        /// A thread that runs and has not come.
        missing: Option<Thread>,
        /// How many threads have exited.
        exited: u32,
    },
    /// The other lanes of their warp, to register at a barrier.
    OwnWarp {
        /// Which barrier.
        id: u8,
        /// The lanes that have not come.
        missing: u32,
    },
    /// A phase of an mbarrier.
    Mbarrier(Box<MbarrierWait>),
    /// The barrier of the cluster, that not everybody has come to.
    Cluster {
        /// The generation, counted from zero.
        generation: u64,
        /// How many threads have come.
        arrived: u32,
        /// A thread that runs and has not come.
        missing: Option<Thread>,
        /// How many threads of the cluster have exited.
        exited: u32,
    },
    /// Lanes that a mask names.
    Lanes {
        /// The lanes that have not come.
        missing: u32,
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
    /// The rank of the block whose shared memory it is, in a cluster of several.
    pub rank: Option<u32>,
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
    /// It is the number of bytes that an asynchronous copy reads.
    CopySize,
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
    /// A read that races with a write.
    RacingRead(Place),
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
    /// By what the first block took, all blocks take far more instructions than there are.
    Estimate {
        /// How many instructions all of them take.
        needed: u64,
        /// How many blocks there are instructions for.
        fitting: u64,
    },
    /// Something cannot be followed, or would be wrong, that happens only under a condition that is not decided.
    Conditional,
    /// Something depends on a float whose bits the manual does not fix, and not all of its legal results decide alike.
    NotFixed,
    /// Whoever watches the run wanted it to end.
    Interrupted,
}
