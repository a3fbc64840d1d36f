//! Memory operations (PTX manual §9.7.9 and §9.7.13, chapter 8).

use crate::{MapField, Operand, Reg, Scalar, VarId, Width};

/// A state space an access names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Any of the others, depending on the address.
    Generic,
    /// Global memory.
    Global,
    /// Shared memory of the executing block.
    Shared,
    /// Shared memory of any block of the cluster.
    SharedCluster,
    /// Memory of one thread.
    Local,
    /// Constant memory.
    Const,
    /// Parameters of the kernel.
    ParamEntry,
    /// Parameters of a device function, and the arguments a caller prepares.
    ParamFunc,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register of 32 or 64 bits.
    Register(Reg),
    /// A variable.
    Variable(VarId),
    /// None: the offset is the address.
    Absolute,
}

/// `[base + offset]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The base that the offset is added to.
    pub base: AddressBase,
    /// Bytes, added modulo the size of an address.
    pub offset: i64,
}

/// The threads that must agree on the order of strong operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// The role of an access in the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// An ordinary access.
    Weak,
    /// `.volatile`: relaxed at system scope, and not merged with others.
    Volatile,
    /// `.mmio.relaxed`
    Mmio,
    /// `.relaxed`
    Relaxed(Scope),
    /// `.acquire`
    Acquire(Scope),
    /// `.release`
    Release(Scope),
    /// `.acq_rel`
    AcquireRelease(Scope),
}

impl Ordering {
    /// The threads for which the access is strong; `None` if it is weak.
    #[must_use]
    pub const fn scope(self) -> Option<Scope> {
        match self {
            Self::Weak => None,
            Self::Volatile | Self::Mmio => Some(Scope::Sys),
            Self::Relaxed(scope)
            | Self::Acquire(scope)
            | Self::Release(scope)
            | Self::AcquireRelease(scope) => Some(scope),
        }
    }
}

/// Reads `dsts.len()` consecutive elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The destinations of the elements; `None` is `_`.
    pub dsts: Vec<Option<Reg>>,
    /// Size of one element in memory.
    pub width: Width,
    /// Elements are sign-extended to wider registers, else zero-extended.
    pub signed: bool,
    /// State space.
    pub space: Space,
    /// Address of the first element.
    pub address: Address,
    /// Memory order.
    pub ordering: Ordering,
    /// `.nc`: through the read-only cache, outside the memory model.
    pub non_coherent: bool,
}

/// Writes consecutive elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The elements.
    pub srcs: Vec<Operand>,
    /// Size of one element in memory.
    pub width: Width,
    /// State space.
    pub space: Space,
    /// Address of the first element.
    pub address: Address,
    /// Memory order.
    pub ordering: Ordering,
}

/// The new value that a read-modify-write computes from the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// old + a
    Add,
    /// The smaller of old and a.
    Min,
    /// The larger of old and a.
    Max,
    /// old ≥ a ? 0 : old + 1
    Inc,
    /// old = 0 or old > a ? a : old − 1
    Dec,
    /// old & a
    And,
    /// old | a
    Or,
    /// old ^ a
    Xor,
    /// a
    Exchange,
    /// old = a ? b : old
    CompareSwap,
    /// old · a: no instruction does this, but a loop of compare-and-swap may. So do the following ones.
    Mul,
    /// old + a, of floats, where a may be a product that the assembler fuses with the sum
    AddProduct,
    /// a > old ? a : old, of floats
    Raise,
    /// a ≤ old ? old : a, of floats
    RaiseOrNan,
    /// a < old ? a : old, of floats
    Lower,
    /// a ≥ old ? old : a, of floats
    LowerOrNan,
}

/// A read-modify-write of one or several consecutive elements, each of them atomic on its own.
///
/// Additions of f32 flush subnormals in global memory and keep them in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// Old values; empty for `red`.
    pub dsts: Vec<Option<Reg>>,
    /// The operation.
    pub op: AtomicOp,
    /// The type of one element.
    pub scalar: Scalar,
    /// Elements in one register (2 for `f16x2`).
    pub packed: u8,
    /// Operand for each element (or pack).
    pub a: Vec<Operand>,
    /// Second operand of a compare-and-swap.
    pub b: Option<Operand>,
    /// State space.
    pub space: Space,
    /// Address.
    pub address: Address,
    /// Memory order.
    pub ordering: Ordering,
    /// Set if sums of f32 keep subnormals: no instruction does in global memory, but a loop of compare-and-swap may.
    /// For [`AtomicOp::Mul`] and the operations after it: set if f32 is not flushed.
    pub keeps_subnormals: bool,
    /// When it leaves memory alone. No instruction does, but a loop of compare-and-swap may.
    pub skips: Skips,
}

