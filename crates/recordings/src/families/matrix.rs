//! Cases of matrix instructions of a warp (manual §9.7.14): products of every shape and type, dense and sparse,
//! and moves of matrices between registers and memory.
//!
//! For floats, the first half of the vectors has small integers, with sums that are exact in every order of
//! computation. The second half has numbers of a similar size, which tensor cores round in their own way.
//! Integers have any bits in both halves. Half-precision fragments of A and B have room for up to four copies of
//! each element; `halves` gives all copies the same bits, and the cases of `fragments` different ones.

use super::CaseList;

pub(super) fn fill(list: &mut CaseList) {
    dense(list);
    sparse(list);
    moves(list);
    wmma(list);
}

/// Bits of an element.
fn bits(element: &str) -> u32 {
    match element {
        "f64" => 64,
        "f32" | "tf32" | "s32" => 32,
        "f16" | "bf16" => 16,
        "s4" | "u4" => 4,
        "b1" => 1,
        _ => 8,
    }
}

/// The kind of a register full of elements.
pub(super) fn kind(element: &str) -> &'static str {
    match element {
        "f64" => "pack_f64",
        "f32" => "pack_f32",
        "tf32" => "pack_tf32",
        "f16" => "pack_f16",
        "bf16" => "pack_bf16",
        "e4m3" => "pack_e4m3",
        "e5m2" => "pack_e5m2",
        _ => "bits32",
    }
}

/// A product as text and signature.
struct Product<'t> {
    opcode: String,
    /// The numbers of registers of A, B, C and D for each lane.
    counts: [usize; 4],
    /// The element types of A, B, C and D.
    elements: [&'t str; 4],
    /// Text after the operands.
    rest: &'static str,
    /// The kind of the register `%e` with the metadata of a sparse A.
    metadata: Option<&'static str>,
}

