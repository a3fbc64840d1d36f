//! The limits of GPUs for a launch (CUDA programming guide, "Compute Capabilities"), and the requirements of the
//! kernel's own directives. The limits are the same from compute capability 7.0 on, except for shared memory; there
//! the largest is taken.

use super::launch_spec::Dimensions;
use ir::{Access, AddressBase, FuncId, Op, Program, Space, Symbol, VarId};
use std::collections::BTreeSet;

const MAX_THREADS: u64 = 1024;
const LARGEST_BLOCK: [u32; 3] = [1024, 1024, 64];
const LARGEST_GRID: [u32; 3] = [(1 << 31) - 1, 65535, 65535];
/// Static and dynamic shared memory of a block, on sm_90 and sm_100.
const MAX_SHARED: u64 = 227 << 10;
/// The host program must opt in to more than this.
const MAX_SHARED_BY_DEFAULT: u64 = 48 << 10;

/// Shared memory of a kernel and the functions it calls.
pub(super) struct SharedMemory {
    /// Bytes of all arrays of known size. The assembler may add padding between them.
    pub(super) static_bytes: u64,
    /// It uses dynamic shared memory.
    pub(super) dynamic: bool,
}

/// Lists reasons why the launch fails, one sentence each.
pub(super) fn faults(
    program: &Program,
    kernel: FuncId,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic: u64,
) -> Vec<String> {
    let mut faults = Vec::new();
    sizes("grid", grid, LARGEST_GRID, &mut faults);
    sizes("block", block, LARGEST_BLOCK, &mut faults);
    let threads: u64 = block.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    let shown = Dimensions(block);
    if threads > MAX_THREADS {
        let actual = match shown.to_string().contains(',') {
            true => format!("{shown} is {threads}"),
            false => format!("not {threads}"),
        };
        faults.push(format!("a block has at most {MAX_THREADS} threads, {actual}"));
    }
    let facts = program.functions[kernel].launch;
    if let Some(required) = facts.required_block.filter(|&required| required != block) {
        let required = Dimensions(required);
        faults.push(format!("the kernel requires blocks of {required} (.reqntid), not {shown}"));
    }
    if let Some(most) = facts.max_block {
        let most: u64 = most.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
        if threads > most {
            faults.push(format!(
                "the kernel allows at most {most} threads in a block (.maxntid), {shown} is {threads}"
            ));
        }
    }
    let shared = shared_memory(program, kernel).static_bytes;
    let all = shared.saturating_add(dynamic);
    if all > MAX_SHARED {
        faults.push(format!(
            "a block has at most {MAX_SHARED} bytes of shared memory (227 KiB), the launch needs \
             {all}: {shared} static and {dynamic} dynamic"
        ));
    }
    faults
}

/// The largest cluster, in blocks, on every device, and the largest that the host program may opt in to (CUDA
/// programming guide, "Thread Block Clusters").
const MAX_CLUSTER: u64 = 8;
const MAX_CLUSTER_ASKED: u64 = 16;

/// The cluster of a launch, from the flag or the kernel.
pub(super) fn cluster(
    program: &Program,
    kernel: FuncId,
    given: Option<[u32; 3]>,
) -> Option<[u32; 3]> {
    given.or(program.functions[kernel].launch.required_cluster)
}

/// Lists reasons why clusters make the launch fail, one sentence each.
pub(super) fn cluster_faults(
    program: &Program,
    kernel: FuncId,
    grid: [u32; 3],
    given: Option<[u32; 3]>,
) -> Vec<String> {
    let facts = program.functions[kernel].launch;
    let mut faults = Vec::new();
    if facts.blocks_are_clusters {
        faults.push("grid sizes in clusters (.blocksareclusters) are not supported".to_owned());
    }
    if let (Some(given), Some(required)) = (given, facts.required_cluster)
        && given != required
    {
        let (given, required) = (Dimensions(given), Dimensions(required));
        faults.push(format!(
            "the kernel requires clusters of {required} blocks (.reqnctapercluster), not {given}"
        ));
    }
    let Some(cluster) = cluster(program, kernel, given) else {
        if facts.explicit_cluster {
            let text =
                "the kernel must be launched with clusters (.explicitcluster): --cluster X[,Y[,Z]]";
            faults.push(text.to_owned());
        }
        return faults;
    };
    sizes("cluster", cluster, LARGEST_GRID, &mut faults);
    let blocks = cluster.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    if blocks > MAX_CLUSTER_ASKED {
        faults.push(format!("a cluster has at most {MAX_CLUSTER_ASKED} blocks, not {blocks}"));
    }
    if let Some(most) = facts.max_cluster_rank.filter(|&most| blocks > u64::from(most)) {
        faults.push(format!(
            "the kernel allows at most {most} blocks in a cluster (.maxclusterrank), not {blocks}"
        ));
    }
    let fits = grid.iter().zip(cluster).all(|(&size, unit)| unit != 0 && size % unit == 0);
    if !fits {
        let (cluster, grid) = (Dimensions(cluster), Dimensions(grid));
        faults.push(format!("grid {grid} does not consist of clusters of {cluster} blocks"));
    }
    faults
}

