//! Kernels of the corpus, simulated on numbers and compared with references in double precision. The references are
//! written from a kernel's purpose, not from its code.
//!
//! Inputs are multiples of 1/128 between -1 and 1. Every type can represent them, so a reference starts from the same
//! numbers as the kernel.

mod corpus;

use corpus::numbers::{assert_close, bytes, simulate, words};
use testing::noise;

/// Relative error, or absolute below 1, of sums and functions in single precision.
const SINGLE: f64 = 2e-6;
/// Relative error of functions with approximate instructions (`--use_fast_math`, Triton).
const APPROXIMATE: f64 = 1e-5;
/// The rounding of a result to half precision.
const HALF: f64 = 5e-4;

fn softmax(x: &[f64], columns: usize) -> Vec<f64> {
    let row = |row: &[f64]| {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = row.iter().map(|value| (value - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(move |weight| weight / sum).collect::<Vec<_>>()
    };
    x.chunks(columns).flat_map(row).collect()
}

/// Rows of `a` times columns of `b`.
fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let element = |r: usize, c: usize| (0..k).map(|i| a[r * k + i] * b[i * n + c]).sum();
    (0..m * n).map(|i| element(i / n, i % n)).collect()
}

#[test]
fn softmax_of_cuda() {
    // Larger than 1, so that the order of rows and columns matters.
    let x: Vec<f64> = noise(3 * 300, 1).iter().map(|value| value * 8.0).collect();
    let want = softmax(&x, 300);
    let flags = "--grid 3 --block 128 --arg x=f32[3,300] --arg y=f32[3,300]:out --arg n=300";
    for file in ["a_softmax.sm_80", "a_softmax.sm_80.fast", "clang19/a_softmax.sm_80"] {
        let file = format!("cuda/{file}.ptx");
        for kernel in ["softmax_naive", "softmax_safe", "softmax_online"] {
            let got = simulate(&file, kernel, flags, &[("x", &x)], "y");
            assert_close(kernel, &got, &want, SINGLE);
        }
    }
}

#[test]
fn softmax_of_triton() {
    let x = noise(3 * 700, 2);
    let flags = "--grid 3 --smem 16 --arg x=f32[3,700]@[768,1] --arg o=f32[3,700]@[768,1]:out \
                 --arg stride=768 --arg n=700 --arg scratch=0 --arg profile=0";
    let got = simulate("triton/softmax.sm_80.ptx", "softmax", flags, &[("x", &x)], "o");
    assert_close("softmax", &got, &softmax(&x, 700), SINGLE);
}

#[test]
fn softmax_of_tilelang() {
    let x = noise(8 * 512, 3);
    let flags = "--grid 2 --block 128 --smem 512 --arg X=f32[8,512] --arg Y=f32[8,512]:out";
    let got = simulate("tilelang/softmax.sm_80.ptx", "sm_kernel", flags, &[("X", &x)], "Y");
    assert_close("softmax", &got, &softmax(&x, 512), SINGLE);
}

#[test]
fn layernorm() {
    let (x, w, b) = (noise(3 * 700, 4), noise(700, 5), noise(700, 6));
    let flags = "--grid 3 --smem 16 --arg x=f16[3,700]@[768,1] --arg w=f32[700] --arg b=f32[700] \
                 --arg o=f16[3,700]@[768,1]:out --arg stride=768 --arg n=700 --arg eps=0.0009765625 \
                 --arg scratch=0 --arg profile=0";
    let inputs: [(&str, &[f64]); 3] = [("x", &x), ("w", &w), ("b", &b)];
    let got = simulate("triton/layernorm.sm_80.ptx", "layernorm", flags, &inputs, "o");
    let row = |row: &[f64]| {
        let mean = row.iter().sum::<f64>() / 700.0;
        let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 700.0;
        let scale = 1.0 / (variance + 1.0 / 1024.0).sqrt();
        let normal = |(i, v): (usize, &f64)| (v - mean) * scale * w[i] + b[i];
        row.iter().enumerate().map(normal).collect::<Vec<_>>()
    };
    let want: Vec<f64> = x.chunks(700).flat_map(row).collect();
    assert_close("layernorm", &got, &want, HALF);
}

#[test]
fn matrix_products() {
    for file in ["cuda/c_sgemm.sm_80.ptx", "cuda/clang19/c_sgemm.sm_80.ptx"] {
        let (a, b) = (noise(128 * 48, 7), noise(48 * 64, 8));
        let flags = "--grid 1,2 --block 256 --arg A=f32[128,48] --arg B=f32[48,64] \
                     --arg C=f32[128,64]:out --arg M=128 --arg N=64 --arg K=48";
        let got = simulate(file, "sgemm_tiled", flags, &[("A", &a), ("B", &b)], "C");
        assert_close(file, &got, &product(&a, &b, [128, 64, 48]), SINGLE);

        let (a, b) = (noise(50 * 20, 9), noise(20 * 37, 10));
        let flags = "--grid 3,4 --block 16,16 --arg A=f32[50,20] --arg B=f32[20,37] \
                     --arg C=f32[50,37]:out --arg M=50 --arg N=37 --arg K=20";
        let got = simulate(file, "sgemm_naive", flags, &[("A", &a), ("B", &b)], "C");
        assert_close(file, &got, &product(&a, &b, [50, 37, 20]), SINGLE);
    }
}

#[test]
fn a_matrix_product_split_over_blocks() {
    let (a, b) = (noise(32 * 48, 11), noise(48 * 32, 12));
    let flags = "--grid 2,2,3 --block 16,16 --arg A=f32[32,48] --arg B=f32[48,32] \
                 --arg C=f32[32,32]:out=0 --arg N=32 --arg K=48 --arg kchunk=16";
    for file in ["cuda/h_splitk.sm_80.ptx", "cuda/clang19/h_splitk.sm_80.ptx"] {
        let got = simulate(file, "splitk", flags, &[("A", &a), ("B", &b)], "C");
        assert_close(file, &got, &product(&a, &b, [32, 32, 48]), SINGLE);
    }
}

#[test]
fn reductions() {
    let x = noise(3 * 256, 13);
    let want: Vec<f64> = x.chunks(256).map(|block| block.iter().sum()).collect();
    let flags = "--grid 3 --block 256 --arg x=f32[3,256] --arg out=f32[3]:out";
    for file in ["cuda/e_reduce.sm_80.ptx", "cuda/clang19/e_reduce.sm_80.ptx"] {
        for kernel in ["reduce_tree", "reduce_shfl", "reduce_syncwarp"] {
            // Sums of multiples of 1/128 are exact.
            assert_eq!(simulate(file, kernel, flags, &[("x", &x)], "out"), want, "{kernel}");
        }
    }
}

#[test]
fn scan_histogram_and_position_of_the_maximum() {
    let mut x = noise(128, 14);
    x[77] = 2.0;
    let flags = "--grid 1 --smem 32 --arg x=f32[128] --arg o=f32[257]:out=0 --arg scratch=0 \
                 --arg profile=0";
    let file = "triton/cumsum_atomic.sm_80.ptx";
    let got = simulate(file, "cumsum_atomic", flags, &[("x", &x)], "o");
    let mut want = vec![0.0; 257];
    for (i, value) in x.iter().enumerate() {
        want[i] = value + if i == 0 { 0.0 } else { want[i - 1] };
        want[128 + i % 16] += value;
    }
    want[256] = 77.0;
    assert_eq!(got, want);
}

#[test]
fn sums_of_vectors() {
    let (x, y) = (noise(2512, 15), noise(2512, 16));
    let want: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    for (file, n) in [("triton/vadd.sm_80.ptx", 2500), ("triton/vadd_al16.sm_80.ptx", 2512)] {
        let flags = format!(
            "--grid 3 --arg x=f32[{n}] --arg y=f32[{n}] --arg o=f32[{n}]:out --arg n={n} \
             --arg scratch=0 --arg profile=0"
        );
        let got = simulate(file, "vadd", &flags, &[("x", &x[..n]), ("y", &y[..n])], "o");
        assert_eq!(got, want[..n]);
    }
    let flags = "--grid 4 --block 128 --arg X=f32[2048] --arg Y=f32[2048] --arg Z=f32[2048]:out";
    let inputs: [(&str, &[f64]); 2] = [("X", &x[..2048]), ("Y", &y[..2048])];
    let got = simulate("tilelang/vadd.sm_80.ptx", "va_kernel", flags, &inputs, "Z");
    assert_eq!(got, want[..2048]);
}

#[test]
fn producers_and_consumers() {
    let x = noise(5 * 64, 17);
    let want: Vec<f64> = x.chunks(64).flat_map(|tile| tile.iter().rev().map(|v| 2.0 * v)).collect();
    let flags = "--grid 1 --block 128 --arg x=f32[5,64] --arg y=f32[5,64]:out --arg tiles=5";
    for file in ["cuda/f_named.sm_80.ptx", "cuda/clang19/f_named.sm_80.ptx"] {
        assert_eq!(simulate(file, "named_pc", flags, &[("x", &x)], "y"), want, "{file}");
    }
}

#[test]
fn a_stencil_with_a_halo() {
    let x = noise(300, 18);
    let at = |i: isize| usize::try_from(i).ok().and_then(|i| x.get(i)).copied().unwrap_or(0.0);
    let smooth = |i: isize| 0.25 * at(i - 1) + 0.5 * at(i) + 0.25 * at(i + 1);
    let want: Vec<f64> = (0..300).map(smooth).collect();
    let flags = "--grid 3 --block 128 --smem 520 --arg x=f32[300] --arg y=f32[300]:out --arg n=300";
    for file in ["cuda/i_dynsmem.sm_80.ptx", "cuda/i_dynsmem.sm_80.rdc.ptx"] {
        assert_eq!(simulate(file, "stencil", flags, &[("x", &x)], "y"), want, "{file}");
    }
}

#[test]
fn local_arrays_calls_tables_and_structures() {
    let (x, y) = (noise(512, 19), noise(64, 20));
    let index: Vec<f64> = (0..32).map(|i| f64::from(i * 5 % 16)).collect();
    for file in ["cuda/i_dynsmem.sm_80.ptx", "cuda/i_dynsmem.sm_80.rdc.ptx"] {
        let flags = "--grid 1 --block 32 --arg x=f32[32,16] --arg idx=s32[32] --arg y=f32[32]:out";
        let got = simulate(file, "localmem", flags, &[("x", &x), ("idx", &index)], "y");
        // The first 16 indices name every element once, so the order does not matter.
        let want: Vec<f64> = x.chunks(16).map(|row| row.iter().sum::<f64>() + 1.0).collect();
        assert_eq!(got, want, "{file}");

        let flags = "--grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:inout";
        let got = simulate(file, "callk", flags, &[("x", &x[..64]), ("y", &y)], "y");
        let want: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * y + x).collect();
        assert_eq!(got, want, "{file}");

        // The host writes the coefficients of a polynomial, the table is 1, 2, 3.
        let flags = "--grid 1 --block 64 --arg x=f32[64] --arg y=f32[64]:out \
                     --symbol coef=f32[4]=[0.25,0.5,0,0]";
        let got = simulate(file, "constk", flags, &[("x", &x[..64])], "y");
        let want = |i: usize| 0.5 * x[i] + 0.25 + (i % 3 + 1) as f64;
        let want: Vec<f64> = (0..64).map(want).collect();
        assert_eq!(got, want, "{file}");

        let flags = "--grid 1 --block 64 --arg p={0:x,8:y,16:50,20:f32=0.5,24:f32=-3} \
                     --arg x=f32[50] --arg y=f32[50]:out";
        let got = simulate(file, "structparam", flags, &[("x", &x[..50])], "y");
        let want: Vec<f64> = (0..50).map(|i| x[i] * if i % 2 == 0 { 0.5 } else { -3.0 }).collect();
        assert_eq!(got, want, "{file}");
    }
}

