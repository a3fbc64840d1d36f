//! Floating-point arithmetic against LLVM's software floats.

mod common;

use common::{ARITHMETIC, ROUNDINGS, edges, result, round};
use exec::concrete::{Conversion, convert, float_binary, float_compare, float_unary, fma, nan};
use ir::{FloatBinary, FloatMode, FloatRelation, FloatUnary, Format, Relation, Rounding, Scalar};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rustc_apfloat::Float;

fn mode(rounding: Rounding) -> FloatMode {
    FloatMode { rounding, ..FloatMode::NEAREST }
}

fn is_nan(format: Format, bits: u64) -> bool {
    !float_compare(FloatRelation::BothNumbers, format, false, bits, bits)
}

/// Compares with the reference's result, which has no bits for a NaN.
fn assert_same(format: Format, ours: u64, reference: Option<u64>, what: &str) {
    match reference {
        Some(bits) => assert_eq!(ours, bits, "{what}: {ours:#x}, not {bits:#x}"),
        None => assert!(is_nan(format, ours), "{what}: {ours:#x} is not NaN"),
    }
}

fn check_binary(format: Format, rounding: Rounding, a: u64, b: u64) {
    let ops = [FloatBinary::Add, FloatBinary::Sub, FloatBinary::Mul, FloatBinary::Div];
    for op in ops {
        let ours = float_binary(op, format, mode(rounding), a, b);
        let reference = with_reference!(format, F => {
            let (x, y) = (F::from_bits(a.into()), F::from_bits(b.into()));
            let round = round(rounding);
            result(match op {
                FloatBinary::Add => x.add_r(y, round).value,
                FloatBinary::Sub => x.sub_r(y, round).value,
                FloatBinary::Mul => x.mul_r(y, round).value,
                _ => x.div_r(y, round).value,
            })
        });
        assert_same(
            format,
            ours,
            reference,
            &format!("{op:?} {format:?} {rounding:?} {a:#x} {b:#x}"),
        );
    }
}

fn check_fma(format: Format, rounding: Rounding, a: u64, b: u64, c: u64) {
    let ours = fma(format, mode(rounding), a, b, c);
    let reference = with_reference!(format, F => {
        let (x, y, z) = (F::from_bits(a.into()), F::from_bits(b.into()), F::from_bits(c.into()));
        result(x.mul_add_r(y, z, round(rounding)).value)
    });
    let what = format!("fma {format:?} {rounding:?} {a:#x} {b:#x} {c:#x}");
    assert_same(format, ours, reference, &what);
}

/// Checks a root `r`: `r²` must be on the right side of the operand, and the square of the next number must
/// not. The sign of `r·r − a`, rounded once, is exact.
fn check_root(format: Format, a: u64) {
    let [nearest, zero, down, up] =
        ROUNDINGS.map(|rounding| float_unary(FloatUnary::Sqrt, format, mode(rounding), a));
    let excess = |root: u64| {
        with_reference!(format, F => {
            let (root, a) = (F::from_bits(root.into()), F::from_bits(a.into()));
            root.mul_add_r(root, -a, rustc_apfloat::Round::NearestTiesToEven).value.compared_with_zero()
        })
    };
    assert_eq!(zero, down, "{a:#x}");
    assert!(nearest == down || nearest == up, "{a:#x}");
    assert!(down == up || up == down + 1, "{a:#x}: {down:#x} {up:#x}");
    if down == up {
        assert_eq!(excess(down), std::cmp::Ordering::Equal, "{a:#x}");
    } else {
        assert_eq!(excess(down), std::cmp::Ordering::Less, "{a:#x}");
        assert_eq!(excess(up), std::cmp::Ordering::Greater, "{a:#x}");
    }
}

/// The side of zero.
trait Sign {
    fn compared_with_zero(self) -> std::cmp::Ordering;
}

