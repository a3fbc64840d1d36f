//! Cases of read-modify-writes (manual §9.7.13.5–6), loads and stores (§9.7.9.8, §9.7.9.11), on memory private to
//! each thread.

use super::{CaseList, bits};
use crate::case::Space;

const SPACES: &[(&str, Space)] = &[("global", Space::Global), ("shared", Space::Shared)];

const TYPES: &[&str] = &[
    "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64",
];

/// Operations and their types.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("and", &["b32", "b64"]),
    ("or", &["b32", "b64"]),
    ("xor", &["b32", "b64"]),
    ("exch", &["b32", "b64"]),
    ("add", &["u32", "s32", "u64", "s64", "f32", "f64"]),
    ("add.noftz", &["f16", "f16x2", "bf16", "bf16x2"]),
    ("inc", &["u32"]),
    ("dec", &["u32"]),
    ("min", &["u32", "s32", "u64", "s64"]),
    ("max", &["u32", "s32", "u64", "s64"]),
];

/// Vector operations: operation, number of elements, type.
const VECTORS: &[(&str, usize, &str)] = &[
    ("add", 2, "f32"),
    ("add", 4, "f32"),
    ("<add|min|max>.noftz", 2, "f16"),
    ("<add|min|max>.noftz", 4, "f16"),
    ("<add|min|max>.noftz", 8, "f16"),
    ("<add|min|max>.noftz", 2, "bf16"),
    ("<add|min|max>.noftz", 4, "bf16"),
    ("<add|min|max>.noftz", 8, "bf16"),
    ("<add|min|max>.noftz", 2, "f16x2"),
    ("<add|min|max>.noftz", 4, "f16x2"),
    ("<add|min|max>.noftz", 2, "bf16x2"),
    ("<add|min|max>.noftz", 4, "bf16x2"),
];

pub(super) fn fill_atomics(list: &mut CaseList) {
    for &(name, space) in SPACES {
        for &(op, types) in OPERATIONS {
            for ty in types {
                let width = bits(ty);
                let pattern = format!("atom.{name}.{op}.{ty} %out, [%cell], %a;");
                let signature = format!("{ty} before0={ty} > {width} after0={width}");
                list.add_with_cell(&pattern, &signature, space);
                if op != "exch" {
                    let pattern = format!("red.{name}.{op}.{ty} [%cell], %a;");
                    let signature = format!("{ty} before0={ty} > after0={width}");
                    list.add_with_cell(&pattern, &signature, space);
                }
            }
        }
        for ty in ["b16", "b32", "b64"] {
            let width = bits(ty);
            let pattern = format!("atom.{name}.cas.{ty} %out, [%cell], %a, %b;");
            let signature = format!("{ty} {ty} before0={ty} > {width} after0={width}");
            list.add_with_cell(&pattern, &signature, space);
        }
    }
    let ordered = "atom<.relaxed|.acquire|.release|.acq_rel><.cta|.gpu|.sys>.global.add.u32";
    let signature = "u32 before0=u32 > 32 after0=32";
    list.add_with_cell(&format!("{ordered} %out, [%cell], %a;"), signature, Space::Global);
    for &(op, count, ty) in VECTORS {
        vector(list, op, count, ty);
    }
}

fn vector(list: &mut CaseList, op: &str, count: usize, ty: &str) {
    let repeat = |make: &dyn Fn(usize) -> String, separator: &str| -> String {
        (0..count).map(make).collect::<Vec<_>>().join(separator)
    };
    let operands = repeat(&|i| format!("%a{i}"), ", ");
    let results = repeat(&|i| format!("%out{i}"), ", ");
    let width = bits(ty);
    let reads = repeat(&|i| format!("a{i}={ty}"), " ");
    let before = repeat(&|i| format!("before{i}={ty}"), " ");
    let writes = repeat(&|i| format!("out{i}={width}"), " ");
    let after = repeat(&|i| format!("after{i}={width}"), " ");
    let atom = format!("atom.global.{op}.v{count}.{ty} {{{results}}}, [%cell], {{{operands}}};");
    let signature = format!("{reads} {before} > {writes} {after}");
    list.add_with_cell(&atom, &signature, Space::Global);
    let red = format!("red.global.{op}.v{count}.{ty} [%cell], {{{operands}}};");
    list.add_with_cell(&red, &format!("{reads} {before} > {after}"), Space::Global);
}

pub(super) fn fill(list: &mut CaseList) {
    let cell = "before0=b64 before1=b64";
    for &(name, space) in SPACES {
        for ty in TYPES {
            // Integers may be in wider registers, floats may not.
            let fits = |width: u32| width == bits(ty) || width > bits(ty) && !ty.starts_with('f');
            for width in [16, 32, 64].into_iter().filter(|&width| fits(width)) {
                // In the second half of the cell's 16 bytes, so that a lost offset shows; aligned for the type.
                let offset = 8 + bits(ty) / 8 % 8;
                let load = format!("ld.{name}.{ty} %out, [%cell+{offset}];");
                list.add_with_cell(&load, &format!("{cell} > {width}"), space);
                let store = format!("st.{name}.{ty} [%cell+{offset}], %a;");
                let signature = format!("{ty}:{width} {cell} > after0=64 after1=64");
                list.add_with_cell(&store, &signature, space);
            }
        }
        for (ty, count) in [("s8", 2), ("u8", 4), ("s16", 2), ("b16", 4), ("b32", 4), ("f64", 2)] {
            let width = bits(ty);
            let results: Vec<String> = (0..count).map(|i| format!("%out{i}")).collect();
            let writes: Vec<String> = (0..count).map(|i| format!("out{i}={width}")).collect();
            let load = format!("ld.{name}.v{count}.{ty} {{{}}}, [%cell];", results.join(", "));
            list.add_with_cell(&load, &format!("{cell} > {}", writes.join(" ")), space);
            let operands: Vec<String> = (0..count).map(|i| format!("%a{i}")).collect();
            let reads: Vec<String> = (0..count).map(|i| format!("a{i}={ty}")).collect();
            let store = format!("st.{name}.v{count}.{ty} [%cell], {{{}}};", operands.join(", "));
            let signature = format!("{} {cell} > after0=64 after1=64", reads.join(" "));
            list.add_with_cell(&store, &signature, space);
        }
    }
}
