//! Infers how a kernel uses its pointer parameters: read, written, with which element size.
//!
//! A flow-insensitive reachability over registers: a parameter reaches the register it is loaded into, and passes
//! through copies, selections, conversions (`cvta`) and additions. A parameter that reaches the base of an access is
//! a pointer. Multiplication and shifts stop it, so an index times an element size is not a pointer; but a parameter
//! added as a byte offset would be taken for one. The result is advice for people (which arguments to describe as
//! tensors), never part of a verdict.

use base::{Index, IndexVec};
use ir::{
    AddressBase, Function, IntBinary, Op, Operand, Param, Program, Reg, Space, Symbol,
    TENSOR_MAP_BYTES, TensorCopyKind, VarId, Width,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The uses of one parameter.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParameterUse {
    pub(crate) read: bool,
    pub(crate) written: bool,
    pub(crate) spaces: Vec<Space>,
    pub(crate) widths: BTreeSet<u32>,
}

/// The parameters that reach a register, one bit each; those beyond the 128th are not followed.
type Reaching = u128;

/// Uses by position of the parameter; parameters that are not pointers have none.
pub(crate) fn uses(program: &Program, function: &Function) -> FxHashMap<usize, ParameterUse> {
    let reaching = reaching_registers(program, function);
    let mut uses: FxHashMap<usize, ParameterUse> = FxHashMap::default();
    for instruction in function.instructions() {
        for access in accesses(&instruction.op) {
            let AddressBase::Register(base) = access.base else { continue };
            for param in (0..128).filter(|param| reaching[base] >> param & 1 != 0) {
                let found = uses.entry(param).or_default();
                found.read |= access.reads;
                found.written |= access.writes;
                found.widths.insert(access.bits);
                if !found.spaces.contains(&access.space) {
                    found.spaces.push(access.space);
                }
            }
        }
    }
    uses
}

/// A kernel's use of a parameter as a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapUse {
    /// The number of dimensions.
    pub(crate) rank: usize,
    /// Copies are im2col.
    pub(crate) im2col: bool,
    /// Some copy writes to the tensor.
    pub(crate) written: bool,
}

/// Parameters of 128 bytes whose address reaches the map of a tensor copy, by position.
pub(crate) fn map_uses(program: &Program, function: &Function) -> FxHashMap<usize, MapUse> {
    let reaching = reaching_registers(program, function);
    let params = parameter_positions(function);
    let mut uses: FxHashMap<usize, MapUse> = FxHashMap::default();
    for instruction in function.instructions() {
        let Op::TensorCopy(copy) = &instruction.op else { continue };
        let rank = copy.coordinates.len();
        let written = !matches!(copy.kind, TensorCopyKind::Load { .. });
        let found: Vec<usize> = match copy.map.base {
            AddressBase::Register(base) => {
                (0..128).filter(|param| reaching[base] >> param & 1 != 0).collect()
            }
            AddressBase::Variable(variable) => params.get(&variable).copied().into_iter().collect(),
            AddressBase::Absolute => Vec::new(),
        };
        for param in found {
            let size = function.params.get(param).and_then(|param| match param {
                Param::Variable(variable) => program.variables[*variable].size,
                Param::Register(..) => None,
            });
            if size == Some(TENSOR_MAP_BYTES as u64) {
                let new = MapUse { rank, im2col: copy.im2col, written };
                let known = uses.entry(param).or_insert(new);
                known.written |= written;
            }
        }
    }
    uses
}

/// The address of one access, with its width and direction.
struct MemoryAccess {
    base: AddressBase,
    space: Space,
    bits: u32,
    reads: bool,
    writes: bool,
}

