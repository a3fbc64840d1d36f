//! Placement of shared arrays, as far as every packing of them agrees.
//!
//! PTX does not specify the placement of a block's shared variables beyond the alignment each declares
//! (§5.1.7, §5.3). An H200 packs them from a multiple of 1024 bytes on: those of the kernel in the order of
//! their declarations, then the module's, then those of called functions. A gap is left only where the next
//! one declares more alignment. Dynamic shared memory comes last (40 random layouts of up to ten variables,
//! driver 13.0, and `ptxas` 13.4 for sm_80 and sm_90). We assume less: they lie one after another *in any
//! order*, from a multiple of [`BASE`] bytes on, with gaps that lead to a multiple of some power of two.
//!
//! If the sizes of all others are multiples of W ≤ [`BASE`], then the space before an array ends at a
//! multiple of W: a sum of multiples of W, in which a gap is empty or leads to a multiple of a power of two
//! that is at least W. So the array begins at a multiple of W. Dynamic shared memory does not count as one of the
//! other arrays: its size is chosen at the launch, when the addresses of variables are already fixed. A variable takes
//! no room if neither the kernel nor a function that it calls names it. This errs towards alignment only if the
//! packing is not as assumed, and reports list the assumption.
//!
//! Some kernels need more: the position of an array. For example, a kernel may round up the start of its dynamic
//! memory in its own code, or declare a scalar after an array that it reads four numbers at a time. There, and only
//! if nothing else suffices, the packing of the H200 is assumed as it is, which reports list as well. The kernel's
//! variables come first, then the module's, as declared and at their alignment, without those that the kernel does not
//! name. The dynamic memory follows at its declared alignment, at least 16 bytes (300 random layouts of up to eight
//! variables, some of them never named, some only written; driver 13.0). A variable counts as named even in code that
//! no thread reaches: in 300 more layouts, variables named only in unreachable code or behind a branch on constants had
//! room.

use crate::machine::Machine;
use crate::memory::{Allocation, state};
use base::IndexVec;
use ir::{Access, AddressBase, FuncId, Param, Program, Space, Symbol, VarId, Variable};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Largest assumed alignment of the first shared array.
const BASE: u64 = 128;

/// Dynamic shared memory begins at a multiple of this many bytes on an H200, even if it declares less. An answer
/// that needs more than it declares lists that.
const DYNAMIC_ALIGN: u64 = 16;

/// Static variables begin at a multiple of this many bytes on an H200.
const START: u64 = 1024;

impl Machine<'_> {
    /// Creates shared memory of the blocks of a cluster before their first instruction.
    pub(crate) fn shared_memory(&self) -> Vec<Allocation> {
        let allocation = |(rank, (&id, &(packed, placed))): (usize, (&VarId, &Places))| {
            let variable = &self.program.variables[id];
            let dynamic = is_dynamic(variable);
            let size = if dynamic { Some(self.launch.dynamic_shared) } else { variable.size };
            let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
            let mut memory = Allocation::new(&variable.name, Space::Shared, size, state::UNDEFINED);
            memory.align = variable.align;
            (memory.packed, memory.placed) = (packed, placed);
            if dynamic {
                memory.packed = variable.align.max(DYNAMIC_ALIGN);
            }
            memory.dynamic = dynamic;
            memory.lead = if dynamic { self.before_dynamic.unwrap_or(0) % START } else { 0 };
            memory.element_bytes = element_bytes(variable);
            memory.rank = (self.blocks > 1).then_some(rank as u32);
            memory
        };
        let ranks = (0..self.blocks)
            .flat_map(|rank| self.shared.iter().zip(&self.packed).map(move |one| (rank, one)));
        ranks.map(allocation).collect()
    }
}

/// The alignment of a shared variable in every packing, and its start on an H200 after a multiple of [`START`]
/// bytes, for static ones in recorded cases.
pub(crate) type Places = (u64, Option<u64>);

/// Bytes of an element, by the type's name: 4 for `f32`.
pub(crate) fn element_bytes(variable: &Variable) -> u32 {
    let digits = variable.element.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse::<u32>().map_or(1, |bits| (bits / 8).max(1))
}

/// Returns `true` for dynamic shared memory.
pub(crate) fn is_dynamic(variable: &Variable) -> bool {
    variable.external || variable.size.is_none()
}

/// Variables named by a kernel or by a function that it calls.
fn named(program: &Program, kernel: FuncId) -> BTreeSet<VarId> {
    let mut named = BTreeSet::new();
    for (_, instruction) in program.instructions_of(kernel) {
        instruction.op.visit(&mut |access| match access {
            Access::Symbol(Symbol::Variable(id), _) => _ = named.insert(id),
            Access::Address(address) => {
                if let AddressBase::Variable(id) = address.base {
                    named.insert(id);
                }
            }
            _ => {}
        });
    }
    named
}

/// Variables that pass arguments and results in a launch of a kernel: those named by its code, and the parameters of
/// functions with code that it calls.
fn passing(program: &Program, called: &BTreeSet<FuncId>) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let functions = called.iter().map(|id| &program.functions[*id]);
    for function in functions.filter(|function| function.is_defined()) {
        for param in function.params.iter().chain(&function.returns) {
            if let Param::Variable(id) = param {
                found.insert(*id);
            }
        }
        for instruction in function.instructions() {
            instruction.op.visit(&mut |access| {
                if let Access::Argument(id) = access {
                    found.insert(id);
                }
            });
        }
    }
    found
}