impl<F: Float> Sign for F {
    fn compared_with_zero(self) -> std::cmp::Ordering {
        match (self.is_zero(), self.is_negative()) {
            (true, _) => std::cmp::Ordering::Equal,
            (false, true) => std::cmp::Ordering::Less,
            (false, false) => std::cmp::Ordering::Greater,
        }
    }
}

#[test]
fn boundaries_of_two() {
    for format in ARITHMETIC {
        let edges = edges(format);
        for rounding in ROUNDINGS {
            for &a in &edges {
                edges.iter().for_each(|&b| check_binary(format, rounding, a, b));
            }
        }
    }
}

#[test]
fn boundaries_of_three() {
    for format in ARITHMETIC {
        let edges: Vec<u64> = edges(format).into_iter().step_by(3).collect();
        for rounding in ROUNDINGS {
            for &a in &edges {
                for &b in edges.iter().step_by(2) {
                    edges.iter().for_each(|&c| check_fma(format, rounding, a, b, c));
                }
            }
        }
    }
}

/// Checked in double precision, which has the squares.
#[test]
fn every_root_of_a_half() {
    let value = |bits| {
        let double = Scalar::Float(Format::F64);
        f64::from_bits(convert(Conversion::nearest(Scalar::Float(Format::F16), double), bits))
    };
    for a in 1..0x7c00 {
        let [nearest, zero, down, up] =
            ROUNDINGS.map(|rounding| float_unary(FloatUnary::Sqrt, Format::F16, mode(rounding), a));
        let exact = down == up && value(down).powi(2) == value(a);
        let between =
            up == down + 1 && value(down).powi(2) < value(a) && value(a) < value(up).powi(2);
        assert!(exact || between, "{a:#x}");
        let middle = (value(down) + value(up)) / 2.0;
        let expected = if value(a) < middle.powi(2) { down } else { up };
        assert_eq!((zero, nearest), (down, expected), "{a:#x}");
    }
}

#[test]
fn reciprocals_are_quotients_of_one() {
    for format in [Format::F32, Format::F64] {
        let one = if format == Format::F32 { 0x3f80_0000 } else { 0x3ff0_0000_0000_0000 };
        for rounding in ROUNDINGS {
            for a in edges(format).into_iter().filter(|&a| !is_nan(format, a)) {
                let reciprocal = float_unary(FloatUnary::Reciprocal, format, mode(rounding), a);
                let quotient = float_binary(FloatBinary::Div, format, mode(rounding), one, a);
                assert_eq!(reciprocal, quotient, "{a:#x}");
            }
        }
    }
}

#[test]
fn integral_numbers() {
    for format in ARITHMETIC {
        for rounding in ROUNDINGS {
            for a in edges(format) {
                let op = FloatUnary::RoundToIntegral;
                let ours = float_unary(op, format, mode(rounding), a);
                let reference = with_reference!(format, F => {
                    result(F::from_bits(a.into()).round_to_integral(round(rounding)).value)
                });
                assert_same(format, ours, reference, &format!("{format:?} {rounding:?} {a:#x}"));
            }
        }
    }
}

/// Numbers with close exponents, so that sums cancel and carry.
fn close(format: Format) -> impl Strategy<Value = u64> {
    let mask = format.width().mask();
    let fraction_bits = match format {
        Format::F64 => 52,
        Format::F32 => 23,
        Format::F16 => 10,
        _ => 7,
    };
    let one = match format {
        Format::F64 => 0x3ff0_0000_0000_0000,
        Format::F32 => 0x3f80_0000,
        Format::F16 => 0x3c00,
        _ => 0x3f80,
    };
    let near = (any::<u64>(), 0..6_u64, any::<u64>()).prop_map(move |(fraction, steps, sparse)| {
        let sign = (fraction >> 63) << (format.width().bits() - 1);
        let fraction = fraction & (sparse | sparse << 7) & ((1 << fraction_bits) - 1);
        (one + (steps << fraction_bits)) | fraction | sign
    });
    prop_oneof![2 => near, 1 => any::<u64>().prop_map(move |bits| bits & mask)]
}

