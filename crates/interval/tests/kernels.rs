//! Kernels of the corpus on intervals, compared with references in double precision.
//!
//! Enclosures use the kernel's own constants: where it multiplies by log₂ e rounded to single precision, so does the
//! reference.

mod launching;

use interval::{Double, Precise};
use ir::Format::{Bf16, F16, F32};
use launching::*;
use testing::noise;

/// log₂ e in single precision.
const LOG2_E: f64 = 1.442_695_021_629_333_5;

fn softmax(x: &[f64], columns: usize) -> Vec<f64> {
    let row = |row: &[f64]| {
        let weights: Vec<f64> = row.iter().map(|v| (v * LOG2_E).exp2()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(move |weight| weight / sum).collect::<Vec<_>>()
    };
    x.chunks(columns).flat_map(row).collect()
}

#[test]
fn softmaxes_of_cuda() {
    assert_eq!(LOG2_E, f64::from(std::f32::consts::LOG2_E));
    let x = noise(2 * 150, 1);
    for kernel in ["softmax_naive", "softmax_safe", "softmax_online"] {
        let text = corpus("cuda/a_softmax.sm_80.fast.ptx");
        let args = [In(F32, x.clone()), Out(F32, 300), Int(150)];
        let case = Case::new(&text, kernel, ([2, 1, 1], [128, 1, 1], 0), &args);
        case.assert_close(1, F32, &softmax(&x, 150));
    }
}

#[test]
fn softmax_of_triton() {
    let x = noise(768, 2);
    let args = [In(F32, x.clone()), Out(F32, 768), Int(768), Int(700), Null, Null];
    let text = corpus("triton/softmax.sm_80.ptx");
    let case = Case::new(&text, "softmax", ([1, 1, 1], [128, 1, 1], 16), &args);
    let want = softmax(&x[..700], 700);
    assert_near(&case.elements(1, F32, 700), &want, 1e-9);
}

#[test]
fn layernorm() {
    let (x, w, b) = (noise(768, 4), noise(700, 5), noise(700, 6));
    let args = [
        In(F16, x.clone()),
        In(F32, w.clone()),
        In(F32, b.clone()),
        Out(F16, 768),
        Int(768),
        Int(700),
        Float(1.0 / 1024.0),
        Null,
        Null,
    ];
    let text = corpus("triton/layernorm.sm_80.ptx");
    let case = Case::new(&text, "layernorm", ([1, 1, 1], [128, 1, 1], 16), &args);
    let row = &x[..700];
    let mean = row.iter().sum::<f64>() / 700.0;
    let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 700.0;
    let scale = 1.0 / (variance + 1.0 / 1024.0).sqrt();
    let want: Vec<f64> = (0..700).map(|i| (x[i] - mean) * scale * w[i] + b[i]).collect();
    case.assert_close(3, F16, &want);
}

fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let element = |r: usize, c: usize| (0..k).map(|i| a[r * k + i] * b[i * n + c]).sum();
    (0..m * n).map(|i| element(i / n, i % n)).collect()
}

#[test]
fn matrix_products() {
    let text = corpus("cuda/c_sgemm.sm_80.ptx");
    let (a, b) = (noise(64 * 48, 7), noise(48 * 64, 8));
    let sizes = [Int(64), Int(64), Int(48)];
    let [m, n, k] = sizes;
    let args = [In(F32, a.clone()), In(F32, b.clone()), Out(F32, 64 * 64), m, n, k];
    let case = Case::new(&text, "sgemm_tiled", ([1, 1, 1], [256, 1, 1], 0), &args);
    let want = product(&a, &b, [64, 64, 48]);
    assert_near(&case.elements(2, F32, 64 * 64), &want, 1e-9);

    let (a, b) = (noise(50 * 20, 9), noise(20 * 37, 10));
    let sizes = [Int(50), Int(37), Int(20)];
    let [m, n, k] = sizes;
    let args = [In(F32, a.clone()), In(F32, b.clone()), Out(F32, 50 * 37), m, n, k];
    let case = Case::new(&text, "sgemm_naive", ([3, 4, 1], [16, 16, 1], 0), &args);
    case.assert_close(2, F32, &product(&a, &b, [50, 37, 20]));
}

