//! Reads special registers (manual chapter 10) and takes addresses of variables. Registers that a launch does not
//! determine (clocks, identifiers of multiprocessors) are unknown.

use crate::address::Pointer;
use crate::context::Context;
use crate::finding::Gap;
use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::{Source, Tags};
use ir::{Dimension, Reg, SpecialRegister, Symbol};

/// Reads a special register (manual chapter 10).
pub(super) fn read(context: &mut Context<'_, '_>, dst: Reg, special: SpecialRegister) {
    use SpecialRegister::*;
    if is_of_clusters(special) && context.machine.may_have_clusters() {
        let tags = Tags::unknown(Mask::ALL, Source::Schedule("a cluster of blocks"));
        return context.write(dst, &[0; WARP], tags);
    }
    if !special.is_function_of_launch() {
        let tags = Tags::unknown(Mask::ALL, Source::Schedule(name(special)));
        return context.write(dst, &[0; WARP], tags);
    }
    let launch = context.machine.launch;
    let axis = |dimension: Dimension, sizes: [u32; 3]| u64::from(sizes[index(dimension)]);
    let uniform = |value: u64| [value; WARP];
    let first = context.warp.in_block * WARP;
    let (size, clusters) = (launch.cluster_size(), launch.clusters());
    let cluster: [u32; 3] = std::array::from_fn(|axis| context.block[axis] / size[axis].max(1));
    let in_cluster: [u32; 3] = std::array::from_fn(|axis| context.block[axis] % size[axis].max(1));
    let values: Lanes = match special {
        Tid(dimension) => std::array::from_fn(|lane| {
            axis(dimension, launch.thread_position((first + lane) as u64))
        }),
        Ntid(dimension) => uniform(axis(dimension, launch.block)),
        Ctaid(dimension) => uniform(axis(dimension, context.block)),
        Nctaid(dimension) => uniform(axis(dimension, launch.grid)),
        // Without clusters every block is a cluster of its own.
        Clusterid(dimension) => uniform(axis(dimension, cluster)),
        Nclusterid(dimension) => uniform(axis(dimension, clusters)),
        ClusterCtaid(dimension) => uniform(axis(dimension, in_cluster)),
        ClusterCtarank => uniform(context.warp.rank as u64),
        IsExplicitCluster => uniform(launch.cluster.is_some().into()),
        ClusterNctaid(dimension) => uniform(axis(dimension, size)),
        ClusterNctarank => uniform(context.machine.blocks as u64),
        Laneid => std::array::from_fn(|lane| lane as u64),
        LanemaskEq => std::array::from_fn(|lane| 1 << lane),
        LanemaskLt => std::array::from_fn(|lane| (1 << lane) - 1),
        LanemaskLe => std::array::from_fn(|lane| (2 << lane) - 1),
        LanemaskGt => std::array::from_fn(|lane| !((2u64 << lane) - 1) & 0xffff_ffff),
        LanemaskGe => std::array::from_fn(|lane| !((1u64 << lane) - 1) & 0xffff_ffff),
        DynamicSmemSize => uniform(launch.dynamic_shared),
        _ => uniform(0),
    };
    if special == IsExplicitCluster {
        let truth = if launch.cluster.is_some() { Mask::ALL } else { Mask::NONE };
        return context.write_predicate(dst, truth, Tags::NUMBER);
    }
    context.write(dst, &values, Tags::NUMBER);
}

/// Returns `true` for registers that depend on the grouping of blocks.
fn is_of_clusters(special: SpecialRegister) -> bool {
    use SpecialRegister::*;
    matches!(
        special,
        Clusterid(_)
            | Nclusterid(_)
            | ClusterCtaid(_)
            | ClusterNctaid(_)
            | ClusterCtarank
            | ClusterNctarank
            | IsExplicitCluster
    )
}

fn index(dimension: Dimension) -> usize {
    match dimension {
        Dimension::X => 0,
        Dimension::Y => 1,
        Dimension::Z => 2,
    }
}

fn name(special: SpecialRegister) -> &'static str {
    use SpecialRegister::*;
    match special {
        Warpid | Nwarpid => "%warpid or %nwarpid",
        Smid | Nsmid => "%smid or %nsmid",
        Gridid => "%gridid",
        Clock | ClockHi | Clock64 => "a clock",
        Globaltimer | GlobaltimerLo | GlobaltimerHi => "%globaltimer",
        Pm(_) | Pm64(_) => "a performance counter",
        Envreg(_) => "%envreg",
        // A multiple of the allocation unit, and more if the system takes shared memory (§10.33).
        TotalSmemSize => "%total_smem_size",
        _ => "a special register",
    }
}

/// The address of a variable in its own state space.
pub(super) fn address_of(
    context: &mut Context<'_, '_>,
    dst: Reg,
    symbol: Symbol,
    offset: i64,
) -> Result<(), Gap> {
    let Symbol::Variable(variable) = symbol else {
        return Err(context.gap("addresses of functions are not followed"));
    };
    let Some(&area) = context.machine.areas.get(&variable) else {
        return Err(context.gap("the address of this variable is not known"));
    };
    let address = Pointer { area: context.own_instance(area), offset }.address();
    let width = context.layout.width(dst);
    let address = address & width.mask();
    context.write(dst, &[address; WARP], Tags::pointer(Mask::ALL));
    Ok(())
}
