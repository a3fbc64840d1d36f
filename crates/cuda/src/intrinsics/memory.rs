//! Loads and stores with cache hints, and functions of addresses (CUDA C++ Programming Guide: read-only data cache load
//! function, load and store functions using cache hints, address space predicates).

use super::entry::{Class, Intrinsic, called, own};

const LOADED: &str = "c a h s t i j l m x y f d H B {char2} {char4} {short2} {short4} {int2} {int4} {longlong2} {uchar2} {uchar4} {ushort2} {ushort4} {uint2} {uint4} {ulonglong2} {float2} {float4} {double2} {__half2} {__nv_bfloat162}";

pub(super) const TABLE: &[Intrinsic] = &[
    own("__ldg", Class::Memory, &["TPKT"], LOADED),
    own("__ldcg", Class::Memory, &["TPKT"], LOADED),
    own("__ldca", Class::Memory, &["TPKT"], LOADED),
    own("__ldcs", Class::Memory, &["TPKT"], LOADED),
    own("__ldlu", Class::Memory, &["TPKT"], LOADED),
    own("__ldcv", Class::Memory, &["TPKT"], LOADED),
    own("__stwb", Class::Memory, &["vPTT"], LOADED),
    own("__stcg", Class::Memory, &["vPTT"], LOADED),
    own("__stcs", Class::Memory, &["vPTT"], LOADED),
    own("__stwt", Class::Memory, &["vPTT"], LOADED),
    own("memcpy", Class::Memory, &["PvPvPKvm"], ""),
    own("memset", Class::Memory, &["PvPvim"], ""),
    own("memmove", Class::Memory, &["PvPvPKvm"], ""),
    called("__builtin_memcpy", "memcpy", Class::Memory, &["PvPvPKvm"], ""),
    called("__builtin_memset", "memset", Class::Memory, &["PvPvim"], ""),
    called("__builtin_memmove", "memmove", Class::Memory, &["PvPvPKvm"], ""),
    own("malloc", Class::Memory, &["Pvm"], ""),
    own("free", Class::Memory, &["vPv"], ""),
    own("__isGlobal", Class::Memory, &["jPKv"], ""),
    own("__isShared", Class::Memory, &["jPKv"], ""),
    own("__isConstant", Class::Memory, &["jPKv"], ""),
    own("__isLocal", Class::Memory, &["jPKv"], ""),
    own("__isGridConstant", Class::Memory, &["jPKv"], ""),
    own("__cvta_generic_to_global", Class::Memory, &["mPKv"], ""),
    own("__cvta_generic_to_shared", Class::Memory, &["mPKv"], ""),
    own("__cvta_generic_to_constant", Class::Memory, &["mPKv"], ""),
    own("__cvta_generic_to_local", Class::Memory, &["mPKv"], ""),
    // A variable receives an arbitrary value; a barrier of the whole grid.
    own("__unknown_value", Class::Prelude, &["vPT"], LOADED),
    own("__grid_barrier", Class::Prelude, &["v"], ""),
    // A variable receives the value of a texture at an index, or at coordinates. Arguments: the function, the type of
    // a texture reference (0 for an object), the texture, x, y, z, level, layer.
    own("__texel_of_index", Class::Prelude, &["vPTiyi"], LOADED),
    own("__texel_at", Class::Prelude, &["vPTiiyffffi"], LOADED),
    own("tex1Dfetch", Class::Texture, &["vPTyi"], LOADED),
    own("tex1D", Class::Texture, &["vPTyf"], LOADED),
    own("tex2D", Class::Texture, &["vPTyff"], LOADED),
    own("tex3D", Class::Texture, &["vPTyfff"], LOADED),
];
