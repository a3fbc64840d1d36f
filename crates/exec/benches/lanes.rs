//! Benchmark of single operations on the 32 lanes of a warp.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use exec::concrete::lanes::{self, Lanes};
use exec::concrete::{self, Conversion};
use ir::{
    FloatBinary, FloatMode, FloatRelation, FloatUnary, Format, IntBinary, IntTernary, Relation,
    Scalar, Width,
};
use std::hint::black_box;

const FLUSHING: FloatMode = FloatMode { flush: true, ..FloatMode::NEAREST };

/// Ordinary numbers of a format, different in every lane.
fn numbers(format: Format, seed: u64) -> Lanes {
    let to = Scalar::Float(format);
    let from = Scalar::Float(Format::F64);
    std::array::from_fn(|lane| {
        let value = 0.37 + 1.618 * (seed as f64) - 0.731 * lane as f64;
        concrete::convert(Conversion::nearest(from, to), value.to_bits())
    })
}

fn integers(width: Width, seed: u64) -> Lanes {
    std::array::from_fn(|lane| {
        (lane as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) & width.mask()
    })
}

fn integer(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("integer");
    let mut out = [0; 32];
    let ops = [
        IntBinary::Add,
        IntBinary::Mul,
        IntBinary::MulWide { signed: false },
        IntBinary::MulWide { signed: true },
        IntBinary::And,
        IntBinary::Shl,
        IntBinary::Shr { signed: true },
        IntBinary::Min { signed: true },
        IntBinary::Div { signed: false },
    ];
    for width in [Width::B32, Width::B64] {
        let (a, b) = (integers(width, 1), integers(width, 7));
        for op in ops
            .into_iter()
            .filter(|op| width == Width::B32 || !matches!(op, IntBinary::MulWide { .. }))
        {
            group.bench_function(BenchmarkId::new(format!("{op:?}"), width), |bencher| {
                bencher.iter(|| {
                    let op = black_box(op);
                    lanes::int_binary(op, width, &mut out, black_box(&a), black_box(&b));
                    black_box(&mut out);
                });
            });
        }
    }
    let a = integers(Width::B32, 1);
    let five = [5; 32];
    group.bench_function("Shl by one amount", |bencher| {
        bencher.iter(|| {
            lanes::int_binary(
                IntBinary::Shl,
                Width::B32,
                &mut out,
                black_box(&a),
                black_box(&five),
            );
            black_box(&mut out);
        });
    });
    let b = integers(Width::B32, 3);
    group.bench_function("Compare", |bencher| {
        bencher.iter(|| {
            let relation = black_box(Relation::Lt);
            lanes::int_compare(relation, true, Width::B32, black_box(&a), black_box(&b))
        });
    });
    group.bench_function("Select", |bencher| {
        bencher.iter(|| {
            lanes::select(black_box(0x0f0f_55aa), &mut out, black_box(&a), black_box(&b));
            black_box(&mut out);
        });
    });
    let op = IntTernary::Logic { table: 0xea };
    group.bench_function("Logic", |bencher| {
        bencher.iter(|| {
            lanes::int_ternary(op, Width::B32, &mut out, black_box(&a), black_box(&b), &five);
            black_box(&mut out);
        });
    });
}

fn float(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("float");
    let mut out = [0; 32];
    let max = FloatBinary::Max { propagate_nan: false, xor_sign_abs: false };
    let cases = [
        (Format::F32, FloatMode::NEAREST, "f32"),
        (Format::F32, FLUSHING, "f32.ftz"),
        (Format::F64, FloatMode::NEAREST, "f64"),
        (Format::F16, FloatMode::NEAREST, "f16"),
        (Format::Bf16, FloatMode::NEAREST, "bf16"),
    ];
    for (format, mode, name) in cases {
        let (a, b, c) = (numbers(format, 1), numbers(format, 2), numbers(format, 3));
        for op in [FloatBinary::Add, FloatBinary::Mul, FloatBinary::Div, max] {
            group.bench_function(BenchmarkId::new(format!("{op:?}"), name), |bencher| {
                bencher.iter(|| {
                    let op = black_box(op);
                    lanes::float_binary(op, format, mode, &mut out, black_box(&a), black_box(&b));
                    black_box(&mut out);
                });
            });
        }
        group.bench_function(BenchmarkId::new("fma", name), |bencher| {
            bencher.iter(|| {
                let mode = black_box(mode);
                lanes::fma(format, mode, &mut out, black_box(&a), black_box(&b), black_box(&c));
                black_box(&mut out);
            });
        });
        let relation = FloatRelation::Order { relation: Relation::Lt, or_unordered: false };
        group.bench_function(BenchmarkId::new("compare", name), |bencher| {
            bencher.iter(|| {
                let relation = black_box(relation);
                lanes::float_compare(relation, format, false, black_box(&a), black_box(&b))
            });
        });
    }
    let a = numbers(Format::F32, 1);
    for op in [FloatUnary::Negate, FloatUnary::Sqrt, FloatUnary::Exp2, FloatUnary::Sin] {
        group.bench_function(BenchmarkId::new(format!("{op:?}"), "f32"), |bencher| {
            bencher.iter(|| {
                let op = black_box(op);
                lanes::float_unary(op, Format::F32, FloatMode::NEAREST, &mut out, black_box(&a));
                black_box(&mut out);
            });
        });
    }
}

fn conversion(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("convert");
    let mut out = [0; 32];
    let signed = Scalar::Integer { width: Width::B32, signed: true };
    let float = Scalar::Float;
    let cases = [
        (float(Format::F32), float(Format::F16), "f32 to f16"),
        (float(Format::F32), float(Format::Bf16), "f32 to bf16"),
        (float(Format::F16), float(Format::F32), "f16 to f32"),
        (float(Format::Bf16), float(Format::F32), "bf16 to f32"),
        (float(Format::F32), float(Format::E4m3), "f32 to e4m3"),
        (float(Format::F32), signed, "f32 to s32"),
        (signed, float(Format::F32), "s32 to f32"),
    ];
    for (from, to, name) in cases {
        let a = match from {
            Scalar::Float(format) => numbers(format, 1),
            Scalar::Integer { width, .. } => integers(width, 1),
        };
        let conversion = Conversion::nearest(from, to);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                lanes::convert(black_box(conversion), &mut out, black_box(&a));
                black_box(&mut out);
            });
        });
    }
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(400))
}

criterion_group!(name = benches; config = short(); targets = integer, float, conversion);
criterion_main!(benches);
