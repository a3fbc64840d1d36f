//! Tests products of matrices of integers, of eight bits, four and one.

use super::{Run, precisions};
use ir::{Scalar, Width};
use testing::Random;

/// A product, and the numbers of registers of A, B and D.
struct Product {
    name: &'static str,
    registers: [usize; 3],
}

const PRODUCTS: [Product; 12] = [
    Product { name: "m8n8k16.row.col.s32.s8.u8.s32", registers: [1, 1, 2] },
    Product { name: "m8n8k16.row.col.satfinite.s32.u8.s8.s32", registers: [1, 1, 2] },
    Product { name: "m16n8k32.row.col.s32.u8.s8.s32", registers: [4, 2, 4] },
    Product { name: "m8n8k32.row.col.s32.s4.s4.s32", registers: [1, 1, 2] },
    Product { name: "m8n8k32.row.col.s32.u4.s4.s32", registers: [1, 1, 2] },
    Product { name: "m8n8k32.row.col.satfinite.s32.s4.u4.s32", registers: [1, 1, 2] },
    Product { name: "m16n8k64.row.col.s32.s4.u4.s32", registers: [4, 2, 4] },
    Product { name: "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", registers: [1, 1, 2] },
    Product { name: "m8n8k128.row.col.s32.b1.b1.s32.and.popc", registers: [1, 1, 2] },
    Product { name: "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", registers: [2, 1, 4] },
    Product { name: "m16n8k256.row.col.s32.b1.b1.s32.and.popc", registers: [4, 2, 4] },
    Product { name: "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", registers: [4, 2, 4] },
];

/// A warp that loads A, B and C lane by lane, multiplies, and stores D.
fn run(product: &Product, seed: u64) -> Run {
    let [a, b, d] = product.registers;
    let each = a + b + d;
    let names = |letter: char, count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("%{letter}{at}")).collect();
        names
    };
    let list = |letter: char, count: usize| format!("{{{}}}", names(letter, count).join(", "));
    let loaded: Vec<String> = [names('a', a), names('b', b), names('c', d)].concat();
    let loads: String = (loaded.iter().enumerate())
        .map(|(at, register)| format!("ld.global.b32 {register}, [%rd1+{}];\n", 4 * at))
        .collect();
    let stores: String = (names('d', d).iter().enumerate())
        .map(|(at, register)| format!("st.global.b32 [%rd2+{}], {register};\n", 4 * at))
        .collect();
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .b32 %a<4>; .reg .b32 %b<4>; .reg .b32 %c<4>; .reg .b32 %d<4>; .reg .b32 %r;
        .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r, %tid.x;
        mad.wide.u32 %rd1, %r, {}, %rd1; mad.wide.u32 %rd2, %r, {}, %rd2;
        {loads} mma.sync.aligned.{} {}, {}, {}, {};
        {stores} ret; }}\n",
        4 * each,
        4 * d,
        product.name,
        list('d', d),
        list('a', a),
        list('b', b),
        list('c', d),
    );
    let mut random = Random::new(seed);
    let mut bytes: Vec<u8> = (0..32 * 4 * each).map(|_| random.bits() as u8).collect();
    // C is small, or so large that sums overflow.
    for lane in bytes.chunks_mut(4 * each) {
        for word in lane[4 * (a + b)..].chunks_mut(4) {
            match seed.is_multiple_of(2) {
                true => word[1..].fill(0),
                false => {
                    let near = if word[0] % 2 == 0 { [0xff, 0xff, 0x7f] } else { [0, 0, 0x80] };
                    word[1..].copy_from_slice(&near);
                }
            }
        }
    }
    let output = |at: usize| (format!("word {at}"), 4 * at, Width::B32, false);
    Run {
        text,
        threads: 32,
        scalar: Scalar::Integer { width: Width::B32, signed: true },
        bytes,
        outputs: (0..32 * d).map(output).collect(),
    }
}

#[test]
fn products_of_handles_are_products_of_numbers() {
    for product in &PRODUCTS {
        for precision in precisions() {
            let mut followed = 0;
            for seed in 0..2 {
                let counted = run(product, seed).compare(precision);
                followed +=
                    counted.unwrap_or_else(|what| panic!("{} {seed}: {what}", product.name));
            }
            let expected = match product.name {
                name if name.contains("b1") => !precision.coarse,
                // The lowest byte of a word is the word's number, wrapped around.
                name if name.contains("8.s32") => precision.wraps,
                _ => true,
            };
            assert_eq!(followed > 0, expected, "{} {precision:?}", product.name);
        }
    }
}