#[test]
fn a_matrix_product_split_over_blocks() {
    let (a, b) = (noise(32 * 48, 11), noise(48 * 32, 12));
    let args = [In(F32, a.clone()), In(F32, b.clone()), Zeros(4096), Int(32), Int(48), Int(16)];
    let text = corpus("cuda/h_splitk.sm_80.ptx");
    let case = Case::new(&text, "splitk", ([2, 2, 3], [16, 16, 1], 0), &args);
    case.assert_close(2, F32, &product(&a, &b, [32, 32, 48]));
}

#[test]
fn reductions() {
    let x = noise(3 * 256, 13);
    let want: Vec<f64> = x.chunks(256).map(|block| block.iter().sum()).collect();
    for file in ["cuda/e_reduce.sm_80.ptx", "cuda/clang19/e_reduce.sm_80.ptx"] {
        for kernel in ["reduce_tree", "reduce_shfl", "reduce_syncwarp"] {
            let args = [In(F32, x.clone()), Out(F32, 3)];
            let case = Case::new(&corpus(file), kernel, ([3, 1, 1], [256, 1, 1], 0), &args);
            case.assert_close(1, F32, &want);
        }
    }
}

/// A scan, a histogram by atomic additions, and a position that comparisons decide.
#[test]
fn scan_histogram_and_position_of_the_maximum() {
    let mut x = noise(128, 14);
    x[77] = 2.0;
    let mut want = vec![0.0; 257];
    for (i, value) in x.iter().enumerate() {
        want[i] = value + if i == 0 { 0.0 } else { want[i - 1] };
        want[128 + i % 16] += value;
    }
    want[256] = 77.0;
    let args = [In(F32, x), Zeros(257 * 4), Null, Null];
    let text = corpus("triton/cumsum_atomic.sm_80.ptx");
    let case = Case::new(&text, "cumsum_atomic", ([1, 1, 1], [128, 1, 1], 32), &args);
    case.assert_close(1, F32, &want);
}

#[test]
fn halves() {
    for file in ["cuda/j_half.sm_80.ptx", "cuda/clang19/j_half.sm_80.ptx"] {
        let text = corpus(file);
        let shape = ([1, 1, 1], [64, 1, 1], 0);
        let (x, y) = (noise(128, 22), noise(128, 23));
        let args = [Halves(vec![0.5, -2.0]), In(F16, x.clone()), InOut(F16, y.clone())];
        let case = Case::new(&text, "half2_axpy", shape, &args);
        let factor = |i: usize| if i.is_multiple_of(2) { 0.5 } else { -2.0 };
        let want: Vec<f64> = (0..128).map(|i| factor(i) * x[i] + y[i]).collect();
        case.assert_close(1, F16, &want);

        let x = noise(512, 24);
        let args = [In(F16, x.clone()), Out(F16, 512)];
        let case = Case::new(&text, "half8", shape, &args);
        let want: Vec<f64> = x.iter().map(|v| v.max(0.0)).collect();
        case.assert_close(1, F16, &want);
    }
}

#[test]
fn bfloats() {
    for file in ["cuda/j_half.sm_80.ptx", "cuda/clang19/j_half.sm_80.ptx"] {
        let text = corpus(file);
        let (a, b) = (noise(50, 25), noise(50, 26));
        let args = [In(Bf16, a.clone()), In(Bf16, b.clone()), Out(F32, 32), Int(50)];
        let case = Case::new(&text, "bf16_dot", ([1, 1, 1], [32, 1, 1], 0), &args);
        let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        case.assert_close(2, F32, &[dot; 32]);

        let x = noise(128, 27);
        let args = [In(Bf16, x.clone()), Out(F32, 128), Out(Bf16, 512)];
        let case = Case::new(&text, "bf16_misc", ([1, 1, 1], [64, 1, 1], 0), &args);
        let pair = |i: usize| (x[2 * i], x[2 * i + 1]);
        let want: Vec<f64> =
            (0..64).flat_map(|i| [pair(i).0 + pair(i).1, pair(i).0 * pair(i).1]).collect();
        case.assert_close(1, F32, &want);
        let functions: [fn(f64) -> f64; 4] =
            [|v| v * 0.5 + v, |v| v * v + v, |v| v.max(0.0), |v| v];
        let want: Vec<f64> =
            functions.iter().flat_map(|f| x.iter().map(|&v| f(v)).collect::<Vec<_>>()).collect();
        case.assert_close(2, Bf16, &want);
    }
}

