//! The one place that knows which fields of an operation are registers. Printing, validation and liveness are built on
//! it.
//!
//! The order of calls is that of the text form: results first, then operands in the order of the fields.

use crate::{
    Access, Address, Argument, AsyncCopy, Atomic, BarrierKind, BulkCompletion, BulkCopy, Load,
    MapOp, Mbarrier, MbarrierArrive, MbarrierOp, MbarrierPhase, Mma, MoveMatrix, Op, Operand, Reg,
    RemoteStore, Store, Symbol, SyncOp, TensorCopy, TensorCopyKind, WmmaMma,
};

/// A visitor of accesses.
type Visit<'v> = &'v mut dyn FnMut(Access);

impl Op {
    /// Calls `visit` for everything the operation accesses: results first, then operands in the order of the fields.
    ///
    /// Long: one arm for each operation.
    pub fn visit(&self, visit: Visit<'_>) {
        match self {
            Self::Copy { dst, src }
            | Self::Resize { dst, src, .. }
            | Self::ConvertAddress { dst, src, .. }
            | Self::Convert { dst, src, .. }
            | Self::MoveMatrix(MoveMatrix { dst, src }) => computes(*dst, &[*src], visit),
            Self::Select { dst, condition, if_true, if_false } => {
                computes(*dst, &[*condition, *if_true, *if_false], visit);
            }
            Self::Concat { dst, parts } => computes(*dst, parts, visit),
            Self::Split { dsts, src } => {
                writes_or_skips(dsts, visit);
                visit(Access::Read(*src));
            }
            Self::ReadSpecial { dst, .. } | Self::Opaque { dst, .. } => computes(*dst, &[], visit),
            Self::AddressOf { dst, symbol, offset } => {
                visit(Access::Write(*dst));
                visit(Access::Symbol(*symbol, *offset));
            }
            Self::IsSpace { dst, address, .. } | Self::SharedRank { dst, address, .. } => {
                computes(*dst, &[*address], visit);
            }
            Self::MapShared { dst, address, rank, .. } => computes(*dst, &[*address, *rank], visit),
            Self::IntUnary { dst, a, .. }
            | Self::FloatUnary { dst, a, .. }
            | Self::FloatTest { dst, a, .. } => computes(*dst, &[*a], visit),
            Self::IntBinary { dst, a, b, .. }
            | Self::IntCompare { dst, a, b, .. }
            | Self::FloatBinary { dst, a, b, .. }
            | Self::FloatCompare { dst, a, b, .. } => computes(*dst, &[*a, *b], visit),
            Self::IntTernary { dst, a, b, c, .. } | Self::Fma { dst, a, b, c, .. } => {
                computes(*dst, &[*a, *b, *c], visit);
            }
            Self::Real { dst, a, b, .. } => {
                computes(*dst, &[*a], visit);
                reads(b, visit);
            }
            Self::InsertBits { dst, insert, base, position, length, .. } => {
                computes(*dst, &[*insert, *base, *position, *length], visit);
            }
            Self::AddCarry { dst, carry_out, a, b, carry_in, .. } => {
                writes([dst].into_iter().chain(carry_out), visit);
                reads([a, b].into_iter().chain(carry_in), visit);
            }
            Self::Load(load) => visit_load(load, visit),
            Self::Store(store) => visit_store(store, visit),
            Self::Atomic(atomic) => visit_atomic(atomic, visit),
            Self::AsyncCopy(copy) => visit_async_copy(copy, visit),
            Self::BulkCopy(copy) => visit_bulk_copy(copy, visit),
            Self::RemoteStore(store) => visit_remote_store(store, visit),
            Self::TensorCopy(copy) => visit_tensor_copy(copy, visit),
            Self::TensorMap(op) => visit_tensor_map(op, visit),
            Self::Discard { address, .. } => visit(Access::Address(*address)),
            Self::Sync(sync) => visit_sync(sync, visit),
            Self::Mma(mma) => visit_mma(mma, visit),
            Self::LoadMatrix(load) => {
                writes(&load.dsts, visit);
                visit(Access::Address(load.address));
            }
            Self::StoreMatrix(store) => {
                visit(Access::Address(store.address));
                reads(&store.srcs, visit);
            }
            Self::WmmaLoad(load) => {
                writes(&load.dsts, visit);
                visit(Access::Address(load.address));
                reads(&load.stride, visit);
            }
            Self::WmmaStore(store) => {
                visit(Access::Address(store.address));
                reads(store.srcs.iter().chain(&store.stride), visit);
            }
            Self::WmmaMma(mma) => visit_wmma(mma, visit),
            Self::Wgmma(product) => product.visit(visit),
            Self::Call { callee, arguments, returns } => {
                returns.iter().for_each(|&result| visit_result(result, visit));
                visit(Access::Symbol(Symbol::Function(*callee), 0));
                arguments.iter().for_each(|&argument| visit_argument(argument, visit));
            }
            Self::Hint { .. } | Self::Unsupported { .. } => {}
        }
    }
}