impl Product<'_> {
    fn add(&self, list: &mut CaseList) {
        let names = |letter: char, count: usize| {
            let names: Vec<String> = (0..count).map(|at| format!("%{letter}{at}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let [a, b, c, d] = self.counts;
        let operands = [('o', d), ('a', a), ('b', b), ('c', c)];
        let operands: Vec<String> =
            operands.into_iter().map(|(letter, count)| names(letter, count)).collect();
        let text = format!("{} {}{};", self.opcode, operands.join(", "), self.rest);
        let mut reads = Vec::new();
        for (letter, at) in [('a', 0), ('b', 1), ('c', 2)] {
            let kind = kind(self.elements[at]);
            reads.extend((0..self.counts[at]).map(|number| format!("{letter}{number}={kind}")));
        }
        reads.extend(self.metadata.map(|kind| format!("e={kind}")));
        let width = bits(self.elements[3]).max(32);
        let writes: Vec<String> = (0..d).map(|number| format!("o{number}={width}")).collect();
        list.add(&text, &format!("{} > {}", reads.join(" "), writes.join(" ")));
    }
}

/// The number of registers for a lane's share of `elements` elements.
pub(super) fn share(elements: usize, element: &str) -> usize {
    let bits = bits(element) as usize;
    elements * bits / (32 * bits.max(32))
}

/// Adds `mma` of a shape, with layouts, modifiers, the types of D, A, B and C, and the modifiers after them (`last`).
fn product(
    list: &mut CaseList,
    (m, n, k): (usize, usize, usize),
    layouts: &str,
    modifiers: &str,
    types: [&str; 4],
    last: &str,
) {
    let [d, a, b, c] = types;
    // `m8n8k4` of halves is four products, one for each eight lanes.
    let quarters = if (m, a) == (8, "f16") { 4 } else { 1 };
    let opcode =
        format!("mma.sync.aligned.m{m}n{n}k{k}.{layouts}{modifiers}.{d}.{a}.{b}.{c}{last}");
    let counts = [
        share(quarters * m * k, a),
        share(quarters * k * n, b),
        share(quarters * m * n, c),
        share(quarters * m * n, d),
    ];
    Product { opcode, counts, elements: [a, b, c, d], rest: "", metadata: None }.add(list);
}

fn dense(list: &mut CaseList) {
    for layouts in ["row.row", "row.col", "col.row", "col.col"] {
        for (d, c) in [("f16", "f16"), ("f32", "f16"), ("f32", "f32")] {
            product(list, (8, 8, 4), layouts, "", [d, "f16", "f16", c], "");
        }
    }
    let mut each = |shape, d: &str, a: &str, b: &str, modifiers: &str, last: &str| {
        product(list, shape, "row.col", modifiers, [d, a, b, d], last);
    };
    for k in [8, 16] {
        each((16, 8, k), "f16", "f16", "f16", "", "");
        each((16, 8, k), "f32", "f16", "f16", "", "");
        each((16, 8, k), "f32", "bf16", "bf16", "", "");
        each((16, 8, k / 2), "f32", "tf32", "tf32", "", "");
    }
    for (m, k) in [(8, 4), (16, 4), (16, 8), (16, 16)] {
        for rounding in ["", ".rz", ".rm", ".rp"] {
            each((m, 8, k), "f64", "f64", "f64", "", rounding);
        }
    }
    for (a, b) in [("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2")] {
        for k in [16, 32] {
            each((16, 8, k), "f32", a, b, "", "");
            each((16, 8, k), "f16", a, b, "", "");
        }
    }
    for [first, second] in [["s8", "u8"], ["s4", "u4"]] {
        let wide = if first == "s8" { 1 } else { 2 };
        for (a, b) in [(first, first), (first, second), (second, first), (second, second)] {
            for (m, k) in [(8, 16), (16, 16), (16, 32)] {
                for saturate in ["", ".satfinite"] {
                    each((m, 8, k * wide), "s32", a, b, saturate, "");
                }
            }
        }
    }
    for (m, k) in [(8, 128), (16, 128), (16, 256)] {
        for last in [".xor.popc", ".and.popc"] {
            each((m, 8, k), "s32", "b1", "b1", "", last);
        }
    }
}

fn sparse(list: &mut CaseList) {
    // `threads` of each four lanes supply the metadata, so the selector has `4 / threads` possible values.
    let selectors = [", %e, 0", ", %e, 1", ", %e, 2", ", %e, 3"];
    let mut each = |k: usize, d: &str, a: &str, b: &str, threads: usize| {
        for variant in ["sp", "sp::ordered_metadata"] {
            for rest in &selectors[..4 / threads] {
                let opcode =
                    format!("mma.{variant}.sync.aligned.m16n8k{k}.row.col.{d}.{a}.{b}.{d}");
                // Half of the 16 by k elements of A are stored.
                let counts = [share(8 * k, a), share(8 * k, b), share(16 * 8, d), share(16 * 8, d)];
                let metadata = Some(if a == "tf32" { "metadata1" } else { "metadata2" });
                let elements = [a, b, d, d];
                Product { opcode, counts, elements, rest, metadata }.add(list);
            }
        }
    };
    for (k, threads) in [(16, 1), (32, 2)] {
        each(k, "f16", "f16", "f16", threads);
        each(k, "f32", "f16", "f16", threads);
        each(k, "f32", "bf16", "bf16", threads);
        each(k / 2, "f32", "tf32", "tf32", threads);
        for (a, b) in [("s8", "s8"), ("u8", "s8")] {
            each(2 * k, "s32", a, b, 2 * threads);
        }
        for (a, b) in [("s4", "u4"), ("u4", "u4")] {
            each(4 * k, "s32", a, b, 2 * threads);
        }
    }
    for (a, b) in [("e4m3", "e5m2"), ("e5m2", "e4m3")] {
        each(64, "f32", a, b, 4);
    }
}

fn moves(list: &mut CaseList) {
    list.add("movmatrix.sync.aligned.m8n8.trans.b16", "bits32 > 32");
    let rows = "before0=bits32 before1=bits32 before2=bits32 before3=bits32";
    let after = "after0=32 after1=32 after2=32 after3=32";
    for (count, registers) in [("x1", 1), ("x2", 2), ("x4", 4)] {
        let [loaded, stored] = ["out", "a"].map(|letter| {
            let names: Vec<String> = (0..registers).map(|at| format!("%{letter}{at}")).collect();
            names.join(", ")
        });
        let writes: Vec<String> = (0..registers).map(|at| format!("out{at}=32")).collect();
        let reads: Vec<String> = (0..registers).map(|at| format!("a{at}=bits32")).collect();
        for trans in ["", ".trans"] {
            let space = crate::case::Space::Shared;
            list.add_with_cell(
                &format!(
                    "bar.warp.sync -1; \
                     ldmatrix.sync.aligned.m8n8.{count}{trans}.shared.b16 {{{loaded}}}, [%cell];"
                ),
                &format!("{rows} > {}", writes.join(" ")),
                space,
            );
            list.add_with_cell(
                &format!(
                    "bar.warp.sync -1; \
                     stmatrix.sync.aligned.m8n8.{count}{trans}.shared.b16 [%cell], {{{stored}}}; \
                     bar.warp.sync -1;"
                ),
                &format!("{rows} {} > {after}", reads.join(" ")),
                space,
            );
        }
    }
}

fn wmma(list: &mut CaseList) {
    let shapes = [(16, 16, 16), (8, 32, 16), (32, 8, 16)];
    for (m, n, k) in shapes {
        let shape = format!("m{m}n{n}k{k}");
        for layouts in ["row.row", "row.col", "col.row", "col.col"] {
            for (d, c) in [("f16", "f16"), ("f16", "f32"), ("f32", "f16"), ("f32", "f32")] {
                let opcode = format!("wmma.mma.sync.aligned.{layouts}.{shape}.{d}.{c}");
                halves(list, &opcode, (share(m * k, "f16"), share(n * k, "f16")), (d, c));
            }
            plain(list, (m, n, k), &format!("{layouts}.{shape}"), ["f32", "bf16"], "");
            for a in ["s8", "u8"] {
                for saturate in ["", ".satfinite"] {
                    plain(list, (m, n, k), &format!("{layouts}.{shape}"), ["s32", a], saturate);
                }
            }
        }
    }
    plain(list, (16, 16, 8), "row.col.m16n16k8", ["f32", "tf32"], "");
    for rounding in ["", ".rz", ".rm", ".rp"] {
        let opcode = format!("row.col.m8n8k4{rounding}");
        plain(list, (8, 8, 4), &opcode, ["f64", "f64"], "");
    }
    for a in ["s4", "u4"] {
        plain(list, (8, 8, 32), "row.col.m8n8k32", ["s32", a], "");
    }
    loads(list);
}

/// Adds a product with A and B in half precision. Each takes eight registers. The instruction names the `a` and `b`
/// distinct ones repeatedly, so that all copies of an element are equal.
fn halves(list: &mut CaseList, opcode: &str, (a, b): (usize, usize), (d, c): (&str, &str)) {
    let names = |letter: char, count: usize, all: usize| {
        let names: Vec<String> = (0..all).map(|at| format!("%{letter}{}", at % count)).collect();
        format!("{{{}}}", names.join(", "))
    };
    let (registers_d, registers_c) = (share(256, d), share(256, c));
    let text = format!(
        "{opcode} {}, {}, {}, {};",
        names('o', registers_d, registers_d),
        names('a', a, 8),
        names('b', b, 8),
        names('c', registers_c, registers_c)
    );
    let mut reads = Vec::new();
    for (letter, count, element) in [('a', a, "f16"), ('b', b, "f16"), ('c', registers_c, c)] {
        reads.extend((0..count).map(|at| format!("{letter}{at}={}", kind(element))));
    }
    let writes: Vec<String> = (0..registers_d).map(|at| format!("o{at}=32")).collect();
    list.add(&text, &format!("{} > {}", reads.join(" "), writes.join(" ")));
}

pub(super) fn plain(
    list: &mut CaseList,
    (m, n, k): (usize, usize, usize),
    start: &str,
    [d, a]: [&str; 2],
    last: &str,
) {
    let opcode = format!("wmma.mma.sync.aligned.{start}.{d}.{a}.{a}.{d}{last}");
    let counts = [share(m * k, a), share(n * k, a), share(m * n, d), share(m * n, d)];
    Product { opcode, counts, elements: [a, a, d, d], rest: "", metadata: None }.add(list);
}

/// Adds loads of matrices that fit into the 512 bytes of a warp's cells.
fn loads(list: &mut CaseList) {
    let rows = "before0=bits32 before1=bits32 before2=bits32 before3=bits32";
    // The cell of lane 0.
    let base = "{ .reg .b32 %base; mov.u32 %base, %laneid; mad.lo.u32 %base, %base, -16, %cell; \
                bar.warp.sync -1;";
    let space = crate::case::Space::Shared;
    let mut load = |matrix: char, layout: &str, shape: &str, element: &str, registers: usize| {
        let width = bits(element).max(32);
        let names: Vec<String> = (0..registers).map(|at| format!("%out{at}")).collect();
        let writes: Vec<String> = (0..registers).map(|at| format!("out{at}={width}")).collect();
        let text = format!(
            "{base} wmma.load.{matrix}.sync.aligned.{layout}.{shape}.shared.{element} {{{}}}, \
             [%base]; }}",
            names.join(", ")
        );
        list.add_with_cell(&text, &format!("{rows} > {}", writes.join(" ")), space);
    };
    for layout in ["row", "col"] {
        load('a', layout, "m16n16k16", "f16", 8);
        load('b', layout, "m16n16k16", "f16", 8);
        load('a', layout, "m8n32k16", "f16", 8);
        load('b', layout, "m32n8k16", "f16", 8);
        load('a', layout, "m16n16k16", "bf16", 4);
        load('b', layout, "m16n16k16", "bf16", 4);
        load('a', layout, "m32n8k16", "s8", 4);
        load('b', layout, "m8n32k16", "u8", 4);
        load('a', layout, "m16n16k8", "tf32", 4);
        load('b', layout, "m16n16k8", "tf32", 4);
        load('a', layout, "m8n8k4", "f64", 1);
        load('b', layout, "m8n8k4", "f64", 1);
        load('c', layout, "m16n16k16", "f16", 4);
        load('c', layout, "m8n32k16", "f16", 4);
        load('c', layout, "m32n8k16", "f16", 4);
        load('c', layout, "m8n8k4", "f64", 2);
        load('c', layout, "m8n8k32", "s32", 2);
    }
    load('a', "row", "m8n8k32", "s4", 1);
    load('b', "col", "m8n8k32", "u4", 1);
    load('a', "row", "m8n8k128", "b1", 1);
    load('b', "col", "m8n8k128", "b1", 1);
    let after = "after0=32 after1=32 after2=32 after3=32";
    let mut store = |layout: &str, shape: &str, element: &str, registers: usize| {
        let names: Vec<String> = (0..registers).map(|at| format!("%a{at}")).collect();
        let kind = if element == "f64" { "pack_f64" } else { "bits32" };
        let reads: Vec<String> = (0..registers).map(|at| format!("a{at}={kind}")).collect();
        let text = format!(
            "{base} wmma.store.d.sync.aligned.{layout}.{shape}.shared.{element} [%base], {{{}}}; \
             bar.warp.sync -1; }}",
            names.join(", ")
        );
        let signature = format!("{rows} {} > {after}", reads.join(" "));
        list.add_with_cell(&text, &signature, space);
    };
    for layout in ["row", "col"] {
        store(layout, "m16n16k16", "f16", 4);
        store(layout, "m8n32k16", "f16", 4);
        store(layout, "m32n8k16", "f16", 4);
        store(layout, "m8n8k4", "f64", 2);
        store(layout, "m8n8k128", "s32", 2);
    }
}
