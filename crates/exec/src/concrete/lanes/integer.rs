//! Integers: the scalar functions of [`super::super::integer`], 32 at a time.

use super::super as scalar;
use super::{LANES, Lanes, each_lane, gather};
use ir::BitRange::{Clamp, Wrap};
use ir::{IntBinary, IntTernary, IntUnary, Relation, Width};

/// Runs `$body` with `$constant` bound to the width. For the usual widths it is a constant, for which the compiler
/// specialises the body.
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
            #[expect(non_snake_case, reason = "a constant in the other arms")]
            $constant => $body,
        }
    };
}

/// Matches `$value` against the listed variants, each with all its fields given, and runs `$body` with
/// `$constant` bound to it as a compile-time constant. `or` takes the unlisted variants.
macro_rules! for_constant {
    ($kind:ident, $value:expr, $constant:ident => $body:expr,
     [$($name:ident $({ $($field:ident: $content:tt),* })?),* $(,)?] $(, or $other:ident)?) => {
        match $value {
            $($kind::$name $({ $($field: $content),* })? => {
                const $constant: $kind = $kind::$name $({ $($field: $content),* })?;
                $body
            })*
            $(#[expect(non_snake_case, reason = "a constant in the other arms")]
            $other => $body,)?
        }
    };
}

/// Like [`scalar::int_unary`].
pub fn int_unary(op: IntUnary, width: Width, out: &mut Lanes, a: &Lanes) {
    for_constant!(IntUnary, op, OP => unary(OP, width, out, a), [Not, Negate, Abs], or OP);
}

#[inline(always)]
fn unary(op: IntUnary, width: Width, out: &mut Lanes, a: &Lanes) {
    for_width!(width, WIDTH => each_lane!(out = scalar::int_unary(op, WIDTH, x); x in a));
}

/// Like [`scalar::int_binary`].
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
    for_width!(width, WIDTH => each_lane!(out = scalar::int_binary(op, WIDTH, x, y); x in a, y in b));
}

/// Shifts every lane by the same amount, which suits vector units without per-lane shifts.
fn shift(op: IntBinary, width: Width, out: &mut Lanes, a: &Lanes, amount: u64) {
    for_constant!(IntBinary, op, OP =>
        for_width!(width, WIDTH => {
            each_lane!(out = scalar::int_binary(OP, WIDTH, x, amount); x in a);
        }),
        [Shl, Shr { signed: false }, Shr { signed: true }],
        or OP
    );
}

/// Like [`scalar::int_ternary`].
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
        each_lane!(out = scalar::int_ternary(op, WIDTH, x, y, z); x in a, y in b, z in c);
    });
}

/// Computes all minterms of the truth table in one pass over the lanes.
fn logic(table: u8, width: Width, out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    let mask = width.mask();
    let minterm = |index: u8| if table >> index & 1 == 1 { mask } else { 0 };
    let wanted: [u64; 8] = std::array::from_fn(|index| minterm(index as u8));
    each_lane!(out = {
        let without_z = (!x & ((!y & wanted[0]) | (y & wanted[2])))
            | (x & ((!y & wanted[4]) | (y & wanted[6])));
        let with_z = (!x & ((!y & wanted[1]) | (y & wanted[3])))
            | (x & ((!y & wanted[5]) | (y & wanted[7])));
        (!z & without_z) | (z & with_z)
    }; x in a, y in b, z in c);
}

/// Returns the lanes for which the comparison holds; like [`scalar::int_compare`].
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
    let mut truths = [0; LANES];
    for_width!(width, WIDTH => {
        each_lane!(truths = scalar::int_compare(relation, signed, WIDTH, x, y).into(); x in a, y in b);
    });
    gather(&truths)
}

/// Selects `a` in the lanes of `mask` and `b` in the others.
pub fn select(mask: u32, out: &mut Lanes, a: &Lanes, b: &Lanes) {
    for lane in 0..LANES {
        let chosen = u64::from((mask >> lane) & 1).wrapping_neg();
        out[lane] = (a[lane] & chosen) | (b[lane] & !chosen);
    }
}