/// An operation that writes one register and reads operands.
fn computes(dst: Reg, operands: &[Operand], visit: Visit<'_>) {
    visit(Access::Write(dst));
    reads(operands, visit);
}

fn reads<'o>(operands: impl IntoIterator<Item = &'o Operand>, visit: Visit<'_>) {
    operands.into_iter().for_each(|&operand| visit(Access::Read(operand)));
}

fn writes<'r>(registers: impl IntoIterator<Item = &'r Reg>, visit: Visit<'_>) {
    registers.into_iter().for_each(|&register| visit(Access::Write(register)));
}

/// Destinations of which some may be unused.
fn writes_or_skips(dsts: &[Option<Reg>], visit: Visit<'_>) {
    dsts.iter().for_each(|dst| visit(dst.map_or(Access::Sink, Access::Write)));
}

fn addresses(addresses: &[Address], visit: Visit<'_>) {
    addresses.iter().for_each(|&address| visit(Access::Address(address)));
}

fn visit_load(load: &Load, visit: Visit<'_>) {
    writes_or_skips(&load.dsts, visit);
    visit(Access::Address(load.address));
}

fn visit_store(store: &Store, visit: Visit<'_>) {
    visit(Access::Address(store.address));
    reads(&store.srcs, visit);
}

fn visit_atomic(atomic: &Atomic, visit: Visit<'_>) {
    writes_or_skips(&atomic.dsts, visit);
    visit(Access::Address(atomic.address));
    reads(atomic.a.iter().chain(&atomic.b), visit);
}

fn visit_async_copy(copy: &AsyncCopy, visit: Visit<'_>) {
    addresses(&[copy.dst, copy.src], visit);
    reads(copy.src_bytes.iter().chain(&copy.ignore_src), visit);
}

fn visit_bulk_copy(copy: &BulkCopy, visit: Visit<'_>) {
    addresses(&[copy.dst, copy.src], visit);
    visit(Access::Read(copy.bytes));
    if let BulkCompletion::Mbarrier(mbarrier) = copy.completion {
        visit(Access::Address(mbarrier));
    }
    reads(&copy.multicast, visit);
}

fn visit_remote_store(store: &RemoteStore, visit: Visit<'_>) {
    addresses(&[store.address, store.mbarrier], visit);
    reads(&store.srcs, visit);
}

fn visit_tensor_copy(copy: &TensorCopy, visit: Visit<'_>) {
    addresses(&[copy.map, copy.shared], visit);
    reads(&copy.coordinates, visit);
    if let TensorCopyKind::Load { mbarrier, offsets, multicast } = &copy.kind {
        visit(Access::Address(*mbarrier));
        reads(offsets.iter().chain(multicast), visit);
    }
}

fn visit_tensor_map(op: &MapOp, visit: Visit<'_>) {
    match op {
        MapOp::Replace { map, value, .. } => {
            visit(Access::Address(*map));
            visit(Access::Read(*value));
        }
        MapOp::Publish { dst, src } => addresses(&[*dst, *src], visit),
    }
}

fn visit_mma(mma: &Mma, visit: Visit<'_>) {
    writes(&mma.d, visit);
    reads(mma.a.iter().chain(&mma.b).chain(&mma.c), visit);
    reads(mma.sparsity.iter().map(|sparsity| &sparsity.metadata), visit);
}

fn visit_wmma(mma: &WmmaMma, visit: Visit<'_>) {
    writes(&mma.d, visit);
    reads(mma.a.iter().chain(&mma.b).chain(&mma.c), visit);
}

fn visit_result(result: Argument, visit: Visit<'_>) {
    match result {
        Argument::Operand(Operand::Register(register)) => visit(Access::Write(register)),
        Argument::Operand(Operand::Constant(_)) => visit(Access::Sink),
        Argument::Variable(variable) => visit(Access::Argument(variable)),
    }
}

fn visit_argument(argument: Argument, visit: Visit<'_>) {
    match argument {
        Argument::Operand(operand) => visit(Access::Read(operand)),
        Argument::Variable(variable) => visit(Access::Argument(variable)),
    }
}

fn visit_sync(sync: &SyncOp, visit: Visit<'_>) {
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

fn visit_mbarrier(mbarrier: &Mbarrier, visit: Visit<'_>) {
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
