//! Shifts and masks: the amounts and results that C++17 defines, names of operations, constants as bits.

use super::eval::is_bit;
use arith::formula::Formula;
use arith::poly::Poly;
use kir::{Binary, Type};

/// The name of a shift by a variable amount: results depend on the direction, and to the left on the type.
pub(super) fn shift_name(operator: Binary, ty: Type) -> &'static str {
    match (operator, ty) {
        (Binary::Shr, _) => "shr",
        (_, Type::Int { bits: 64, signed: true }) => "shl.s64",
        (_, Type::Int { bits: 64, signed: false }) => "shl.u64",
        (_, Type::Int { signed: true, .. }) => "shl.s32",
        _ => "shl.u32",
    }
}

/// The value of a constant shifted into the sign bit, such as `1 << 31`: C++17 defines it if the unsigned type holds the
/// result ([expr.shift]/2).
pub(super) fn sign_bit(number: i128, amount: i128, ty: Type) -> Option<i128> {
    let Type::Int { bits, signed: true } = ty else { return None };
    let result = number.checked_mul(1 << amount)?;
    (number >= 0 && !ty.holds(result) && result < 1 << bits).then(|| ty.wrap(result))
}

/// The condition under which C++17 defines `number << amount` ([expr.shift]/2): one case for each amount. A number that
/// is not negative may be shifted into the sign bit.
pub(super) fn shifted_fits(number: &Poly, amount: &Poly, ty: Type) -> Formula {
    let (Type::Int { bits, signed: true }, Some((least, _))) = (ty, ty.range()) else {
        return Formula::True;
    };
    let fits = |result: Poly| {
        let above = result.offset(-least).map_or(Formula::False, Formula::ge);
        let below = result.scaled(-1).and_then(|negative| negative.offset((1 << bits) - 1));
        Formula::and([above, below.map_or(Formula::False, Formula::ge)])
    };
    Formula::and((0..i128::from(bits)).map(|by| {
        let here = amount.offset(-by).map_or(Formula::True, Formula::eq);
        here.implies(number.scaled(1 << by).map_or(Formula::False, fits))
    }))
}

/// Exclusive upper bound on shift amounts of a type.
pub(super) fn width(ty: Type) -> i128 {
    if let Type::Int { bits, .. } = ty { i128::from(bits) } else { 63 }
}

/// The number of a type with all bits set: `~x` is that number minus `x`.
pub(super) fn all_ones(ty: Type) -> i128 {
    match ty {
        Type::Int { bits, signed: false } => (1 << bits) - 1,
        _ => -1,
    }
}

/// The number `2^k` for which a mask has all bits but the lowest `k`: 32 for `~31`, whatever its type.
pub(super) fn low_unit(mask: i128, ty: Type) -> Option<i128> {
    let unit = all_ones(ty).checked_sub(mask)?.checked_add(1)?;
    let unit = if unit > 0 && mask >= 0 { unit } else { mask.checked_neg()? };
    is_bit(&unit).then_some(unit)
}
