//! Cases of `wmma` (manual §9.7.14.4) with all registers different, in every form missing from `matrix`.
//!
//! The manual leaves the layout of fragments open. Half-precision fragments of A and B have room for one, two or
//! four copies of each element, and a load fills all copies. Here each register holds numbers of its own, so
//! the product tells which of the copies hardware multiplies. In half of the cases the registers of the later
//! copies, named `%x`, hold any bits, infinities and NaNs among them: a finite product shows that they take
//! no part. The other types have one copy of each element. Forms of them that `matrix` lacks are here, too.

use super::CaseList;
use super::matrix::{kind, plain, share};

const LAYOUTS: [&str; 4] = ["row.row", "row.col", "col.row", "col.col"];

pub(super) fn fill(list: &mut CaseList) {
    for (m, n, k) in [(16, 16, 16), (8, 32, 16), (32, 8, 16)] {
        for layouts in LAYOUTS {
            for (d, c) in [("f16", "f16"), ("f16", "f32"), ("f32", "f16"), ("f32", "f32")] {
                let opcode = format!("wmma.mma.sync.aligned.{layouts}.m{m}n{n}k{k}.{d}.{c}");
                halves(list, &opcode, [8, 8], (d, c));
                halves(list, &opcode, [share(m * k, "f16"), share(n * k, "f16")], (d, c));
            }
        }
    }
    for layouts in LAYOUTS {
        if layouts != "row.col" {
            plain(list, (16, 16, 8), &format!("{layouts}.m16n16k8"), ["f32", "tf32"], "");
            plain(list, (8, 8, 4), &format!("{layouts}.m8n8k4"), ["f64", "f64"], "");
        }
        plain(list, (8, 8, 4), &format!("{layouts}.m8n8k4.rn"), ["f64", "f64"], "");
    }
    for a in ["s4", "u4"] {
        plain(list, (8, 8, 32), "row.col.m8n8k32", ["s32", a], ".satfinite");
    }
    for op in ["xor", "and"] {
        let registers = "a0=bits32 b0=bits32 c0=bits32 c1=bits32 > o0=32 o1=32";
        let text = format!(
            "wmma.mma.{op}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 \
             {{%o0, %o1}}, {{%a0}}, {{%b0}}, {{%c0, %c1}};"
        );
        list.add(&text, registers);
    }
}

/// A product in half precision: eight registers of A and of B, the first `numbers` of them with numbers.
fn halves(list: &mut CaseList, opcode: &str, numbers: [usize; 2], (d, c): (&str, &str)) {
    let mut reads = Vec::new();
    let [a, b] = [('a', 'x', numbers[0]), ('b', 'y', numbers[1])].map(|(first, later, count)| {
        let name = |at: usize| format!("{}{at}", if at < count { first } else { later });
        reads.extend((0..8).map(|at| {
            let kind = if at < count { kind("f16") } else { "bits32" };
            format!("{}={kind}", name(at))
        }));
        list_of(&(0..8).map(name).collect::<Vec<_>>())
    });
    let names = |letter: char, count: usize| {
        (0..count).map(|at| format!("{letter}{at}")).collect::<Vec<_>>()
    };
    let (outputs, starts) = (names('o', share(256, d)), names('c', share(256, c)));
    reads.extend(starts.iter().map(|name| format!("{name}={}", kind(c))));
    let writes: Vec<String> = outputs.iter().map(|name| format!("{name}=32")).collect();
    let text = format!("{opcode} {}, {a}, {b}, {};", list_of(&outputs), list_of(&starts));
    list.add(&text, &format!("{} > {}", reads.join(" "), writes.join(" ")));
}

/// Writes registers in braces.
fn list_of(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("%{name}")).collect();
    format!("{{{}}}", names.join(", "))
}
