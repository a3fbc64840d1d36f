//! Running indices: known at the head of each iteration that another follows, and nowhere else. In the last iteration
//! the variable that the loop tests may leave its row. It does so at a number that no small launch comes near.

mod support;

use allsizes::{Options, Verdict};
use support::kernel;
use support::mutants::{answer, verdict};

const ONE_THREAD: &str = "blockDim.x == 1 && gridDim.x == 1";

/// Kernels that go wrong once `m` is about 777777.
#[test]
fn a_variable_that_is_tested_may_leave_its_row() {
    let contract = |body: &str| {
        format!(
            "//@ extent in[64], out[64];
             //@ requires m >= 0 && m <= 1000000 && {ONE_THREAD};
             //@ ensures \\forall int i; 0 <= i < 64 ==> out[i] == in[i];
             __global__ void a(const float* in, float* out, int m) {{ int p = 0, t = 0; {body} }}"
        )
    };
    let jump = "t++; p = p + 1 + (t + m >= 777777)*64;";
    let plain = format!("while (p < 64) {{ out[p] = in[p]; {jump} }}");
    let shared = format!(
        "__shared__ float s[64]; while (p < 64) {{ s[p] = in[p]; {jump} }} for (int i = 0; i < 64; i++) out[i] = s[i];"
    );
    let nested = "while (p < 64) { for (int j = 0; j < 4; j++) out[p + j] = in[p + j]; t += 4; p = p + 4 + (t + m >= 777777)*64; }";
    let back =
        "p = 63; while (p >= 0) { out[p] = in[p]; t -= 1; p = p - 1 - (m - t >= 777777)*64; }";
    let both = format!("while (m >= 0 && p < 64) {{ out[p] = in[p]; {jump} }}");
    for body in [&plain, &shared, nested, back, &both] {
        assert_ne!(verdict(&answer(&contract(body), None)), Verdict::Proved, "{body}");
    }
    let safety = [
        // Threads reach different numbers of barriers.
        "//@ requires m >= 0 && m <= 1000000;
         __global__ void a(int m) { int p = 0, t = 0;
         while (p < 64) { __syncthreads(); t += 1; p = p + 1 + (t + m >= 777777 + (int)threadIdx.x)*64; } }",
        // The test runs once more than there are iterations: a product that overflows, a divisor that is 0.
        "//@ requires m >= 0 && m <= 1000000;
         __global__ void a(int m) { int p = 0, t = 0;
         while (p*2 < 128) { t += 1; p = p + 1 + (t + m >= 777777)*1100000000; } }",
        "//@ requires m >= 0 && m <= 1000000;
         __global__ void a(int m) { int p = 0, t = 0;
         while (p < 64 + 0*(1000/(1050 - p))) { t += 1; p = p + 1 + (t + m >= 777777)*1000; } }",
        // A number that wraps back into its row.
        "//@ extent in[100], out[100];
         //@ requires m >= 0 && m <= 1000000 && blockDim.x == 1 && gridDim.x == 1;
         __global__ void a(const float* in, float* out, int m) { unsigned p = 0; int t = 0;
         while (p < 100u) { out[t] = in[t]; t += 1; p = p + 1u + (t + m >= 777777)*4294967295u; } }",
    ];
    for text in safety {
        assert_ne!(verdict(&answer(text, None)), Verdict::Proved, "{text}");
    }
}

/// One thread per row, and a running index.
fn rows(body: &str) -> String {
    format!(
        "//@ extent in[rows*n], out[rows];
         //@ requires rows >= 1 && n >= 1 && rows*n <= 2000000000 && n <= 1000000 && gridDim.x*blockDim.x >= rows;
         __global__ void k(const float* in, float* out, int rows, int n) {{
           int r = blockIdx.x*blockDim.x + threadIdx.x;
           if (r < rows) {{ float a = 0.0f; int at = n*r; {body} out[r] = a; }}
         }}"
    )
}

/// In tiles, the last of which may be smaller, the index is known. After them it is the value that the last tile
/// left.
#[test]
fn an_index_runs_through_tiles() {
    let reference = rows("for (int k = 0; k < n; k++) a += in[n*r + k];");
    let tiles = |inside: &str, behind: &str| {
        rows(&format!(
            "for (int m = 0; m < n; m += 3) for (int k = m; k < min(m + 3, n); k++) {{ {inside} }} {behind}"
        ))
    };
    let compared = |text: &str| {
        let [one, two] = [kernel(&reference), kernel(text)];
        let options = Options { infers: true, suggests: false };
        allsizes::compare([&one, &two], None, options).expect("a pair").0.verdict
    };
    assert_eq!(compared(&tiles("a += in[at]; at++;", "")), Verdict::Proved);
    assert_ne!(compared(&tiles("at++; a += in[at];", "")), Verdict::Proved);
    // The last element of the row, not of a whole tile.
    assert_ne!(
        compared(&tiles("a += in[at]; at++;", "a += in[at - 1] - in[n*r + n - 1];")),
        Verdict::Refuted
    );
    assert_ne!(
        compared(&tiles("a += in[at]; at++;", "if (at != n*r + (n + 2)/3*3) a += 1.0f;")),
        Verdict::Proved
    );
}