/// When an update by a loop of compare-and-swap leaves without a swap. Then it is a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skips {
    /// Never: it always writes, perhaps the number that was there.
    #[default]
    Never,
    /// If its number is not better than the number in memory.
    UnlessBetter,
    /// If its number is worse. Of equal numbers, one may be swapped for the other.
    IfWorse,
    /// If its number is not better, and perhaps not even then: it may swap the better number for itself.
    Perhaps,
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`: copies between global and shared memory, asynchronously and through the
/// async proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkCopy {
    /// Destination.
    pub dst: Address,
    /// Its state space.
    pub dst_space: Space,
    /// Source.
    pub src: Address,
    /// Its state space.
    pub src_space: Space,
    /// Bytes, a multiple of 16.
    pub bytes: Operand,
    /// The signal of its completion.
    pub completion: BulkCompletion,
    /// Update of each element of the destination instead of a write; its operands are the source's elements.
    pub reduce: Option<Atomic>,
    /// `.multicast::cluster`: the blocks that get a copy, one bit for each rank.
    pub multicast: Option<Operand>,
}

/// `st.async`, `red.async`: asynchronously writes or updates values in shared memory of a block of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteStore {
    /// Destination.
    pub address: Address,
    /// State space of destination and mbarrier.
    pub space: Space,
    /// The mbarrier to which the number of its bytes is signalled.
    pub mbarrier: Address,
    /// Width of each value.
    pub width: Width,
    /// Values, side by side in memory.
    pub srcs: Vec<Operand>,
    /// Update instead of a write.
    pub reduce: Option<Atomic>,
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`: asynchronously copies a box of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorCopy {
    /// The tensor map, of 128 bytes.
    pub map: Address,
    /// Coordinates of the first element, innermost first.
    pub coordinates: Vec<Operand>,
    /// The box in shared memory.
    pub shared: Address,
    /// Its state space.
    pub shared_space: Space,
    /// `.im2col`, else `.tile`.
    pub im2col: bool,
    /// The direction of the copy.
    pub kind: TensorCopyKind,
}

/// The direction of a tensor copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorCopyKind {
    /// To shared memory.
    Load {
        /// The mbarrier to which the number of its bytes is signalled.
        mbarrier: Address,
        /// Offsets of `.im2col`, 16 bits each.
        offsets: Vec<Operand>,
        /// `.multicast::cluster`: the blocks that get a copy, one bit for each rank.
        multicast: Option<Operand>,
    },
    /// To global memory, in the uncommitted bulk group of its thread.
    Store,
    /// To global memory, updating each element; the map has the type.
    Reduce(AtomicOp),
}

/// The signal of a bulk copy's completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkCompletion {
    /// The number of its bytes is signalled to an mbarrier.
    Mbarrier(Address),
    /// It completes with the uncommitted bulk group of its thread.
    Group,
}

/// `cp.async`: asynchronously copies from global to shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsyncCopy {
    /// Destination in shared memory.
    pub dst: Address,
    /// Source in global memory.
    pub src: Address,
    /// Bytes written: 4, 8 or 16.
    pub bytes: u8,
    /// Bytes read, the rest is zero; all if absent.
    pub src_bytes: Option<Operand>,
    /// A predicate that makes the copy write zeros and read nothing.
    pub ignore_src: Option<Operand>,
}

/// An operation on a tensor map in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapOp {
    /// `tensormap.replace`
    Replace {
        /// The map.
        map: Address,
        /// Its state space.
        space: Space,
        /// The replaced field.
        field: MapField,
        /// Its new value.
        value: Operand,
    },
    /// `tensormap.cp_fenceproxy` (§9.7.13.16): a warp copies a map from shared to global memory and releases it to
    /// the tensormap proxy.
    Publish {
        /// The copy in global memory.
        dst: Address,
        /// The map in shared memory.
        src: Address,
    },
}
