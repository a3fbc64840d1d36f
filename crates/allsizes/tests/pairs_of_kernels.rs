//! Pairs of small kernels that were once proved equal although they are not.

mod support;

use allsizes::{Options, PairAnswer, Verdict};
use support::{kernel, solver};

fn compared(texts: [&str; 2]) -> PairAnswer {
    let kernels = texts.map(kernel);
    let options = Options { infers: true, suggests: false };
    let (answer, _) = allsizes::compare([&kernels[0], &kernels[1]], solver(), options)
        .expect("arrays of the same kind");
    assert!(!answer.contradiction, "{texts:?}");
    answer
}

/// A macro of the second kernel had the value of the first kernel's parameter of the same name.
#[test]
fn a_macro_is_no_parameter() {
    let parameter = "//@ extent y[n];
        //@ requires gridDim.x*blockDim.x >= n && n >= 1 && T >= 1;
        __global__ void k(int* y, int n, int T) {
          int i = blockIdx.x*blockDim.x + threadIdx.x;
          if (i < n) y[i] = T;
        }";
    let with_macro = "#define T 16
        //@ extent y[n];
        //@ symbolic T;
        //@ requires gridDim.x*blockDim.x >= n && n >= 1;
        __global__ void k(int* y, int n) {
          int i = blockIdx.x*blockDim.x + threadIdx.x;
          if (i < n) y[i] = T;
        }";
    for texts in [[parameter, with_macro], [with_macro, parameter]] {
        assert_ne!(compared(texts).verdict, Verdict::Proved, "{texts:?}");
    }
    assert_eq!(compared([parameter, parameter]).verdict, Verdict::Proved);
}

/// A product with the truth of a condition was 0 where the condition is false, although the other factor may be an
/// infinity there.
#[test]
fn zero_times_an_infinity_is_no_zero() {
    let text = |body: &str| {
        format!(
            "//@ extent x[n], y[n];
             //@ requires gridDim.x == 1 && blockDim.x == n && n > 3 && m >= 0;
             __global__ void k(const float* x, float* y, int n, int m) {{
               __shared__ float s[1024];
               int t = threadIdx.x;
               bool p = t < 3 || m != 1234567;
               float c = p ? 1.0f : 0.0f;
               {body}
             }}"
        )
    };
    let store = |other: &str| format!("s[t] = p ? x[t] : {other}; __syncthreads();");
    let wanted = text("y[t] = p ? x[t] : 0.0f;");
    for product in [
        "y[t] = (float)p * s[t];",
        "y[t] = c * s[t];",
        "float v = s[t]; y[t] = v - (p ? 0.0f : v);",
        "float v = s[t]; float z = 0.0f; if (!p) z = v; y[t] = v - z;",
        "float f = 0.0f; if (p) f = s[t]; y[t] = f + (1.0f - c) * s[t] * 0.0f;",
    ] {
        let infinite = text(&(store("-INFINITY") + product));
        assert_ne!(compared([&wanted, &infinite]).verdict, Verdict::Proved, "{infinite}");
    }
    // A value that is chosen is not computed with.
    for choice in [
        "y[t] = p ? s[t] : 0.0f;",
        "float f = 0.0f; if (p) f = s[t]; y[t] = f;",
        "float f = 0.0f; if (p) f = 2.0f * s[t]; y[t] = 0.5f * f;",
        "y[t] = p ? s[t] * x[t] / x[t] : 0.0f;",
    ] {
        let fine = text(&(store("-INFINITY") + choice));
        let quotient = text("y[t] = p ? x[t] * x[t] / x[t] : 0.0f;");
        let wanted = if choice.contains('/') { &quotient } else { &wanted };
        assert_eq!(compared([wanted, &fine]).verdict, Verdict::Proved, "{fine}");
    }
}
