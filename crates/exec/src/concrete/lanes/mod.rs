//! The scalar operations on the 32 lanes of a warp, for the hot path.
//!
//! Each function decides once what to do and then loops over the lanes; common combinations get a
//! loop of their own, made from the scalar function with a constant operation, which the compiler
//! turns into vector instructions. All lanes are computed, whether or not they are active: there
//! is nothing here that can go wrong. Masks have bit `i` for lane `i`.

mod float;
mod integer;
pub mod narrow;

pub use float::{convert, float_binary, float_compare, float_unary, fma};
pub use integer::{int_binary, int_compare, int_ternary, int_unary, select};

/// How many lanes a warp has.
pub const LANES: usize = 32;

/// One value for each lane.
pub type Lanes = [u64; LANES];

/// One value of 32 bits for each lane.
pub type Narrow = [u32; LANES];

/// Sets `$out` in every lane to `$result`, in which the names stand for the lane's values. A macro
/// and not a function, because the compiler would not inline a long closure.
macro_rules! each_lane {
    ($out:ident = $result:expr; $($name:ident in $values:expr),*) => {
        for lane in 0..LANES {
            $(let $name = $values[lane];)*
            $out[lane] = $result;
        }
    };
}
use each_lane;

/// The mask of lanes whose byte is one; every byte is zero or one.
#[inline(always)]
fn gather(truths: &[u8; LANES]) -> u32 {
    let (octets, _) = truths.as_chunks::<8>();
    // The multiplication moves bit 0 of byte i to bit 56 + i.
    octets.iter().rev().fold(0, |mask, &octet| {
        let gathered = u64::from_le_bytes(octet).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        (mask << 8) | gathered as u32
    })
}