/// Returns the variables that have room in launches of a kernel. Others are shared ones that it does not name, local ones
/// of functions that it does not call, and arguments of calls that it does not make: a file may have many kernels with
/// variables of their own.
pub(crate) fn with_room(program: &Program, kernel: FuncId) -> Vec<(VarId, &Variable)> {
    let (named, called) = (named(program, kernel), program.called(kernel));
    let passing = passing(program, &called);
    let relocations = program.variables.iter().flat_map(|one| &one.relocations);
    let pointed_to: Vec<Symbol> = relocations.map(|one| one.symbol).collect();
    let has_room = |(id, one): &(VarId, &Variable)| match one.space {
        Space::Shared if !one.external && !is_dynamic(one) => {
            named.contains(id) || pointed_to.contains(&Symbol::Variable(*id))
        }
        Space::Local => one.owner.is_none_or(|owner| called.contains(&owner)),
        Space::ParamFunc => named.contains(id) || passing.contains(id),
        _ => true,
    };
    program.variables.enumerate().filter(has_room).collect()
}

/// Returns the bytes of static shared memory in launches of a kernel.
pub(crate) fn shared_bytes(program: &Program, kernel: FuncId) -> u64 {
    let all = with_room(program, kernel).into_iter();
    let shared = all.filter(|(_, one)| one.space == Space::Shared);
    shared.filter_map(|(_, one)| one.size).fold(0, u64::saturating_add)
}

/// Returns where static shared variables begin, from a multiple of [`START`] on, in the packing of an H200,
/// and where they end. `None` for unrecorded cases: functions with variables of their own, and arrays of other
/// modules.
fn starts(program: &Program, kernel: FuncId) -> Option<(FxHashMap<VarId, u64>, u64)> {
    let named = named(program, kernel);
    let shared = program.variables.enumerate().filter(|(_, one)| one.space == Space::Shared);
    let (dynamic, fixed): (Vec<_>, Vec<_>) = shared.partition(|(_, one)| is_dynamic(one));
    let (of_kernel, of_module): (Vec<_>, Vec<_>) = fixed
        .into_iter()
        .filter(|(id, _)| named.contains(id))
        .partition(|(_, one)| one.owner == Some(kernel));
    if dynamic.iter().any(|(_, one)| is_elsewhere(one))
        || of_module.iter().any(|(_, one)| one.owner.is_some())
    {
        return None;
    }
    let (mut starts, mut end) = (FxHashMap::default(), 0_u64);
    for (id, one) in of_kernel.iter().chain(&of_module) {
        let start = end.checked_next_multiple_of(one.align.max(1))?;
        starts.insert(*id, start);
        end = start.checked_add(one.size?)?;
    }
    Some((starts, end))
}

/// Returns the number of bytes before dynamic shared memory, from a multiple of [`START`] on, in the packing
/// of an H200. `None` for unrecorded cases: those of [`starts`], and several names of dynamic memory after
/// static variables.
pub(crate) fn before_dynamic(program: &Program, kernel: FuncId) -> Option<u64> {
    let (_, end) = starts(program, kernel)?;
    let named = named(program, kernel);
    let is_named = |id: &VarId| {
        let one = &program.variables[*id];
        one.space == Space::Shared && is_dynamic(one) && named.contains(id)
    };
    let mut names = program.variables.indices().filter(is_named);
    match (end, names.next(), names.next()) {
        (0, ..) => Some(0),
        (_, Some(id), None) => {
            end.checked_next_multiple_of(program.variables[id].align.max(DYNAMIC_ALIGN))
        }
        _ => None,
    }
}

/// Returns the alignments of shared variables, in this order, that hold in every packing, none below the
/// declared one; and their places.
pub(crate) fn packed(program: &Program, kernel: FuncId, shared: &[VarId]) -> Vec<Places> {
    let starts = starts(program, kernel).map(|(starts, _)| starts).unwrap_or_default();
    let is_open = shared.iter().any(|&id| is_elsewhere(&program.variables[id]));
    let beside: Vec<VarId> = placed(&program.variables, &named(program, kernel), shared);
    let alignment_of = |id: VarId| {
        let variable = &program.variables[id];
        if is_open || variable.external || variable.size.is_none() {
            return variable.align;
        }
        let others = beside.iter().filter(|&&other| other != id);
        let sizes = others.filter_map(|&other| program.variables[other].size);
        sizes.map(multiple).fold(BASE, u64::min).max(variable.align)
    };
    shared.iter().map(|&id| (alignment_of(id), starts.get(&id).copied())).collect()
}

/// Returns an array that, in some packing, may prevent the array `name` from being aligned to `needed` bytes.
#[must_use]
pub fn misaligning_array<'p>(
    program: &'p Program,
    kernel: FuncId,
    name: &str,
    needed: u32,
) -> Option<&'p Variable> {
    let shared: Vec<VarId> = program.variables.indices().collect();
    let beside = placed(&program.variables, &named(program, kernel), &shared);
    let mut others = beside.into_iter().map(|id| &program.variables[id]);
    others.find(|other| {
        other.name != name && other.size.is_some_and(|size| multiple(size) < needed.into())
    })
}

/// Returns `true` for an array of another module, beside which there may be more.
fn is_elsewhere(variable: &Variable) -> bool {
    variable.external && variable.size.is_some_and(|size| size > 0)
}

/// Variables of known size that are placed beside each other: those that are named.
fn placed(
    variables: &IndexVec<VarId, Variable>,
    named: &BTreeSet<VarId>,
    shared: &[VarId],
) -> Vec<VarId> {
    let is_placed = |id: &VarId| {
        let variable = &variables[*id];
        named.contains(id) && variable.space == Space::Shared && !variable.external
    };
    shared.iter().copied().filter(is_placed).collect()
}

/// The greatest power of two, up to [`BASE`], that divides a size.
fn multiple(size: u64) -> u64 {
    if size == 0 { BASE } else { (1 << size.trailing_zeros().min(63)).min(BASE) }
}