#[test]
fn a_switch() {
    let operations: Vec<f64> = (0..32).map(f64::from).collect();
    let x: Vec<f64> = noise(32, 21).iter().map(|v| v.abs() + 0.5).collect();
    let mut want = vec![-5.0; 2001];
    for i in 0..32 {
        let v = x[i];
        want[i] = match i {
            0 => v * v,
            1 => v + 3.0,
            2 => v.sqrt(),
            3 => v.abs() - 1.0,
            4 => 7.0 / v,
            5 => -v,
            6 => v,
            7 => v.max(2.0),
            _ => 0.0,
        };
    }
    (want[1000], want[2000]) = (want[6], want[7]);
    let before = vec![-5.0; 2001];
    let flags = "--grid 1 --block 32 --arg op=s32[32] --arg x=f32[32] --arg y=f32[2001]:inout";
    let inputs: [(&str, &[f64]); 3] = [("op", &operations), ("x", &x), ("y", &before)];
    let got = simulate("cuda/i_dynsmem.sm_80.ptx", "jumptable", flags, &inputs, "y");
    assert_close("jumptable", &got, &want, SINGLE);
}

#[test]
fn half_precision() {
    for file in ["cuda/j_half.sm_80.ptx", "cuda/clang19/j_half.sm_80.ptx"] {
        let (x, y) = (noise(128, 22), noise(128, 23));
        let flags = "--grid 1 --block 64 --arg a={0:f16=0.5,2:f16=-2} --arg x=f16[64,2] \
                     --arg y=f16[64,2]:inout";
        let got = simulate(file, "half2_axpy", flags, &[("x", &x), ("y", &y)], "y");
        let factor = |i: usize| if i.is_multiple_of(2) { 0.5 } else { -2.0 };
        let want: Vec<f64> = (0..128).map(|i| factor(i) * x[i] + y[i]).collect();
        assert_close(file, &got, &want, HALF);

        let (a, b) = (noise(50, 24), noise(50, 25));
        let flags = "--grid 1 --block 32 --arg a=bf16[50] --arg b=bf16[50] --arg y=f32[32]:out \
                     --arg n=50";
        let got = simulate(file, "bf16_dot", flags, &[("a", &a), ("b", &b)], "y");
        let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        assert_eq!(got, vec![dot; 32], "{file}");

        let x = noise(512, 26);
        let flags = "--grid 1 --block 64 --arg x=f16[64,8] --arg y=f16[64,8]:out";
        let got = simulate(file, "half8", flags, &[("x", &x)], "y");
        let want: Vec<f64> = x.iter().map(|v| v.max(0.0)).collect();
        assert_eq!(got, want, "{file}");
    }
}

