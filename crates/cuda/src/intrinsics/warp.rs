//! Barriers, functions of a warp, fences, and control of the run (CUDA C++ Programming Guide: synchronisation
//! functions, warp shuffle, vote, match and reduce functions).

use super::entry::{Class, Intrinsic, own};

const SHUFFLED: &str = "i j l m x y f d H {__half2} B {__nv_bfloat162}";

pub(super) const TABLE: &[Intrinsic] = &[
    own("__syncthreads", Class::Barrier, &["v"], ""),
    own("__barrier_sync", Class::Barrier, &["vj"], ""),
    own("__barrier_sync_count", Class::Barrier, &["vjj"], ""),
    own("__syncthreads_count", Class::Barrier, &["ii"], ""),
    own("__syncthreads_and", Class::Barrier, &["ii"], ""),
    own("__syncthreads_or", Class::Barrier, &["ii"], ""),
    own("__syncwarp", Class::Warp, &["v", "vj"], ""),
    own("__shfl_sync", Class::Warp, &["TjTi", "TjTii"], SHUFFLED),
    own("__shfl_up_sync", Class::Warp, &["TjTj", "TjTji"], SHUFFLED),
    own("__shfl_down_sync", Class::Warp, &["TjTj", "TjTji"], SHUFFLED),
    own("__shfl_xor_sync", Class::Warp, &["TjTi", "TjTii"], SHUFFLED),
    own("__all_sync", Class::Warp, &["iji"], ""),
    own("__any_sync", Class::Warp, &["iji"], ""),
    own("__ballot_sync", Class::Warp, &["jji"], ""),
    own("__activemask", Class::Warp, &["j"], ""),
    own("__match_any_sync", Class::Warp, &["jjT"], "i j l m x y f d"),
    own("__match_all_sync", Class::Warp, &["jjTPi"], "i j l m x y f d"),
    own("__reduce_add_sync", Class::Warp, &["jjj", "iji"], ""),
    own("__reduce_min_sync", Class::Warp, &["jjj", "iji"], ""),
    own("__reduce_max_sync", Class::Warp, &["jjj", "iji"], ""),
    own("__reduce_and_sync", Class::Warp, &["jjj"], ""),
    own("__reduce_or_sync", Class::Warp, &["jjj"], ""),
    own("__reduce_xor_sync", Class::Warp, &["jjj"], ""),
    own("__threadfence", Class::Fence, &["v"], ""),
    own("__threadfence_block", Class::Fence, &["v"], ""),
    own("__threadfence_system", Class::Fence, &["v"], ""),
    own("assert", Class::Control, &["vb"], ""),
    own("printf", Class::Control, &["iPKcz"], ""),
    own("__trap", Class::Control, &["v"], ""),
    own("__brkpt", Class::Control, &["v"], ""),
    own("__nanosleep", Class::Control, &["vj"], ""),
    own("clock", Class::Control, &["l"], ""),
    own("clock64", Class::Control, &["x"], ""),
    own("__builtin_assume", Class::Control, &["vb"], ""),
    own("__builtin_expect", Class::Control, &["lll"], ""),
    own("__builtin_unreachable", Class::Control, &["v"], ""),
    own("__prof_trigger", Class::Control, &["vi"], ""),
];
