//! The core operations.
//!
//! Long: one enumeration, and the one function that knows which of its fields are registers.

use crate::{
    Address, ArgumentRange, AsyncCopy, Atomic, BarrierKind, BulkCompletion, BulkCopy, FloatBinary,
    FloatMode, FloatProperty, FloatRelation, FloatUnary, Format, FuncId, IntBinary, IntTernary,
    IntUnary, Load, LoadMatrix, MapOp, Mbarrier, MbarrierArrive, MbarrierOp, MbarrierPhase, Mma,
    MoveMatrix, Operand, RealFunction, Reg, Relation, RemoteStore, Rounding, Scalar, Space,
    SpecialRegister, Store, StoreMatrix, Symbol, SyncOp, TensorCopy, TensorCopyKind, VarId, Wgmma,
    Width, WmmaLoad, WmmaMma, WmmaStore,
};

/// The operation of an instruction. Operands named `a`, `b`, `c` are read at the operation's width.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "operand names are explained on the operation they belong to")]
pub enum Op {
    /// `dst = src`
    Copy { dst: Reg, src: Operand },
    /// `dst = condition ? if_true : if_false`
    Select { dst: Reg, condition: Operand, if_true: Operand, if_false: Operand },
    /// Parts of equal width side by side, the first in the low bits.
    Concat { dst: Reg, parts: Vec<Operand> },
    /// The inverse of `Concat`; `None` is an unused part.
    Split { dsts: Vec<Option<Reg>>, src: Operand },
    /// The low `from` bits of `src`, extended or cut to the width of `dst`.
    Resize { dst: Reg, src: Operand, from: Width, signed: bool },
    /// A special register.
    ReadSpecial { dst: Reg, special: SpecialRegister },
    /// The address of a symbol in its own state space, plus an offset.
    AddressOf { dst: Reg, symbol: Symbol, offset: i64 },
    /// An address of `space` as a generic one, or the reverse (`cvta`).
    ConvertAddress { dst: Reg, src: Operand, space: Space, to_generic: bool },
    /// The address in block `rank` of the cluster that corresponds to an address of `space`, either the cluster's or
    /// generic (`mapa`).
    MapShared { dst: Reg, address: Operand, rank: Operand, space: Space },
    /// The rank of the block that an address of `space` belongs to (`getctarank`).
    SharedRank { dst: Reg, address: Operand, space: Space },
    /// A predicate: does a generic address point into `space` (`isspacep`)?
    IsSpace { dst: Reg, address: Operand, space: Space },