#[test]
fn quantised_numbers() {
    for file in ["cuda/k_int8.sm_80.ptx", "cuda/clang19/k_int8.sm_80.ptx"] {
        let (a, b) = (bytes(64 * 52, 27), bytes(52, 28));
        let flags = "--grid 1 --block 64 --arg a=s8[64,52] --arg b=s8[52] --arg c=s32[64]:out \
                     --arg k4=13";
        let got = simulate(file, "dp4a_dot", flags, &[("a", &a), ("b", &b)], "c");
        assert_eq!(got, product(&a, &b, [64, 1, 52]), "{file}");

        let x: Vec<f64> = noise(256, 29).iter().map(|v| v * 3.0).collect();
        let flags = "--grid 1 --block 64 --arg x=f32[64,4] --arg q=s8[64,4]:out --arg inv=50";
        let got = simulate(file, "quant", flags, &[("x", &x)], "q");
        let quantised = |v: &f64| (v * 50.0).round_ties_even().clamp(-128.0, 127.0);
        assert_eq!(got, x.iter().map(quantised).collect::<Vec<_>>(), "{file}");

        let packed: Vec<f64> = (0..64).map(|i| f64::from(0x1357_9BDF_u32.rotate_left(i))).collect();
        let nibble = |i: usize, at: usize| f64::from(packed[i] as u32 >> (4 * at) & 15);
        let flags =
            "--grid 1 --block 64 --arg q=u32[64] --arg y=f32[64,8]:out --arg s=0.25 --arg z=8";
        let got = simulate(file, "dequant4", flags, &[("q", &packed)], "y");
        let want: Vec<f64> = (0..512).map(|i| 0.25 * (nibble(i / 8, i % 8) - 8.0)).collect();
        assert_eq!(got, want, "{file}");

        // The lowest nibble of each half.
        let flags = "--grid 1 --block 64 --arg q=u32[64] --arg y=f16[64,2]:out";
        let got = simulate(file, "dequant4_magic", flags, &[("q", &packed)], "y");
        let want: Vec<f64> = (0..128).map(|i| nibble(i / 2, i % 2 * 4)).collect();
        assert_eq!(got, want, "{file}");
    }
}

