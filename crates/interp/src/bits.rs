//! Functions of CUDA that take numbers as bits (CUDA Math API, "Integer Intrinsics").

use crate::value::Value;

const LOW: u128 = u32::MAX as u128;
const ALL: u128 = u64::MAX as u128;

/// Evaluates a bit function of numbers or of a float, integers modulo the width of their type; `None` if the result
/// is unknown. Bits of floats are known only if they are exact, and not those of a NaN or the sign of a negative zero.
pub(crate) fn evaluate(name: &str, values: &[Value], are_exact: bool) -> Option<Value> {
    match (name, values) {
        ("__float_as_int", [Value::Float(real)]) if are_exact && real.is_exact() => {
            let value = real.value();
            #[expect(clippy::cast_possible_truncation, reason = "checked below")]
            let float = value as f32;
            let is_same = f64::from(float) == value && !(float == 0.0 && float.is_sign_negative());
            is_same.then(|| Value::int(i128::from(float.to_bits())))
        }
        ("__double_as_longlong", [Value::Float(real)]) if are_exact && real.is_exact() => {
            let value = real.value();
            let is_unknown = value.is_nan() || value == 0.0 && value.is_sign_negative();
            (!is_unknown).then(|| Value::int(i128::from(value.to_bits())))
        }
        ("__int_as_float", [value]) => {
            let float = f32::from_bits(low(value.number()?, LOW) as u32);
            (!float.is_nan()).then(|| Value::float(f64::from(float)))
        }
        ("__longlong_as_double", [value]) => {
            let float = f64::from_bits(low(value.number()?, ALL) as u64);
            (!float.is_nan()).then_some(Value::float(float))
        }
        _ => {
            let numbers: Option<Vec<i128>> = values.iter().map(|one| one.number()).collect();
            function(name, &numbers?).map(Value::int)
        }
    }
}

fn low(number: i128, mask: u128) -> u128 {
    number.cast_unsigned() & mask
}

/// Evaluates a function, modulo the width of its type; `None` if it is not one of these.
fn function(name: &str, arguments: &[i128]) -> Option<i128> {
    let bits: Vec<u128> = arguments.iter().map(|one| one.cast_unsigned()).collect();
    let result = match (name, &bits[..]) {
        ("__popc", [x]) => u128::from((x & LOW).count_ones()),
        ("__popcll", [x]) => u128::from((x & ALL).count_ones()),
        ("__clz", [x]) => u128::from((x & LOW).leading_zeros() - 96),
        ("__clzll", [x]) => u128::from((x & ALL).leading_zeros() - 64),
        ("__ffs", [x]) => first_set(x & LOW),
        ("__ffsll", [x]) => first_set(x & ALL),
        ("__brev", [x]) => (x & LOW).reverse_bits() >> 96,
        ("__brevll", [x]) => (x & ALL).reverse_bits() >> 64,
        ("__umul64hi", [x, y]) => (x & ALL).wrapping_mul(y & ALL) >> 64,
        ("__mul64hi", [_, _]) => {
            let product = arguments[0].checked_mul(arguments[1])?;
            (product >> 64).cast_unsigned()
        }
        ("__byte_perm", [x, y, selector]) => select_bytes(*x, *y, *selector),
        ("__funnelshift_l" | "__funnelshift_lc", [low, high, by]) => {
            (pair(*low, *high) << amount(name, *by)) >> 32 & LOW
        }
        ("__funnelshift_r" | "__funnelshift_rc", [low, high, by]) => {
            pair(*low, *high) >> amount(name, *by) & LOW
        }
        _ => return None,
    };
    Some(result.cast_signed())
}

/// The position of the lowest set bit, from 1; 0 if there is none.
fn first_set(bits: u128) -> u128 {
    if bits == 0 { 0 } else { u128::from(bits.trailing_zeros()) + 1 }
}

fn pair(low: u128, high: u128) -> u128 {
    (high & LOW) << 32 | low & LOW
}

/// Shift amounts: the low five bits, or clamped to 32.
fn amount(name: &str, by: u128) -> u128 {
    match name.ends_with('c') {
        true => (by & LOW).min(32),
        false => by & 31,
    }
}

/// Selects four of the eight bytes of two numbers. Three bits of each hexadecimal digit of the selector count.
fn select_bytes(x: u128, y: u128, selector: u128) -> u128 {
    let bytes = pair(x, y);
    let byte = |number: u128| {
        let at = selector >> (4 * number) & 7;
        (bytes >> (8 * at) & 0xff) << (8 * number)
    };
    (0..4).map(byte).fold(0, |all, one| all | one)
}

#[cfg(test)]
mod tests {
    use super::function;

    /// Examples of the manual, and ends of ranges.
    #[test]
    fn functions_of_bits() {
        for (name, arguments, result) in [
            ("__popc", &[-1][..], 32),
            ("__popcll", &[-1], 64),
            ("__clz", &[0], 32),
            ("__clz", &[1], 31),
            ("__clz", &[-1], 0),
            ("__clzll", &[0], 64),
            ("__ffs", &[0], 0),
            ("__ffs", &[8], 4),
            ("__ffsll", &[1 << 40], 41),
            ("__brev", &[1], 1 << 31),
            ("__brevll", &[2], 1 << 62),
            ("__umul64hi", &[(1 << 64) - 1, (1 << 64) - 1], (1 << 64) - 2),
            ("__mul64hi", &[-1, 1], -1),
            ("__byte_perm", &[0x0302_0100, 0x0706_0504, 0x7531], 0x0705_0301),
            ("__byte_perm", &[0x0302_0100, 0x0706_0504, 0x8888], 0),
            ("__funnelshift_l", &[0x8000_0000, 1, 1], 3),
            ("__funnelshift_l", &[5, 9, 32], 9),
            ("__funnelshift_lc", &[5, 9, 40], 5),
            ("__funnelshift_r", &[2, 1, 1], (1 << 63 >> 32) + 1),
            ("__funnelshift_rc", &[5, 9, 32], 9),
        ] {
            assert_eq!(
                function(name, arguments).map(|one| one & 0xffff_ffff_ffff_ffff),
                Some(result & 0xffff_ffff_ffff_ffff),
                "{name}{arguments:?}"
            );
        }
        assert_eq!(function("sin", &[1]), None);
    }
}
