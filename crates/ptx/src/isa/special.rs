//! Names of special registers (manual chapter 10).

use ir::{Dimension, SpecialRegister};

/// Returns the register denoted by `%name` or `%name.component`.
pub(crate) fn parse(name: &str, component: Option<&str>) -> Option<SpecialRegister> {
    use SpecialRegister::*;
    let name = name.strip_prefix('%')?;
    if let Some(component) = component {
        let dimension = match component {
            "x" => Dimension::X,
            "y" => Dimension::Y,
            "z" => Dimension::Z,
            _ => return None,
        };
        return Some(match name {
            "tid" => Tid(dimension),
            "ntid" => Ntid(dimension),
            "ctaid" => Ctaid(dimension),
            "nctaid" => Nctaid(dimension),
            "clusterid" => Clusterid(dimension),
            "nclusterid" => Nclusterid(dimension),
            "cluster_ctaid" => ClusterCtaid(dimension),
            "cluster_nctaid" => ClusterNctaid(dimension),
            _ => return None,
        });
    }
    Some(match name {
        "cluster_ctarank" => ClusterCtarank,
        "cluster_nctarank" => ClusterNctarank,
        "is_explicit_cluster" => IsExplicitCluster,
        "laneid" => Laneid,
        "lanemask_eq" => LanemaskEq,
        "lanemask_le" => LanemaskLe,
        "lanemask_lt" => LanemaskLt,
        "lanemask_ge" => LanemaskGe,
        "lanemask_gt" => LanemaskGt,
        "warpid" => Warpid,
        "nwarpid" => Nwarpid,
        "smid" => Smid,
        "nsmid" => Nsmid,
        "gridid" => Gridid,
        "clock" => Clock,
        "clock_hi" => ClockHi,
        "clock64" => Clock64,
        "globaltimer" => Globaltimer,
        "globaltimer_lo" => GlobaltimerLo,
        "globaltimer_hi" => GlobaltimerHi,
        "total_smem_size" => TotalSmemSize,
        "aggr_smem_size" => AggrSmemSize,
        "dynamic_smem_size" => DynamicSmemSize,
        "reserved_smem_offset_begin" => ReservedSmemOffsetBegin,
        "reserved_smem_offset_end" => ReservedSmemOffsetEnd,
        "reserved_smem_offset_cap" => ReservedSmemOffsetCap,
        "reserved_smem_offset_0" => ReservedSmemOffset(0),
        "reserved_smem_offset_1" => ReservedSmemOffset(1),
        "current_graph_exec" => CurrentGraphExec,
        _ => return numbered(name),
    })
}

/// `pm0` … `pm7`, `pm0_64` … and `envreg0` … `envreg31`
fn numbered(name: &str) -> Option<SpecialRegister> {
    if let Some(number) = name.strip_prefix("envreg") {
        return below(number, 32).map(SpecialRegister::Envreg);
    }
    let counter = name.strip_prefix("pm")?;
    match counter.strip_suffix("_64") {
        Some(number) => below(number, 8).map(SpecialRegister::Pm64),
        None => below(counter, 8).map(SpecialRegister::Pm),
    }
}

/// Parses a number below a limit, without leading zeros.
fn below(number: &str, limit: u8) -> Option<u8> {
    let canonical = number == "0" || !number.starts_with(['0', '+']);
    number.parse().ok().filter(|&number| number < limit && canonical)
}
