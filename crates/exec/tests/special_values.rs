//! Tests values with special rules in the manual, and modifiers.

use exec::concrete::{float_binary, float_compare, float_test, float_unary, fma};
use ir::{
    Accuracy, FloatBinary, FloatMode, FloatProperty, FloatRelation, FloatUnary, Format, Relation,
    Rounding,
};

const APPROXIMATE: FloatMode = FloatMode { accuracy: Accuracy::Approximate, ..FloatMode::NEAREST };
const FLUSHING: FloatMode = FloatMode { flush: true, ..FloatMode::NEAREST };
const SATURATING: FloatMode = FloatMode { saturate: true, ..FloatMode::NEAREST };
const RECTIFYING: FloatMode = FloatMode { relu: true, ..FloatMode::NEAREST };
const NAN: u64 = 0x7fff_ffff;

fn bits(value: f32) -> u64 {
    value.to_bits().into()
}

#[test]
fn tables_of_the_manual() {
    let inf = f32::INFINITY;
    let nan = f32::NAN;
    let cases: [(FloatUnary, [f32; 5]); 8] = [
        // Results for −∞, −0, +0, +∞ and −1.5.
        (FloatUnary::Reciprocal, [-0.0, -inf, inf, 0.0, -1.0 / 1.5]),
        (FloatUnary::Sqrt, [nan, -0.0, 0.0, inf, nan]),
        (FloatUnary::ReciprocalSqrt, [nan, -inf, inf, 0.0, nan]),
        (FloatUnary::Sin, [nan, -0.0, 0.0, nan, -0.997_495]),
        (FloatUnary::Cos, [nan, 1.0, 1.0, nan, 0.070_737_2]),
        (FloatUnary::Log2, [nan, -inf, -inf, inf, nan]),
        (FloatUnary::Exp2, [0.0, 1.0, 1.0, inf, 0.353_553_4]),
        (FloatUnary::Tanh, [-1.0, -0.0, 0.0, 1.0, -0.905_148_27]),
    ];
    for (op, results) in cases {
        let operands = [-inf, -0.0, 0.0, inf, -1.5];
        for (operand, expected) in operands.into_iter().zip(results) {
            let ours = float_unary(op, Format::F32, APPROXIMATE, bits(operand));
            let value = f32::from_bits(ours as u32);
            match expected {
                _ if expected.is_nan() => assert_eq!(ours, NAN, "{op:?} {operand}"),
                _ if expected == 0.0 || expected.is_infinite() => {
                    assert_eq!(ours, bits(expected), "{op:?} {operand}");
                }
                _ => assert!((value - expected).abs() < 1e-6, "{op:?} {operand}: {value}"),
            }
        }
        assert_eq!(float_unary(op, Format::F32, APPROXIMATE, bits(nan)), NAN);
    }
}

#[test]
fn gross_approximations() {
    let mode = FloatMode { flush: true, ..APPROXIMATE };
    for op in [FloatUnary::Reciprocal, FloatUnary::ReciprocalSqrt] {
        let of = |bits| float_unary(op, Format::F64, mode, bits);
        assert_eq!(of(0x7ff8_0000_0000_0000), 0x7fff_ffff_0000_0000);
        assert_eq!(of(1), f64::INFINITY.to_bits());
        assert_eq!(of(1 << 63 | 1), f64::NEG_INFINITY.to_bits());
        assert_eq!(of(f64::INFINITY.to_bits()), 0);
    }
    let root = float_unary(FloatUnary::ReciprocalSqrt, Format::F64, mode, (-1_f64).to_bits());
    assert_eq!(root, 0x7fff_ffff_0000_0000);
}

#[test]
fn approximate_division() {
    let divide = |a, b| float_binary(FloatBinary::Div, Format::F32, APPROXIMATE, a, b);
    let huge = bits(1.5 * 2f32.powi(126));
    assert_eq!(divide(bits(1e30), huge), 0);
    assert_eq!(divide(bits(-1e30), huge), 1 << 31);
    assert_eq!(divide(bits(f32::INFINITY), huge), NAN);
    assert_eq!(divide(bits(3.0), bits(2.0)), bits(1.5));
    let full = FloatMode { accuracy: Accuracy::Full, ..FloatMode::NEAREST };
    let quotient = float_binary(FloatBinary::Div, Format::F32, full, huge, huge);
    assert_eq!(quotient, bits(1.0));
}