    /// Integer operation on one operand.
    IntUnary { op: IntUnary, width: Width, dst: Reg, a: Operand },
    /// Integer operation on two operands.
    IntBinary { op: IntBinary, width: Width, dst: Reg, a: Operand, b: Operand },
    /// Integer operation on three operands.
    IntTernary { op: IntTernary, width: Width, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// `base` with `length` bits from `position` on replaced by the low bits of `insert` (`bfi`).
    InsertBits {
        width: Width,
        dst: Reg,
        insert: Operand,
        base: Operand,
        position: Operand,
        length: Operand,
    },
    /// `a + b + carry_in`, or with `subtract` `a − (b + carry_in)`; the carry (or borrow) out goes
    /// to a predicate. The condition code of PTX is an ordinary predicate register here.
    AddCarry {
        width: Width,
        subtract: bool,
        dst: Reg,
        carry_out: Option<Reg>,
        a: Operand,
        b: Operand,
        carry_in: Option<Operand>,
    },
    /// A predicate: `a` related to `b`.
    IntCompare { relation: Relation, signed: bool, width: Width, dst: Reg, a: Operand, b: Operand },

    /// Float operation on one operand; `lanes` numbers side by side in one register.
    FloatUnary { op: FloatUnary, format: Format, lanes: u8, mode: FloatMode, dst: Reg, a: Operand },
    /// Float operation on two operands.
    FloatBinary {
        op: FloatBinary,
        format: Format,
        lanes: u8,
        mode: FloatMode,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `a·b + c`, rounded once.
    Fma { format: Format, lanes: u8, mode: FloatMode, dst: Reg, a: Operand, b: Operand, c: Operand },
    /// A function of reals, of one or two floats of a format; its result is unspecified for arguments out of `range`.
    Real {
        function: RealFunction,
        format: Format,
        range: Option<ArgumentRange>,
        dst: Reg,
        a: Operand,
        b: Option<Operand>,
    },
    /// A predicate: `a` related to `b`.
    FloatCompare {
        relation: FloatRelation,
        format: Format,
        flush: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// A predicate: does `a` have a property?
    FloatTest { property: FloatProperty, format: Format, dst: Reg, a: Operand },
    /// Between numbers, at least one of them a float. Between floats of one format only the modifiers have an effect.
    Convert {
        dst: Reg,
        src: Operand,
        from: Scalar,
        to: Scalar,
        /// For conversions to integers, the rounding of the fraction.
        rounding: Rounding,
        /// `.ftz`: subnormal inputs and results in single precision count as zero.
        flush: bool,
        /// `.sat`: to [0, 1] for floats, NaN to 0; to the range of the type for integers. Conversions from floats to
        /// integers always saturate.
        saturate: bool,
        /// `.satfinite`: overflow gives the largest finite number.
        finite: bool,
        /// `.relu`
        relu: bool,
    },

    /// Reads memory.
    Load(Load),
    /// Writes memory.
    Store(Store),
    /// Reads and writes memory in one step.
    Atomic(Atomic),
    /// Starts an asynchronous copy.
    AsyncCopy(AsyncCopy),
    /// Starts a bulk copy.
    BulkCopy(Box<BulkCopy>),
    /// Starts a copy of a box of a tensor.
    TensorCopy(Box<TensorCopy>),
    /// Changes a tensor map in memory.
    TensorMap(Box<MapOp>),
    /// Starts a store or an update in shared memory of another block.
    RemoteStore(Box<RemoteStore>),
    /// Makes the contents undefined (`discard`).
    Discard { space: Space, address: Address, bytes: u64 },

    /// Waits for or communicates with other threads.
    Sync(SyncOp),

    /// Matrix multiply-accumulate of a warp.
    Mma(Box<Mma>),
    /// Loads 8×8 matrices.
    LoadMatrix(Box<LoadMatrix>),
    /// Stores 8×8 matrices.
    StoreMatrix(Box<StoreMatrix>),
    /// Transposes an 8×8 matrix in registers.
    MoveMatrix(MoveMatrix),
    /// Loads a fragment of unspecified layout.
    WmmaLoad(Box<WmmaLoad>),
    /// Stores a fragment of unspecified layout.
    WmmaStore(Box<WmmaStore>),
    /// Multiplies fragments of unspecified layout.
    WmmaMma(Box<WmmaMma>),
    /// Starts a product of a warp group.
    Wgmma(Box<Wgmma>),

    /// Calls a function.
    Call { callee: FuncId, arguments: Vec<Argument>, returns: Vec<Argument> },
    /// A value that the manual does not fix: a cache policy, or a count that depends on the schedule. `what` names
    /// it.
    Opaque { dst: Reg, what: &'static str },
    /// No effect on values or memory: `prefetch`, `nanosleep` and similar.
    Hint { what: &'static str },
    /// An operation that the front end cannot express; the text names it.
    Unsupported { what: String },
}

/// The passing of an argument or a result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Through a `.param` variable of the caller.
    Variable(VarId),
    /// By value; for a result, always a register.
    Operand(Operand),
}

/// An access of an operation: to a register, an address, a symbol or an argument variable, in the order of the text
/// form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A register is written.
    Write(Reg),
    /// An unused destination.
    Sink,
    /// An operand is read.
    Read(Operand),
    /// An address is formed; its register is read.
    Address(Address),
    /// A symbol is mentioned.
    Symbol(Symbol, i64),
    /// An argument variable is read or written by a call.
    Argument(VarId),
}

impl Op {
    /// Does it only compute registers of its own lane from registers of its own lane, without memory, other threads
    /// or calls? The match has no wildcard, so that a new operation must be considered here.
    #[must_use]
    pub fn is_of_registers(&self) -> bool {
        match self {
            Self::Copy { .. }
            | Self::Select { .. }
            | Self::Concat { .. }
            | Self::Split { .. }
            | Self::Resize { .. }
            | Self::ReadSpecial { .. }
            | Self::Opaque { .. }
            | Self::AddressOf { .. }
            | Self::ConvertAddress { .. }
            | Self::MapShared { .. }
            | Self::SharedRank { .. }
            | Self::IsSpace { .. }
            | Self::IntUnary { .. }
            | Self::IntBinary { .. }
            | Self::IntTernary { .. }
            | Self::InsertBits { .. }
            | Self::AddCarry { .. }
            | Self::IntCompare { .. }
            | Self::FloatUnary { .. }
            | Self::FloatBinary { .. }
            | Self::Fma { .. }
            | Self::Real { .. }
            | Self::FloatCompare { .. }
            | Self::FloatTest { .. }
            | Self::Convert { .. } => true,
            Self::Load(_)
            | Self::Store(_)
            | Self::Atomic(_)
            | Self::AsyncCopy(_)
            | Self::BulkCopy(_)
            | Self::TensorCopy(_)
            | Self::TensorMap(_)
            | Self::RemoteStore(_)
            | Self::Discard { .. }
            | Self::Sync(_)
            | Self::Mma(_)
            | Self::LoadMatrix(_)
            | Self::StoreMatrix(_)
            | Self::MoveMatrix(_)
            | Self::WmmaLoad(_)
            | Self::WmmaStore(_)
            | Self::WmmaMma(_)
            | Self::Wgmma(_)
            | Self::Call { .. }
            | Self::Hint { .. }
            | Self::Unsupported { .. } => false,
        }
    }

    /// Calls `visit` for everything the operation accesses: results first, then operands in the order of the fields.
    ///
    /// This is the one place that knows which fields are registers; printing, validation and liveness are built on
    /// it.
    pub fn visit(&self, visit: &mut dyn FnMut(Access)) {
        use Access::{Address as At, Read, Write};
        match self {
            Self::Copy { dst, src } => {
                visit(Write(*dst));
                visit(Read(*src));
            }
            Self::Select { dst, condition, if_true, if_false } => {
                visit(Write(*dst));
                [condition, if_true, if_false].into_iter().for_each(|&o| visit(Read(o)));
            }
            Self::Concat { dst, parts } => {
                visit(Write(*dst));
                parts.iter().for_each(|&part| visit(Read(part)));
            }
            Self::Split { dsts, src } => {
                write_all(dsts, visit);
                visit(Read(*src));
            }
            Self::Resize { dst, src, .. }
            | Self::ConvertAddress { dst, src, .. }
            | Self::Convert { dst, src, .. } => {
                visit(Write(*dst));
                visit(Read(*src));
            }
            Self::ReadSpecial { dst, .. } | Self::Opaque { dst, .. } => visit(Write(*dst)),
            Self::AddressOf { dst, symbol, offset } => {
                visit(Write(*dst));
                visit(Access::Symbol(*symbol, *offset));
            }
            Self::IsSpace { dst, address, .. } | Self::SharedRank { dst, address, .. } => {
                visit(Write(*dst));
                visit(Read(*address));
            }
            Self::MapShared { dst, address, rank, .. } => {
                visit(Write(*dst));
                visit(Read(*address));
                visit(Read(*rank));
            }
            Self::IntUnary { dst, a, .. }
            | Self::FloatUnary { dst, a, .. }
            | Self::FloatTest { dst, a, .. } => {
                visit(Write(*dst));
                visit(Read(*a));
            }
            Self::IntBinary { dst, a, b, .. }
            | Self::IntCompare { dst, a, b, .. }
            | Self::FloatBinary { dst, a, b, .. }
            | Self::FloatCompare { dst, a, b, .. } => {
                visit(Write(*dst));
                visit(Read(*a));
                visit(Read(*b));
            }
            Self::IntTernary { dst, a, b, c, .. } | Self::Fma { dst, a, b, c, .. } => {
                visit(Write(*dst));
                [a, b, c].into_iter().for_each(|&o| visit(Read(o)));
            }
            Self::Real { dst, a, b, .. } => {
                visit(Write(*dst));
                visit(Read(*a));
                b.iter().for_each(|&b| visit(Read(b)));
            }
            Self::InsertBits { dst, insert, base, position, length, .. } => {
                visit(Write(*dst));
                [insert, base, position, length].into_iter().for_each(|&o| visit(Read(o)));
            }
            Self::AddCarry { dst, carry_out, a, b, carry_in, .. } => {
                visit(Write(*dst));
                carry_out.iter().for_each(|&reg| visit(Write(reg)));
                visit(Read(*a));
                visit(Read(*b));
                carry_in.iter().for_each(|&carry| visit(Read(carry)));
            }
            Self::Load(load) => {
                write_all(&load.dsts, visit);
                visit(At(load.address));
            }
            Self::Store(store) => {
                visit(At(store.address));
                store.srcs.iter().for_each(|&src| visit(Read(src)));
            }
            Self::Atomic(atomic) => {
                write_all(&atomic.dsts, visit);
                visit(At(atomic.address));
                atomic.a.iter().chain(&atomic.b).for_each(|&o| visit(Read(o)));
            }
            Self::AsyncCopy(copy) => {
                visit(At(copy.dst));
                visit(At(copy.src));
                copy.src_bytes.iter().chain(&copy.ignore_src).for_each(|&o| visit(Read(o)));
            }
            Self::BulkCopy(copy) => {
                visit(At(copy.dst));
                visit(At(copy.src));
                visit(Read(copy.bytes));
                if let BulkCompletion::Mbarrier(at) = copy.completion {
                    visit(At(at));
                }
                copy.multicast.iter().for_each(|&mask| visit(Read(mask)));
            }
            Self::RemoteStore(store) => {
                visit(At(store.address));
                visit(At(store.mbarrier));
                store.srcs.iter().for_each(|&src| visit(Read(src)));
            }
            Self::TensorCopy(copy) => {
                visit(At(copy.map));
                visit(At(copy.shared));
                copy.coordinates.iter().for_each(|&one| visit(Read(one)));
                if let TensorCopyKind::Load { mbarrier, offsets, multicast } = &copy.kind {
                    visit(At(*mbarrier));
                    offsets.iter().chain(multicast).for_each(|&one| visit(Read(one)));
                }
            }
            Self::TensorMap(op) => match &**op {
                MapOp::Replace { map, value, .. } => {
                    visit(At(*map));
                    visit(Read(*value));
                }
                MapOp::Publish { dst, src } => {
                    visit(At(*dst));
                    visit(At(*src));
                }
            },
            Self::Discard { address, .. } => visit(At(*address)),
            Self::Sync(sync) => visit_sync(sync, visit),
            Self::Mma(mma) => {
                mma.d.iter().for_each(|&reg| visit(Write(reg)));
                mma.a.iter().chain(&mma.b).chain(&mma.c).for_each(|&o| visit(Read(o)));
                mma.sparsity.iter().for_each(|sparsity| visit(Read(sparsity.metadata)));
            }
            Self::LoadMatrix(load) => {
                load.dsts.iter().for_each(|&reg| visit(Write(reg)));
                visit(At(load.address));
            }
            Self::StoreMatrix(store) => {
                visit(At(store.address));
                store.srcs.iter().for_each(|&src| visit(Read(src)));
            }
            Self::MoveMatrix(MoveMatrix { dst, src }) => {
                visit(Write(*dst));
                visit(Read(*src));
            }
            Self::WmmaLoad(load) => {
                load.dsts.iter().for_each(|&reg| visit(Write(reg)));
                visit(At(load.address));
                load.stride.iter().for_each(|&o| visit(Read(o)));
            }
            Self::WmmaStore(store) => {
                visit(At(store.address));
                store.srcs.iter().chain(&store.stride).for_each(|&o| visit(Read(o)));
            }
            Self::WmmaMma(mma) => {
                mma.d.iter().for_each(|&reg| visit(Write(reg)));
                mma.a.iter().chain(&mma.b).chain(&mma.c).for_each(|&o| visit(Read(o)));
            }
            Self::Wgmma(product) => product.visit(visit),
            Self::Call { callee, arguments, returns } => {
                returns.iter().for_each(|result| match result {
                    Argument::Operand(Operand::Register(reg)) => visit(Write(*reg)),
                    Argument::Operand(Operand::Constant(_)) => visit(Access::Sink),
                    Argument::Variable(variable) => visit(Access::Argument(*variable)),
                });
                visit(Access::Symbol(Symbol::Function(*callee), 0));
                arguments.iter().for_each(|argument| match argument {
                    Argument::Operand(operand) => visit(Read(*operand)),
                    Argument::Variable(variable) => visit(Access::Argument(*variable)),
                });
            }
            Self::Hint { .. } | Self::Unsupported { .. } => {}
        }
    }
}

fn write_all(dsts: &[Option<Reg>], visit: &mut dyn FnMut(Access)) {
    dsts.iter().for_each(|dst| visit(dst.map_or(Access::Sink, Access::Write)));
}

fn visit_sync(sync: &SyncOp, visit: &mut dyn FnMut(Access)) {
    use Access::{Read, Write};
    match sync {
        SyncOp::Barrier { kind, id, count, .. } => {
            let predicate = match kind {
                BarrierKind::Sync | BarrierKind::Arrive => None,
                BarrierKind::Popc { dst, predicate }
                | BarrierKind::And { dst, predicate }
                | BarrierKind::Or { dst, predicate } => {
                    visit(Write(*dst));
                    Some(*predicate)
                }
            };
            visit(Read(*id));
            count.iter().chain(&predicate).for_each(|&o| visit(Read(o)));
        }
        SyncOp::WarpBarrier { mask } => visit(Read(*mask)),
        SyncOp::Shuffle { dst, in_range, value, lane, clamp, mask, .. } => {
            visit(Write(*dst));
            in_range.iter().for_each(|&reg| visit(Write(reg)));
            [value, lane, clamp, mask].into_iter().for_each(|&o| visit(Read(o)));
        }
        SyncOp::Vote { dst, predicate, mask, .. } => {
            visit(Write(*dst));
            visit(Read(*predicate));
            visit(Read(*mask));
        }
        SyncOp::Match { dst, all_equal, value, mask, .. } => {
            visit(Write(*dst));
            all_equal.iter().for_each(|&reg| visit(Write(reg)));
            visit(Read(*value));
            visit(Read(*mask));
        }
        SyncOp::Redux { dst, value, mask, .. } => {
            visit(Write(*dst));
            visit(Read(*value));
            visit(Read(*mask));
        }
        SyncOp::ActiveMask { dst } => visit(Write(*dst)),
        SyncOp::Elect { leader, is_leader, mask } => {
            visit(leader.map_or(Access::Sink, Write));
            visit(Write(*is_leader));
            visit(Read(*mask));
        }
        SyncOp::Mbarrier(mbarrier) => visit_mbarrier(mbarrier, visit),
        SyncOp::MapFence(map) => map.iter().for_each(|&map| visit(Access::Address(map))),
        SyncOp::Fence { .. }
        | SyncOp::CommitGroup
        | SyncOp::WaitGroup(_)
        | SyncOp::BulkCommit
        | SyncOp::BulkWait { .. }
        | SyncOp::ProxyFence(_)
        | SyncOp::RegisterPool(_)
        | SyncOp::Wgmma(_)
        | SyncOp::ClusterBarrier { .. }
        | SyncOp::FenceMbarrierInit
        | SyncOp::GridWait => {}
    }
}

fn visit_mbarrier(mbarrier: &Mbarrier, visit: &mut dyn FnMut(Access)) {
    use Access::{Read, Write};
    match &mbarrier.op {
        MbarrierOp::Arrive(arrive) => visit(arrive.state.map_or(Access::Sink, Write)),
        MbarrierOp::Test(test) | MbarrierOp::Peek(test) | MbarrierOp::Wait(test) => {
            visit(Write(test.dst))
        }
        _ => {}
    }
    visit(Access::Address(mbarrier.address));
    match &mbarrier.op {
        MbarrierOp::Init(count) => visit(Read(*count)),
        MbarrierOp::Arrive(MbarrierArrive { count, expect, .. }) => {
            [Some(count), expect.as_ref()].into_iter().flatten().for_each(|&o| visit(Read(o)));
        }
        MbarrierOp::ExpectTx(bytes) | MbarrierOp::CompleteTx(bytes) => {
            visit(Read(*bytes));
        }
        MbarrierOp::Test(test) | MbarrierOp::Peek(test) | MbarrierOp::Wait(test) => {
            match test.phase {
                MbarrierPhase::State(operand) | MbarrierPhase::Parity(operand) => {
                    visit(Read(operand));
                }
            }
        }
        MbarrierOp::Inval | MbarrierOp::CopyArrive { .. } => {}
    }
}