fn accesses(op: &Op) -> Vec<MemoryAccess> {
    let access =
        |base, space, bits, reads, writes| MemoryAccess { base, space, bits, reads, writes };
    match op {
        Op::Load(load) => {
            vec![access(load.address.base, load.space, load.width.bits(), true, false)]
        }
        Op::Store(store) => {
            vec![access(store.address.base, store.space, store.width.bits(), false, true)]
        }
        Op::Atomic(atomic) => {
            let bits = atomic.scalar.width().bits();
            vec![access(atomic.address.base, atomic.space, bits, true, true)]
        }
        Op::AsyncCopy(copy) => {
            let bits = u32::from(copy.bytes) * 8;
            vec![
                access(copy.dst.base, Space::Shared, bits, false, true),
                access(copy.src.base, Space::Global, bits, true, false),
            ]
        }
        Op::BulkCopy(copy) => {
            vec![
                access(copy.dst.base, copy.dst_space, 128, copy.reduce.is_some(), true),
                access(copy.src.base, copy.src_space, 128, true, false),
            ]
        }
        Op::WmmaLoad(load) => {
            vec![access(load.address.base, load.space, load.element.bits(), true, false)]
        }
        Op::WmmaStore(store) => {
            vec![access(store.address.base, store.space, store.element.bits(), false, true)]
        }
        _ => Vec::new(),
    }
}

fn parameter_positions(function: &Function) -> FxHashMap<VarId, usize> {
    let all = function.params.iter().enumerate();
    let variables = all.filter_map(|(position, param)| match param {
        Param::Variable(variable) => Some((*variable, position)),
        Param::Register(..) => None,
    });
    variables.collect()
}

fn reaching_registers(program: &Program, function: &Function) -> IndexVec<Reg, Reaching> {
    let params = parameter_positions(function);
    let mut reaching: IndexVec<Reg, Reaching> = function.registers.iter().map(|_| 0).collect();
    // Propagates along edges to a fixpoint; loops need several passes.
    let mut edges: Vec<(Reg, Reg)> = Vec::new();
    for instruction in function.instructions() {
        seed(&instruction.op, &params, program, &mut reaching);
        flow(&instruction.op, &mut edges);
    }
    let mut outgoing: IndexVec<Reg, Vec<Reg>> =
        function.registers.iter().map(|_| Vec::new()).collect();
    edges.iter().for_each(|&(from, to)| outgoing[from].push(to));
    let mut work: Vec<Reg> = reaching.indices().filter(|&reg| reaching[reg] != 0).collect();
    while let Some(from) = work.pop() {
        for position in 0..outgoing[from].len() {
            let to = outgoing[from][position];
            let new = reaching[from] & !reaching[to];
            if new != 0 {
                reaching[to] |= new;
                work.push(to);
            }
        }
    }
    reaching
}

/// Seeds the registers that parameters are loaded into.
fn seed(
    op: &Op,
    params: &FxHashMap<VarId, usize>,
    program: &Program,
    reaching: &mut IndexVec<Reg, Reaching>,
) {
    let bit =
        |position: usize| 1u128.checked_shl(u32::try_from(position).unwrap_or(128)).unwrap_or(0);
    // The address of a parameter, such as a tensor map.
    if let Op::AddressOf { dst, symbol: Symbol::Variable(variable), .. } = op
        && let Some(&position) = params.get(variable)
        && program.variables[*variable].size == Some(TENSOR_MAP_BYTES as u64)
    {
        reaching[*dst] |= bit(position);
    }
    let Op::Load(load) = op else { return };
    let AddressBase::Variable(variable) = load.address.base else { return };
    let is_scalar = program.variables[variable].size == Some(8);
    if let (Some(&position), [Some(dst)], Width::B64, true) =
        (params.get(&variable), load.dsts.as_slice(), load.width, is_scalar)
    {
        reaching[*dst] |= bit(position);
    }
}

/// Adds edges between registers that may pass on a pointer.
fn flow(op: &Op, edges: &mut Vec<(Reg, Reg)>) {
    let mut edge = |from: &Operand, to: Reg| {
        if let Operand::Register(from) = from
            && from.position() != to.position()
        {
            edges.push((*from, to));
        }
    };
    match op {
        Op::Copy { dst, src }
        | Op::ConvertAddress { dst, src, .. }
        // Triton takes addresses of parameters in 32 bits.
        | Op::Resize { dst, src, from: Width::B32, signed: false } => edge(src, *dst),
        Op::Select { dst, if_true, if_false, .. } => {
            edge(if_true, *dst);
            edge(if_false, *dst);
        }
        Op::IntBinary { op: IntBinary::Add, dst, a, b, width: Width::B64 } => {
            edge(a, *dst);
            edge(b, *dst);
        }
        Op::IntBinary { op: IntBinary::Sub, dst, a, width: Width::B64, .. } => edge(a, *dst),
        _ => {}
    }
}