fn formats() -> impl Strategy<Value = Format> {
    prop::sample::select(ARITHMETIC.to_vec())
}

fn roundings() -> impl Strategy<Value = Rounding> {
    prop::sample::select(ROUNDINGS.to_vec())
}

/// A fixed seed, for the same cases in every run.
fn random(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(1);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(random(20_000))]

    #[test]
    fn any_two((format, a, b) in formats().prop_flat_map(|format| (Just(format), close(format), close(format))),
               rounding in roundings()) {
        check_binary(format, rounding, a, b);
    }

    #[test]
    fn any_three((format, a, b, c) in formats()
                    .prop_flat_map(|format| (Just(format), close(format), close(format), close(format))),
                 rounding in roundings()) {
        check_fma(format, rounding, a, b, c);
    }

    /// Sums of a product and a number just at the halfway points of single precision.
    #[test]
    fn single_precision_halfway(a in 0x3f80_0000_u64..0x4000_0000, b in 0_u64..24, c in -60_i32..60,
                                sign in any::<bool>(), rounding in roundings()) {
        let power = |exponent: i32| ((127 + exponent) as u64) << 23;
        let c = power(c) | u64::from(sign) << 31;
        check_fma(Format::F32, rounding, a, power(-(b as i32)) | 0x40_0000, c);
        check_fma(Format::F32, rounding, a, a ^ 1, c);
    }

    #[test]
    fn any_root(single in 1_u64..0x7f80_0000, double in 1_u64..0x7ff0_0000_0000_0000) {
        // Squares of subnormal roots underflow in the reference.
        if single > 0x0c00_0000 {
            check_root(Format::F32, single);
        }
        if double > 0x0400_0000_0000_0000 {
            check_root(Format::F64, double);
        }
    }

    #[test]
    fn comparisons((format, a, b) in formats().prop_flat_map(|format| (Just(format), close(format), close(format)))) {
        let reference = with_reference!(format, F => {
            F::from_bits(a.into()).partial_cmp(&F::from_bits(b.into()))
        });
        let relations = [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];
        for relation in relations {
            for or_unordered in [false, true] {
                let expected = reference.map_or(or_unordered, |order| match relation {
                    Relation::Eq => order.is_eq(),
                    Relation::Ne => order.is_ne(),
                    Relation::Lt => order.is_lt(),
                    Relation::Le => order.is_le(),
                    Relation::Gt => order.is_gt(),
                    Relation::Ge => order.is_ge(),
                });
                let relation = FloatRelation::Order { relation, or_unordered };
                prop_assert_eq!(float_compare(relation, format, false, a, b), expected);
            }
        }
        prop_assert_eq!(float_compare(FloatRelation::EitherNan, format, false, a, b), reference.is_none());
    }
}

#[test]
fn which_nan() {
    for format in ARITHMETIC {
        let zero_by_zero = float_binary(FloatBinary::Div, format, FloatMode::NEAREST, 0, 0);
        assert_eq!(zero_by_zero, nan::canonical(format));
        for rounding in ROUNDINGS {
            let root = float_unary(
                FloatUnary::Sqrt,
                format,
                mode(rounding),
                1 << (format.width().bits() - 1) | 1,
            );
            assert_eq!(root, nan::canonical(format));
        }
    }
    let signalling = 0x7ff0_0000_0000_1234;
    let quiet = 0x7ff8_0000_0000_1234;
    for rounding in ROUNDINGS {
        let sum = float_binary(FloatBinary::Add, Format::F64, mode(rounding), 0, signalling);
        assert_eq!(sum, quiet);
        let sum = float_binary(FloatBinary::Add, Format::F32, mode(rounding), 0, 0xff80_0001);
        assert_eq!(sum, 0x7fff_ffff);
    }
}
