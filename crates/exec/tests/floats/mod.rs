//! Interprets recorded bits as floats.

/// Width of a floating-point type and the bits of its infinity.
pub(crate) fn format(name: &str) -> Option<(u32, u64)> {
    Some(match name {
        "f64" => (64, 0x7ff0_0000_0000_0000),
        "f32" | "tf32" => (32, 0x7f80_0000),
        "f16" | "f16x2" => (16, 0x7c00),
        "bf16" | "bf16x2" => (16, 0x7f80),
        _ => return None,
    })
}

pub(crate) fn is_nan(bits: u64, width: u32, infinity: u64) -> bool {
    bits & (u64::MAX >> (65 - width)) > infinity
}