/// The settings that the host program needs for clusters of this size.
pub(super) fn cluster_note(cluster: Option<[u32; 3]>) -> Option<String> {
    let blocks = cluster?.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    (blocks > MAX_CLUSTER).then(|| {
        format!(
            "clusters of {blocks} blocks: the host program must set \
             cudaFuncAttributeNonPortableClusterSizeAllowed"
        )
    })
}

/// The settings that the host program needs for the launch to work.
pub(super) fn note(program: &Program, kernel: FuncId, dynamic: u64) -> Option<String> {
    let shared = shared_memory(program, kernel);
    if dynamic == 0 && shared.dynamic {
        return Some(
            "the kernel uses dynamic shared memory, but the launch provides none (--smem)"
                .to_owned(),
        );
    }
    let all = shared.static_bytes.saturating_add(dynamic);
    (dynamic > 0 && (MAX_SHARED_BY_DEFAULT + 1..=MAX_SHARED).contains(&all)).then(|| {
        format!(
            "more than 48 KiB of shared memory ({all} bytes): the host program must set \
             cudaFuncAttributeMaxDynamicSharedMemorySize"
        )
    })
}

/// The shared memory a kernel mentions, itself and through calls.
pub(super) fn shared_memory(program: &Program, kernel: FuncId) -> SharedMemory {
    let mut shared = SharedMemory { static_bytes: 0, dynamic: false };
    let mentioned = mentioned(program, kernel);
    let mentioned = mentioned.into_iter().map(|variable| &program.variables[variable]);
    for variable in mentioned.filter(|variable| variable.space == Space::Shared) {
        match variable.size.filter(|_| !variable.external) {
            Some(bytes) => shared.static_bytes = shared.static_bytes.saturating_add(bytes),
            None => shared.dynamic = true,
        }
    }
    shared
}

/// The variables a kernel mentions, itself, through calls and by addresses in other variables.
pub(super) fn mentioned(program: &Program, kernel: FuncId) -> BTreeSet<VarId> {
    let mut functions = BTreeSet::from([kernel]);
    let mut variables: BTreeSet<VarId> = BTreeSet::new();
    let mut work = vec![kernel];
    while let Some(function) = work.pop() {
        for instruction in program.functions[function].instructions() {
            if let Op::Call { callee, .. } = &instruction.op
                && functions.insert(*callee)
            {
                work.push(*callee);
            }
            instruction.op.visit(&mut |access| match access {
                Access::Symbol(Symbol::Variable(variable), _) => {
                    variables.insert(variable);
                }
                Access::Address(address) => {
                    if let AddressBase::Variable(variable) = address.base {
                        variables.insert(variable);
                    }
                }
                Access::Symbol(Symbol::Function(_), _) | Access::Argument(_) => {}
                Access::Write(_) | Access::Sink | Access::Read(_) => {}
            });
        }
    }
    // A variable's contents may hold addresses of others.
    let mut work: Vec<VarId> = variables.iter().copied().collect();
    while let Some(variable) = work.pop() {
        for relocation in &program.variables[variable].relocations {
            if let Symbol::Variable(other) = relocation.symbol
                && variables.insert(other)
            {
                work.push(other);
            }
        }
    }
    variables
}

fn sizes(what: &str, sizes: [u32; 3], largest: [u32; 3], faults: &mut Vec<String>) {
    for ((size, largest), axis) in sizes.into_iter().zip(largest).zip(["x", "y", "z"]) {
        if size == 0 {
            faults.push(format!("{what}.{axis} is 0; the minimum is 1"));
        }
        if size > largest {
            faults.push(format!("{what}.{axis} is {size}; the maximum is {largest}"));
        }
    }
}
