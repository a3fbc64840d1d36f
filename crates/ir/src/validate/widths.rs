//! Widths: operands are as wide as each operation requires, and variables are accessed in their own space.

use super::Check;
use crate::{
    AddressBase, Atomic, BarrierKind, Format, IntBinary, IntTernary, IntUnary, Load,
    MAX_DIMENSIONS, MapOp, MbarrierOp, MbarrierPhase, Op, Operand, Reg, Space, SyncOp, TensorCopy,
    TensorCopyKind, VoteMode, Wgmma, WgmmaFactor, Width,
};

impl Check<'_> {
    /// Checks that operands are as wide as the operation requires.
    pub(super) fn widths(&mut self, op: &Op) {
        match op {
            Op::Copy { dst, src } => {
                if let Some(width) = self.width_of(*dst) {
                    self.reads(*src, width, op);
                }
            }
            Op::Select { dst, condition, if_true, if_false } => {
                self.reads(*condition, Width::B1, op);
                if let Some(width) = self.width_of(*dst) {
                    self.reads(*if_true, width, op);
                    self.reads(*if_false, width, op);
                }
            }
            Op::Concat { dst, parts } => {
                let part = self.part_of(*dst, parts.len(), op);
                part.into_iter().for_each(|width| {
                    parts.iter().for_each(|&part| self.reads(part, width, op));
                });
            }
            Op::Split { dsts, src } => self.split(dsts, *src, op),
            Op::Resize { src, from, .. } => self.reads(*src, *from, op),
            Op::IsSpace { dst, .. } => self.exact(*dst, Width::B1, op),
            Op::IntUnary { .. }
            | Op::IntBinary { .. }
            | Op::IntTernary { .. }
            | Op::InsertBits { .. }
            | Op::AddCarry { .. }
            | Op::IntCompare { .. } => self.integers(op),
            Op::FloatUnary { .. }
            | Op::FloatBinary { .. }
            | Op::Fma { .. }
            | Op::Real { .. }
            | Op::FloatCompare { .. }
            | Op::FloatTest { .. }
            | Op::Convert { .. } => self.floats(op),
            Op::Load(load) => self.load(load, op),
            Op::Store(store) => {
                self.space(store.space, store.address.base, op);
                store.srcs.iter().for_each(|&src| self.reads(src, store.width, op));
            }
            Op::Atomic(atomic) => self.atomic(atomic, op),
            Op::BulkCopy(copy) => {
                self.reads(copy.bytes, Width::B32, op);
                copy.multicast.iter().for_each(|&mask| self.reads(mask, Width::B16, op));
            }
            Op::RemoteStore(store) => {
                self.space(store.space, store.address.base, op);
                store.srcs.iter().for_each(|&src| self.reads(src, store.width, op));
            }
            Op::MapShared { rank, .. } => self.reads(*rank, Width::B32, op),
            Op::SharedRank { dst, .. } => self.exact(*dst, Width::B32, op),
            Op::TensorCopy(copy) => self.tensor_copy(copy, op),
            Op::TensorMap(map) => {
                if let MapOp::Replace { field, value, .. } = &**map {
                    self.reads(*value, field.width(), op);
                }
            }
            Op::AsyncCopy(copy) => {
                copy.src_bytes.iter().for_each(|&bytes| self.reads(bytes, Width::B32, op));
                copy.ignore_src.iter().for_each(|&ignore| self.reads(ignore, Width::B1, op));
            }
            Op::Sync(sync) => self.sync(sync, op),
            Op::Wgmma(product) => self.wgmma(product, op),
            Op::Call { callee, arguments, returns } => {
                if let Some(callee) = self.program.functions.get(*callee)
                    && (callee.params.len(), callee.returns.len())
                        != (arguments.len(), returns.len())
                {
                    self.problem(op, "the call does not fit the callee");
                }
            }
            Op::ReadSpecial { .. }
            | Op::Opaque { .. }
            | Op::AddressOf { .. }
            | Op::ConvertAddress { .. }
            | Op::Discard { .. }
            | Op::Mma(_)
            | Op::LoadMatrix(_)
            | Op::StoreMatrix(_)
            | Op::MoveMatrix(_)
            | Op::WmmaLoad(_)
            | Op::WmmaStore(_)
            | Op::WmmaMma(_)
            | Op::Hint { .. }
            | Op::Unsupported { .. } => {}
        }
    }

    /// Checks an operation on integers.
    fn integers(&mut self, op: &Op) {
        match op {
            Op::IntUnary { op: unary, width, dst, a } => {
                let counts = matches!(
                    unary,
                    IntUnary::PopulationCount
                        | IntUnary::CountLeadingZeros
                        | IntUnary::FindHighest { .. }
                );
                self.exact(*dst, if counts { Width::B32 } else { *width }, op);
                self.reads(*a, *width, op);
            }
            Op::IntBinary { op: binary, width, dst, a, b } => {
                let result = match binary {
                    IntBinary::MulWide { .. } => Width::from_bits(2 * width.bits()),
                    _ => Some(*width),
                };
                match result {
                    Some(result) => self.exact(*dst, result, op),
                    None => self.problem(op, "no register holds the product"),
                }
                let shifts = matches!(binary, IntBinary::Shl | IntBinary::Shr { .. });
                self.reads(*a, *width, op);
                self.reads(*b, if shifts { Width::B32 } else { *width }, op);
            }
            Op::IntTernary { op: ternary, width, dst, a, b, c } => {
                self.exact(*dst, *width, op);
                self.reads(*a, *width, op);
                let extracts = matches!(ternary, IntTernary::ExtractBits { .. });
                let others = if extracts { Width::B32 } else { *width };
                self.reads(*b, others, op);
                self.reads(*c, others, op);
            }
            Op::InsertBits { width, dst, insert, base, position, length } => {
                self.exact(*dst, *width, op);
                [insert, base].into_iter().for_each(|&o| self.reads(o, *width, op));
                [position, length].into_iter().for_each(|&o| self.reads(o, Width::B32, op));
            }
            Op::AddCarry { width, dst, carry_out, a, b, carry_in, .. } => {
                self.exact(*dst, *width, op);
                carry_out.iter().for_each(|&carry| self.exact(carry, Width::B1, op));
                self.reads(*a, *width, op);
                self.reads(*b, *width, op);
                carry_in.iter().for_each(|&carry| self.reads(carry, Width::B1, op));
            }
            Op::IntCompare { width, dst, a, b, .. } => {
                self.exact(*dst, Width::B1, op);
                self.reads(*a, *width, op);
                self.reads(*b, *width, op);
            }
            _ => {}
        }
    }

    /// Checks an operation on floats.
    fn floats(&mut self, op: &Op) {
        match op {
            Op::FloatUnary { format, lanes, dst, a, .. } => {
                self.float(*format, *lanes, *dst, &[*a], op);
            }
            Op::FloatBinary { format, lanes, dst, a, b, .. } => {
                self.float(*format, *lanes, *dst, &[*a, *b], op);
            }
            Op::Fma { format, lanes, dst, a, b, c, .. } => {
                self.float(*format, *lanes, *dst, &[*a, *b, *c], op);
            }
            Op::Real { function, format, dst, a, b, range: _ } => {
                if function.arguments() != 1 + usize::from(b.is_some()) {
                    self.problem(op, "a function does not take as many numbers");
                }
                let operands: Vec<Operand> = [*a].into_iter().chain(*b).collect();
                self.float(*format, 1, *dst, &operands, op);
            }
            Op::FloatCompare { format, dst, a, b, .. } => {
                self.exact(*dst, Width::B1, op);
                self.reads(*a, format.width(), op);
                self.reads(*b, format.width(), op);
            }
            Op::Convert { dst, src, from, to, .. } => {
                self.exact(*dst, to.width(), op);
                self.reads(*src, from.width(), op);
            }
            Op::FloatTest { dst, format, a, .. } => {
                self.exact(*dst, Width::B1, op);
                self.reads(*a, format.width(), op);
            }
            _ => {}
        }
    }

    fn load(&mut self, load: &Load, op: &Op) {
        for dst in load.dsts.iter().flatten() {
            if self.width_of(*dst).is_none_or(|width| width < load.width) {
                self.problem(op, "a register is too narrow for what is loaded");
            }
        }
        self.space(load.space, load.address.base, op);
    }

    fn wgmma(&mut self, product: &Wgmma, op: &Op) {
        let columns = usize::from(product.shape.n);
        let registers = columns * product.d_element.bits() as usize / 64;
        if product.shape.m != 64 || product.d.len() != registers {
            self.problem(op, "a lane has half a column's share of 64 rows");
        }
        product.d.iter().for_each(|&dst| self.exact(dst, Width::B32, op));
        match &product.a {
            WgmmaFactor::Fragment(parts) => {
                if parts.len() != 4 {
                    self.problem(op, "a fragment of A is four registers");
                }
                parts.iter().for_each(|&part| self.reads(part, Width::B32, op));
            }
            WgmmaFactor::Shared(descriptor) => self.reads(descriptor.bits, Width::B64, op),
        }
        self.reads(product.b.bits, Width::B64, op);
        self.reads(product.accumulates, Width::B1, op);
        product.sparsity.iter().for_each(|sparsity| {
            self.reads(sparsity.metadata, Width::B32, op);
        });
    }

    fn tensor_copy(&mut self, copy: &TensorCopy, op: &Op) {
        if !(1..=MAX_DIMENSIONS).contains(&copy.coordinates.len()) {
            self.problem(op, "a tensor has one to five dimensions");
        }
        copy.coordinates.iter().for_each(|&coordinate| self.reads(coordinate, Width::B32, op));
        if let TensorCopyKind::Load { offsets, multicast, .. } = &copy.kind {
            offsets.iter().chain(multicast).for_each(|&one| self.reads(one, Width::B16, op));
        }
    }

    fn atomic(&mut self, atomic: &Atomic, op: &Op) {
        self.space(atomic.space, atomic.address.base, op);
        let bits = atomic.scalar.width().bits() * u32::from(atomic.packed);
        let Some(width) = Width::from_bits(bits) else {
            return self.problem(op, "no register holds these lanes");
        };
        for dst in atomic.dsts.iter().flatten() {
            if self.width_of(*dst).is_none_or(|found| found < width) {
                self.problem(op, "a register is too narrow for what is loaded");
            }
        }
        atomic.a.iter().chain(&atomic.b).for_each(|&operand| self.reads(operand, width, op));
    }

    /// Checks that a variable is accessed in its own space or through generic addresses.
    fn space(&mut self, space: Space, base: AddressBase, op: &Op) {
        let AddressBase::Variable(variable) = base else { return };
        let Some(variable) = self.program.variables.get(variable) else { return };
        let cluster = (space, variable.space) == (Space::SharedCluster, Space::Shared);
        if space != variable.space && space != Space::Generic && !cluster {
            self.problem(op, "a variable is accessed in another space than its own");
        }
    }

    fn part_of(&mut self, whole: Reg, parts: usize, op: &Op) -> Option<Width> {
        let bits = self.width_of(whole)?.bits();
        let parts = u32::try_from(parts).ok().filter(|&parts| parts > 0)?;
        let width = (bits % parts == 0).then(|| Width::from_bits(bits / parts)).flatten();
        if width.is_none() {
            self.problem(op, "the parts do not add up to the whole");
        }
        width
    }

    fn split(&mut self, dsts: &[Option<Reg>], src: Operand, op: &Op) {
        let Some(part) = dsts.iter().flatten().find_map(|&dst| self.width_of(dst)) else { return };
        dsts.iter().flatten().for_each(|&dst| self.exact(dst, part, op));
        let parts = u32::try_from(dsts.len()).unwrap_or(u32::MAX);
        match Width::from_bits(part.bits().saturating_mul(parts)) {
            Some(whole) => self.reads(src, whole, op),
            None => self.problem(op, "the parts do not add up to a register"),
        }
    }

    fn float(&mut self, format: Format, lanes: u8, dst: Reg, operands: &[Operand], op: &Op) {
        match Width::from_bits(format.width().bits() * u32::from(lanes)) {
            Some(width) => {
                self.exact(dst, width, op);
                operands.iter().for_each(|&operand| self.reads(operand, width, op));
            }
            None => self.problem(op, "no register holds these lanes"),
        }
    }

    fn sync(&mut self, sync: &SyncOp, op: &Op) {
        match sync {
            SyncOp::Vote { mode, dst, predicate, mask } => {
                let width = if *mode == VoteMode::Ballot { Width::B32 } else { Width::B1 };
                self.exact(*dst, width, op);
                self.reads(*predicate, Width::B1, op);
                self.reads(*mask, Width::B32, op);
            }
            SyncOp::Shuffle { dst, in_range, value, lane, clamp, mask, .. } => {
                self.exact(*dst, Width::B32, op);
                in_range.iter().for_each(|&reg| self.exact(reg, Width::B1, op));
                let words = [value, lane, clamp, mask];
                words.into_iter().for_each(|&word| self.reads(word, Width::B32, op));
            }
            SyncOp::Redux { dst, value, mask, .. } => {
                self.exact(*dst, Width::B32, op);
                [value, mask].into_iter().for_each(|&word| self.reads(word, Width::B32, op));
            }
            SyncOp::ActiveMask { dst } => self.exact(*dst, Width::B32, op),
            SyncOp::Elect { leader, is_leader, mask } => {
                leader.iter().for_each(|&reg| self.exact(reg, Width::B32, op));
                self.exact(*is_leader, Width::B1, op);
                self.reads(*mask, Width::B32, op);
            }
            SyncOp::Match { dst, all_equal, value, width, mask, .. } => {
                self.exact(*dst, Width::B32, op);
                all_equal.iter().for_each(|&reg| self.exact(reg, Width::B1, op));
                self.reads(*value, *width, op);
                self.reads(*mask, Width::B32, op);
            }
            SyncOp::Barrier { kind, id, count, .. } => {
                match kind {
                    BarrierKind::Sync | BarrierKind::Arrive => {}
                    BarrierKind::Popc { dst, predicate } => {
                        self.exact(*dst, Width::B32, op);
                        self.reads(*predicate, Width::B1, op);
                    }
                    BarrierKind::And { dst, predicate } | BarrierKind::Or { dst, predicate } => {
                        self.exact(*dst, Width::B1, op);
                        self.reads(*predicate, Width::B1, op);
                    }
                }
                count.iter().chain([id]).for_each(|&word| self.reads(word, Width::B32, op));
            }
            SyncOp::WarpBarrier { mask } => self.reads(*mask, Width::B32, op),
            SyncOp::Mbarrier(mbarrier) => self.mbarrier(&mbarrier.op, op),
            SyncOp::Fence { .. }
            | SyncOp::CommitGroup
            | SyncOp::WaitGroup(_)
            | SyncOp::BulkCommit
            | SyncOp::BulkWait { .. }
            | SyncOp::ProxyFence(_)
            | SyncOp::MapFence(_)
            | SyncOp::RegisterPool(_)
            | SyncOp::Wgmma(_)
            | SyncOp::ClusterBarrier { .. }
            | SyncOp::FenceMbarrierInit
            | SyncOp::GridWait => {}
        }
    }

    fn mbarrier(&mut self, mbarrier: &MbarrierOp, op: &Op) {
        match mbarrier {
            MbarrierOp::Init(count)
            | MbarrierOp::ExpectTx(count)
            | MbarrierOp::CompleteTx(count) => self.reads(*count, Width::B32, op),
            MbarrierOp::Arrive(arrive) => {
                arrive.state.iter().for_each(|&reg| self.exact(reg, Width::B64, op));
                self.reads(arrive.count, Width::B32, op);
                arrive.expect.iter().for_each(|&bytes| self.reads(bytes, Width::B32, op));
            }
            MbarrierOp::Test(test) | MbarrierOp::Peek(test) | MbarrierOp::Wait(test) => {
                self.exact(test.dst, Width::B1, op);
                match test.phase {
                    MbarrierPhase::State(state) => self.reads(state, Width::B64, op),
                    MbarrierPhase::Parity(parity) => self.reads(parity, Width::B32, op),
                }
            }
            MbarrierOp::Inval | MbarrierOp::CopyArrive { .. } => {}
        }
    }
}