#[test]
fn extrema() {
    let min = |propagate_nan, xor_sign_abs| FloatBinary::Min { propagate_nan, xor_sign_abs };
    let max = |propagate_nan, xor_sign_abs| FloatBinary::Max { propagate_nan, xor_sign_abs };
    let of = |op, a, b| float_binary(op, Format::F32, FloatMode::NEAREST, a, b);
    let (minus_zero, zero, one) = (1 << 31, 0, bits(1.0));
    for (a, b) in [(zero, minus_zero), (minus_zero, zero)] {
        assert_eq!(of(min(false, false), a, b), minus_zero);
        assert_eq!(of(max(false, false), a, b), zero);
    }
    for (a, b) in [(one, 0xffc0_0000), (0x7f80_0001, one)] {
        assert_eq!(of(min(false, false), a, b), one);
        assert_eq!(of(max(true, false), a, b), NAN);
    }
    assert_eq!(of(max(false, false), 0xffc0_0000, 0x7fc0_0001), NAN);
    assert_eq!(of(max(false, true), bits(-3.0), bits(2.0)), bits(-3.0));
    assert_eq!(of(min(false, true), bits(-3.0), bits(-2.0)), bits(2.0));
    assert_eq!(of(min(false, true), 0xffc0_0000, bits(2.0)), bits(-2.0));
    assert_eq!(of(max(false, false), bits(-2.0), bits(-3.0)), bits(-2.0));
    let flushed = float_binary(max(false, false), Format::F32, FLUSHING, 1, minus_zero);
    assert_eq!(flushed, zero);
}

#[test]
fn flushing() {
    let add = |a, b| float_binary(FloatBinary::Add, Format::F32, FLUSHING, a, b);
    assert_eq!(add(0x8000_0001, 0x8000_0001), 0x8000_0000);
    assert_eq!(add(0x0080_0001, 0x8080_0000), 0);
    assert_eq!(add(0x0080_0000, 0x8080_0001), 0x8000_0000);
    // Just below the smallest normal number: rounds up to it, and stays.
    let (almost_one, smallest) = (0x3f7f_ffff, 0x0080_0000);
    let product = float_binary(FloatBinary::Mul, Format::F32, FLUSHING, almost_one, smallest);
    assert_eq!(product, smallest);
    let half = FloatMode { flush: true, ..FloatMode::NEAREST };
    assert_eq!(float_binary(FloatBinary::Mul, Format::F16, half, 0x03ff, 0x7bff), 0);
    let less = FloatRelation::Order { relation: Relation::Lt, or_unordered: false };
    assert!(float_compare(less, Format::F32, false, 0, 1));
    assert!(!float_compare(less, Format::F32, true, 0, 1));
    assert_eq!(float_unary(FloatUnary::Abs, Format::F32, FLUSHING, 0x8000_0001), 0);
    assert_eq!(fma(Format::F32, FLUSHING, bits(1e-30), bits(-1e-12), 0), 1 << 31);
}

#[test]
fn clamping() {
    let add = |mode, a, b| float_binary(FloatBinary::Add, Format::F32, mode, bits(a), bits(b));
    assert_eq!(add(SATURATING, 0.5, 0.75), bits(1.0));
    assert_eq!(add(SATURATING, 0.5, -0.75), 0);
    assert_eq!(add(SATURATING, -0.0, -0.0), 0);
    assert_eq!(add(SATURATING, f32::INFINITY, f32::NEG_INFINITY), 0);
    let fused = |mode, a, b, c| fma(Format::F16, mode, a, b, c);
    assert_eq!(fused(RECTIFYING, 0x3c00, 0xbc00, 0), 0);
    assert_eq!(fused(RECTIFYING, 0x7c00, 0, 0), 0x7fff);
    assert_eq!(fused(SATURATING, 0x4000, 0x4000, 0), 0x3c00);
}

#[test]
fn signs() {
    let down = FloatMode { rounding: Rounding::Down, ..FloatMode::NEAREST };
    let one_minus_one =
        |mode| float_binary(FloatBinary::Sub, Format::F32, mode, bits(1.0), bits(1.0));
    assert_eq!(one_minus_one(FloatMode::NEAREST), 0);
    assert_eq!(one_minus_one(down), 1 << 31);
    let copied = float_binary(FloatBinary::CopySign, Format::F32, FloatMode::NEAREST, 1 << 31, NAN);
    assert_eq!(copied, 0xffff_ffff);
    let negate = |format, a| float_unary(FloatUnary::Negate, format, FloatMode::NEAREST, a);
    assert_eq!(negate(Format::F32, 0), 1 << 31);
    assert_eq!(negate(Format::F32, 0xffc0_0000), NAN);
    assert_eq!(negate(Format::F64, 0x7ff8_0000_0000_0001), 0xfff8_0000_0000_0001);
}

#[test]
fn properties() {
    use FloatProperty::{Finite, Infinite, Normal, NotANumber, Number, Subnormal};
    let all = [Finite, Infinite, Number, NotANumber, Normal, Subnormal];
    let of = |a| all.map(|property| float_test(property, Format::F32, a));
    assert_eq!(of(0), [true, false, true, false, true, false]);
    assert_eq!(of(0x8000_0001), [true, false, true, false, false, true]);
    assert_eq!(of(bits(1.5)), [true, false, true, false, true, false]);
    assert_eq!(of(0xff80_0000), [false, true, true, false, false, false]);
    assert_eq!(of(0x7f80_0001), [false, false, false, true, false, false]);
}