#[test]
fn functions_of_triton() {
    let x: Vec<f64> = (0..128).map(|i| f64::from(i) / 16.0 + 0.125).collect();
    let flags = "--grid 1 --arg x=f32[128] --arg o=f32[17,128]:out --arg scratch=0 --arg profile=0";
    let got = simulate("triton/mathops.sm_80.ptx", "mathops", flags, &[("x", &x)], "o");
    let functions: [fn(f64) -> f64; 17] = [
        f64::exp,
        f64::ln,
        f64::sqrt,
        |v| 1.0 / v.sqrt(),
        f64::sin,
        libm::erf,
        |v| 1.0 / (1.0 + (-v).exp()),
        |v| v / (1.0 + v),
        f64::exp2,
        f64::cos,
        f64::abs,
        f64::floor,
        |v| v / (3.0 + v),
        f64::sqrt,
        f64::log2,
        |v| v.max(0.0),
        |v| v * v + v,
    ];
    for (number, function) in functions.iter().enumerate() {
        let want: Vec<f64> = x.iter().map(|&v| function(v)).collect();
        assert_close(&format!("row {number}"), &got[number * 128..][..128], &want, APPROXIMATE);
    }
}

/// Every function of one argument, in every compiled form.
#[test]
fn functions_of_the_math_library() {
    let all: Vec<f64> = (-32..32).map(|i| f64::from(i) / 8.0 + 0.0625).collect();
    let positive: Vec<f64> = (0..64).map(|i| f64::from(i) / 8.0 + 0.0625).collect();
    let gelu = |v: f64| 0.5 * v * (1.0 + libm::erf(v / 2f64.sqrt()));
    let gelu_tanh = |v: f64| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (v + 0.044715 * v * v * v);
        0.5 * v * (1.0 + inner.tanh())
    };
    type Function = fn(f64) -> f64;
    let cases: [(&str, &[f64], Function); 30] = [
        ("__expf", &all, f64::exp),
        ("__logf", &positive, f64::ln),
        ("cbrtf", &all, f64::cbrt),
        ("cosf", &all, f64::cos),
        ("double_exp", &all, f64::exp),
        ("erff", &all, libm::erf),
        ("exp10f", &all, |v| 10f64.powf(v)),
        ("exp2f", &all, f64::exp2),
        ("expf", &all, f64::exp),
        ("expm1f", &all, f64::exp_m1),
        ("fabsf", &all, f64::abs),
        ("floorf", &all, f64::floor),
        ("gelu_erf", &all, gelu),
        ("gelu_tanh", &all, gelu_tanh),
        ("isnan_sel", &all, |v| v),
        ("log1pf", &positive, f64::ln_1p),
        ("log2f", &positive, f64::log2),
        ("logf", &positive, f64::ln),
        ("pow2const", &positive, |v| v * v),
        ("pow3const", &positive, |v| v * v * v),
        ("recip", &all, f64::recip),
        ("relu", &all, |v| v.max(0.0)),
        ("roundf", &all, f64::round),
        ("rsqrtf", &positive, |v| 1.0 / v.sqrt()),
        ("sigmoid", &all, |v| 1.0 / (1.0 + (-v).exp())),
        ("silu", &all, |v| v / (1.0 + (-v).exp())),
        ("sinf", &all, f64::sin),
        ("softplus", &all, |v| v.exp().ln_1p()),
        ("sqrtf", &positive, f64::sqrt),
        ("tanhf", &all, f64::tanh),
    ];
    let flags = "--grid 1 --block 64 --arg in=f32[64] --arg out=f32[64]:out";
    for (name, x, function) in cases {
        let want: Vec<f64> = x.iter().map(|&v| function(v)).collect();
        for (file, tolerance) in [
            (format!("cuda/m_{name}.sm_80.ptx"), SINGLE),
            (format!("cuda/m_{name}.sm_80.fast.ptx"), APPROXIMATE),
            (format!("cuda/nvrtc129/m_{name}.sm_80.ptx"), SINGLE),
        ] {
            let got = simulate(&file, &format!("k_{name}"), flags, &[("in", x)], "out");
            assert_close(&file, &got, &want, tolerance);
        }
    }
}