#[test]
fn functions_with_fast_math() {
    let x: Vec<f64> = (0..64).map(|i| f64::from(i) / 8.0 + 0.0625).collect();
    type Function = fn(f64) -> f64;
    let cases: [(&str, Function); 10] = [
        ("recip", f64::recip),
        ("sqrtf", f64::sqrt),
        ("rsqrtf", |v| 1.0 / v.sqrt()),
        ("sinf", f64::sin),
        ("cosf", f64::cos),
        ("expf", |v| (v * LOG2_E).exp2()),
        ("log2f", f64::log2),
        ("sigmoid", |v| 1.0 / (1.0 + (-v * LOG2_E).exp2())),
        ("relu", |v| v.max(0.0)),
        ("fabsf", f64::abs),
    ];
    for (name, function) in cases {
        let want: Vec<f64> = x.iter().map(|&v| function(v)).collect();
        let args = [In(F32, x.clone()), Out(F32, 64)];
        let text = corpus(&format!("cuda/m_{name}.sm_80.fast.ptx"));
        let case = Case::new(&text, &format!("k_{name}"), ([1, 1, 1], [64, 1, 1], 0), &args);
        assert_near(&case.elements(1, F32, 64), &want, 1e-9);
    }
}

/// Branches on data that the enclosures decide are followed: Newton's iteration, with as many steps in each thread as
/// its number needs.
#[test]
fn control_that_depends_on_data() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
        .entry k(.param .u64 x, .param .u64 y) {
        .reg .b64 %rd<6>; .reg .f32 %f<9>; .reg .pred %p<2>; .reg .b32 %r<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
        ld.global.f32 %f1, [%rd4]; mov.f32 %f2, 0f3F800000;
        again: div.rn.f32 %f3, %f1, %f2; add.f32 %f4, %f2, %f3; mul.f32 %f2, %f4, 0f3F000000;
        neg.f32 %f5, %f1; fma.rn.f32 %f6, %f2, %f2, %f5; abs.f32 %f7, %f6;
        setp.gt.f32 %p1, %f7, 0f34000000; @%p1 bra again;
        st.global.f32 [%rd5], %f2; ret; }";
    let x: Vec<f64> = (1..=64).map(|i| f64::from(i * i) / 64.0 + 1.0).collect();
    let want: Vec<f64> = x.iter().map(|x| newton(*x)).collect();
    let args = [In(F32, x), Out(F32, 64)];
    let case = Case::new(text, "k", ([1, 1, 1], [64, 1, 1], 0), &args);
    assert_near(&case.elements(1, F32, 64), &want, 1e-9);
}

fn newton(x: f64) -> f64 {
    let mut y = 1.0;
    loop {
        y = (y + x / y) * 0.5;
        if (y * y - x).abs() <= 2f64.powi(-23) {
            return y;
        }
    }
}

/// 256 bits decide a comparison that doubles cannot.
#[test]
fn more_bits_where_doubles_do_not_do() {
    let text =
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {
        .reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .pred %p<2>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
        ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4];
        rcp.rn.f32 %f3, %f1; fma.rn.f32 %f4, %f2, %f2, %f3; sub.f32 %f5, %f4, %f3;
        mul.f32 %f6, %f2, 0f3F000000; mul.f32 %f7, %f6, %f2;
        setp.gt.f32 %p1, %f5, %f7; mov.f32 %f8, 0f3F800000;
        @!%p1 mov.f32 %f8, 0f40000000;
        st.global.f32 [%rd2], %f8; ret; }";
    let args = [In(F32, vec![3.0, 2f64.powi(-60)]), Out(F32, 1)];
    let case = Case::new(text, "k", ([1, 1, 1], [1, 1, 1], 0), &args);
    let limits = exec::Limits::default();
    let quick = interval::run::<Double>(&case.program, &case.launch, limits, &case.given);
    let quick: &dyn interval::Answers = &quick;
    let reason = &quick.outcome().gap.as_ref().unwrap().reason;
    assert!(reason.contains("too close to be told apart"), "{reason}");
    let mut tries = 0;
    let answer =
        interval::enclose(&case.program, &case.launch, limits, &case.given, &mut |answers| {
            tries += 1;
            Some(answers.element(1, 0, F32))
        });
    assert_eq!((tries, answer), (1, Some(interval::Enclosed::Between(1.0, 1.0))));
    let _ = case.run::<Precise>();
}
