//! Integers: the scalar functions of [`super::super::integer`], 32 at a time.

use super::super as scalar;
use super::{LANES, Lanes, map1, map2, map3, mask2};
use ir::BitRange::{Clamp, Wrap};
use ir::{IntBinary, IntTernary, IntUnary, Relation, Width};

/// Runs `$body` with `$constant` bound to the width, known to the compiler for the usual ones.
macro_rules! for_width {
    ($width:expr, $constant:ident => $body:expr) => {
        match $width {
            Width::B32 => {
                const $constant: Width = Width::B32;
                $body
            }
            Width::B64 => {
                const $constant: Width = Width::B64;
                $body
            }
            $constant => $body,
        }
    };
}

/// Matches `$value` against the listed variants, each with all its fields given, and runs `$body`
/// with `$constant` bound to it, known to the compiler. `or` takes the variants that are not listed.
macro_rules! for_constant {
    ($kind:ident, $value:expr, $constant:ident => $body:expr,
     [$($name:ident $({ $($field:ident: $content:tt),* })?),* $(,)?] $(, or $other:ident)?) => {
        match $value {
            $($kind::$name $({ $($field: $content),* })? => {
                const $constant: $kind = $kind::$name $({ $($field: $content),* })?;
                $body
            })*
            $($other => $body,)?
        }
    };
}

/// As [`scalar::int_unary`].
pub fn int_unary(op: IntUnary, width: Width, out: &mut Lanes, a: &Lanes) {
    for_constant!(IntUnary, op, OP => unary(OP, width, out, a), [Not, Negate, Abs], or OP);
}

#[inline(always)]
fn unary(op: IntUnary, width: Width, out: &mut Lanes, a: &Lanes) {
    for_width!(width, WIDTH => map1(out, a, |a| scalar::int_unary(op, WIDTH, a)));
}

/// As [`scalar::int_binary`].
pub fn int_binary(op: IntBinary, width: Width, out: &mut Lanes, a: &Lanes, b: &Lanes) {
    if matches!(op, IntBinary::Shl | IntBinary::Shr { .. })
        && b.iter().all(|&amount| amount == b[0])
    {
        return shift(op, width, out, a, b[0]);
    }
    for_constant!(IntBinary, op, OP => binary(OP, width, out, a, b), [
        Add, Sub, Mul, And, Or, Xor, Shl,
        MulHigh { signed: false }, MulHigh { signed: true },
        MulWide { signed: false }, MulWide { signed: true },
        Min { signed: false }, Min { signed: true },
        Max { signed: false }, Max { signed: true },
        Shr { signed: false }, Shr { signed: true },
        Div { signed: false }, Div { signed: true },
        Rem { signed: false }, Rem { signed: true },
    ], or OP);
}

#[inline(always)]
fn binary(op: IntBinary, width: Width, out: &mut Lanes, a: &Lanes, b: &Lanes) {
    for_width!(width, WIDTH => map2(out, a, b, |a, b| scalar::int_binary(op, WIDTH, a, b)));
}

/// Shifts every lane by the same amount: vector units without shifts lane by lane can do that.
fn shift(op: IntBinary, width: Width, out: &mut Lanes, a: &Lanes, amount: u64) {
    for_constant!(IntBinary, op, OP =>
        for_width!(width, WIDTH => map1(out, a, |a| scalar::int_binary(OP, WIDTH, a, amount))),
        [Shl, Shr { signed: false }, Shr { signed: true }],
        or OP
    );
}

/// As [`scalar::int_ternary`].
pub fn int_ternary(op: IntTernary, width: Width, out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    if let IntTernary::Logic { table } = op {
        return logic(table, width, out, a, b, c);
    }
    for_constant!(IntTernary, op, OP => ternary(OP, width, out, a, b, c), [
        Permute,
        ExtractBits { signed: false }, ExtractBits { signed: true },
        FunnelShift { left: false, range: Clamp },
        FunnelShift { left: false, range: Wrap },
        FunnelShift { left: true, range: Clamp },
        FunnelShift { left: true, range: Wrap },
        Dot4 { a_signed: false, b_signed: false }, Dot4 { a_signed: true, b_signed: true },
    ], or OP);
}

#[inline(always)]
fn ternary(op: IntTernary, width: Width, out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    for_width!(width, WIDTH => {
        map3(out, a, b, c, |a, b, c| scalar::int_ternary(op, WIDTH, a, b, c));
    });
}

/// One pass over the lanes for each minterm of the truth table.
fn logic(table: u8, width: Width, out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    let mask = width.mask();
    let minterm = |index: u8| if table >> index & 1 == 1 { mask } else { 0 };
    let wanted: [u64; 8] = std::array::from_fn(|index| minterm(index as u8));
    map3(out, a, b, c, |a, b, c| {
        let without_c = (!a & ((!b & wanted[0]) | (b & wanted[2])))
            | (a & ((!b & wanted[4]) | (b & wanted[6])));
        let with_c = (!a & ((!b & wanted[1]) | (b & wanted[3])))
            | (a & ((!b & wanted[5]) | (b & wanted[7])));
        (!c & without_c) | (c & with_c)
    });
}

/// The lanes in which `a` stands in `relation` to `b`; as [`scalar::int_compare`].
#[must_use]
pub fn int_compare(relation: Relation, signed: bool, width: Width, a: &Lanes, b: &Lanes) -> u32 {
    match signed {
        true => for_constant!(Relation, relation, RELATION => compare(RELATION, true, width, a, b),
            [Eq, Ne, Lt, Le, Gt, Ge]),
        false => {
            for_constant!(Relation, relation, RELATION => compare(RELATION, false, width, a, b),
            [Eq, Ne, Lt, Le, Gt, Ge])
        }
    }
}

#[inline(always)]
fn compare(relation: Relation, signed: bool, width: Width, a: &Lanes, b: &Lanes) -> u32 {
    for_width!(width, WIDTH => {
        mask2(a, b, |a, b| scalar::int_compare(relation, signed, WIDTH, a, b))
    })
}

/// `a` in the lanes of `mask`, `b` in the others.
pub fn select(mask: u32, out: &mut Lanes, a: &Lanes, b: &Lanes) {
    for lane in 0..LANES {
        let chosen = u64::from((mask >> lane) & 1).wrapping_neg();
        out[lane] = (a[lane] & chosen) | (b[lane] & !chosen);
    }
}