/// Reduction of large angles goes through a table in local memory.
#[test]
fn large_angles() {
    let x: Vec<f64> = (0..64).map(|i| (f64::from(i) - 31.5) * 2f64.powi(i)).collect();
    let flags = "--grid 1 --block 64 --arg in=f32[64] --arg out=f32[64]:out";
    for (name, function) in [("sinf", f64::sin as fn(f64) -> f64), ("cosf", f64::cos)] {
        let want: Vec<f64> = x.iter().map(|&v| function(v)).collect();
        for file in ["", "nvrtc129/"] {
            let file = format!("cuda/{file}m_{name}.sm_80.ptx");
            let got = simulate(&file, &format!("k_{name}"), flags, &[("in", &x)], "out");
            assert_close(&file, &got, &want, SINGLE);
        }
    }
}

#[test]
fn functions_of_two_arguments() {
    let a: Vec<f64> = (0..64).map(|i| f64::from(i) / 8.0 + 0.0625).collect();
    let b: Vec<f64> = noise(64, 32).iter().map(|v| v * 2.0 + 1.0 / 128.0).collect();
    type Function = fn(f64, f64) -> f64;
    let cases: [(&str, Function); 7] = [
        ("copysignf", f64::copysign),
        ("div", |a, b| a / b),
        ("fdividef", |a, b| a / b),
        ("fmodf", |a, b| a % b),
        ("hypotf", f64::hypot),
        ("powf", f64::powf),
        ("powf_intrin", f64::powf),
    ];
    let flags = "--grid 1 --block 64 --arg a=f32[64] --arg b=f32[64] --arg out=f32[64]:out";
    for (name, function) in cases {
        let want: Vec<f64> = a.iter().zip(&b).map(|(&a, &b)| function(a, b)).collect();
        for (file, tolerance) in [
            (format!("cuda/m_{name}.sm_80.ptx"), SINGLE),
            (format!("cuda/m_{name}.sm_80.fast.ptx"), APPROXIMATE),
            (format!("cuda/nvrtc129/m_{name}.sm_80.ptx"), SINGLE),
        ] {
            let inputs: [(&str, &[f64]); 2] = [("a", &a), ("b", &b)];
            let got = simulate(&file, &format!("k_{name}"), flags, &inputs, "out");
            assert_close(&file, &got, &want, tolerance);
        }
    }
}

