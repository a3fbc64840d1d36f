//! The scalar operations on the 32 lanes of a warp, for the hot path.
//!
//! Each function decides once what to do and then loops over the lanes; common combinations get a
//! loop of their own, made from the scalar function with a constant operation, which the compiler
//! turns into vector instructions. All lanes are computed, whether or not they are active: there
//! is nothing here that can go wrong. Masks have bit `i` for lane `i`.

mod float;
mod integer;

pub use float::{convert, float_binary, float_compare, float_unary, fma};
pub use integer::{int_binary, int_compare, int_ternary, int_unary, select};

/// How many lanes a warp has.
pub const LANES: usize = 32;

/// One value for each lane.
pub type Lanes = [u64; LANES];

#[inline(always)]
fn map1(out: &mut Lanes, a: &Lanes, f: impl Fn(u64) -> u64) {
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
}

#[inline(always)]
fn map2(out: &mut Lanes, a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> u64) {
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
}

#[inline(always)]
fn map3(out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes, f: impl Fn(u64, u64, u64) -> u64) {
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane], c[lane]);
    }
}

/// The lanes for which `f` is true.
#[inline(always)]
fn mask2(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> bool) -> u32 {
    let mut truths = [0_u8; LANES];
    for lane in 0..LANES {
        truths[lane] = u8::from(f(a[lane], b[lane]));
    }
    // Eight bytes at a time: the multiplication moves bit 0 of byte i to bit 56 + i.
    let (octets, _) = truths.as_chunks::<8>();
    octets.iter().rev().fold(0, |mask, &octet| {
        let gathered = u64::from_le_bytes(octet).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        (mask << 8) | gathered as u32
    })
}
