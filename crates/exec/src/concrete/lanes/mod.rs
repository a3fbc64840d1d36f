//! The scalar operations on the 32 lanes of a warp, for the hot path.
//!
//! Each function dispatches once and then loops over the lanes. Common combinations get a loop of their own,
//! made from the scalar function with a constant operation, and the compiler vectorises it. All lanes are
//! computed, active or not: no operation here can fail. Masks have bit `i` for lane `i`.

mod float;
mod integer;
pub mod narrow;

pub use float::{convert, float_binary, float_compare, float_unary, fma};
pub use integer::{int_binary, int_compare, int_ternary, int_unary, select};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// One value for each lane.
pub type Lanes = [u64; LANES];

/// One 32-bit value for each lane.
pub type Narrow = [u32; LANES];

/// Sets `$out` in every lane to `$result`, in which the names are the lane's values. It is a macro because
/// the compiler would not inline a long closure.
macro_rules! each_lane {
    ($out:ident = $result:expr; $($name:ident in $values:expr),*) => {
        for lane in 0..LANES {
            $(let $name = $values[lane];)*
            $out[lane] = $result;
        }
    };
}
use each_lane;

/// Returns the mask of lanes with byte 1; every byte is 0 or 1.
#[inline(always)]
fn gather(truths: &[u8; LANES]) -> u32 {
    let (octets, _) = truths.as_chunks::<8>();
    // The multiplication moves bit 0 of byte i to bit 56 + i.
    octets.iter().rev().fold(0, |mask, &octet| {
        let gathered = u64::from_le_bytes(octet).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        (mask << 8) | gathered as u32
    })
}