#[test]
fn integer_instructions() {
    let (a, b) = (words(64, 30), words(64, 31));
    assert!(b.iter().all(|&b| b != 0.0 && b != -1.0), "neither divides everything");
    type Function = fn(i32, i32) -> i32;
    let cases: [(&str, Function); 8] = [
        ("idiv", |a, b| a / b),
        ("idiv7", |a, b| a / 7 + b % 12),
        ("imin", i32::min),
        ("imod", |a, b| a % b),
        ("imulhi", |a, b| ((i64::from(a) * i64::from(b)) >> 32) as i32),
        ("ipopc", |a, b| (a.count_ones() + b.leading_zeros()) as i32),
        ("iprmt", |a, b| a & 0xFFFF | b << 16),
        ("ishf", |a, b| b << 7 | (a as u32 >> 25) as i32),
    ];
    let flags = "--grid 1 --block 64 --arg a=s32[64] --arg b=s32[64] --arg out=s32[64]:out";
    for (name, function) in cases {
        let pairs = a.iter().zip(&b);
        let want: Vec<f64> =
            pairs.map(|(&a, &b)| f64::from(function(a as i32, b as i32))).collect();
        for file in ["", "nvrtc129/"] {
            let file = format!("cuda/{file}m_{name}.sm_80.ptx");
            let inputs: [(&str, &[f64]); 2] = [("a", &a), ("b", &b)];
            let got = simulate(&file, &format!("k_{name}"), flags, &inputs, "out");
            assert_eq!(got, want, "{file}");
        }
    }
}
