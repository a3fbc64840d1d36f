//! Several stores of one loop: which of them an element comes from is decided condition by condition.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::{kernel, solver};

const OPTIONS: Options = Options { infers: true, suggests: false };

/// Returns the verdict on the contract of a kernel.
fn postcondition(text: &str) -> Option<Verdict> {
    let (answer, _) = allsizes::prove(&kernel(text), solver(), OPTIONS);
    assert!(answer.contradiction.is_none(), "{text}");
    let own = answer.properties.iter().find(|one| one.property == Property::Postcondition)?;
    Some(own.verdict)
}

/// A sum of the first elements, two in each iteration, with a loop for the rest after it.
fn unrolled(rest: &str) -> String {
    format!(
        "//@ extent in[rows*n], out[rows*n];
         //@ requires rows >= 1 && n >= 1 && rows*n <= 2147483647 && blockDim.x == 1 && gridDim.x == rows;
         //@ requires n + 2 <= 2147483647;
         //@ ensures \\forall int r, j; 0 <= r < rows && 0 <= j < n ==> out[r*n + j] == \\sum(k, 0, j + 1, in[r*n + k]);
         __global__ void k(const float *in, float *out, int rows, int n) {{
           int r = blockIdx.x;
           float acc = 0.0f;
           int j = 0;
           for (; j + 1 < n; j += 2) {{
             acc += in[r*n + j];
             out[r*n + j] = acc;
             acc += in[r*n + j + 1];
             out[r*n + j + 1] = acc;
           }}
           {rest}
         }}"
    )
}

#[test]
fn an_unrolled_loop_and_its_rest() {
    let rest = "for (; j < n; j++) { acc += in[r*n + j]; out[r*n + j] = acc; }";
    if solver().is_some() {
        assert_eq!(postcondition(&unrolled(rest)), Some(Verdict::Proved));
    }
    assert_eq!(postcondition(&unrolled("")), Some(Verdict::Refuted));
    let twice = rest.replace("in[r*n + j];", "2.0f*in[r*n + j];");
    assert_eq!(postcondition(&unrolled(&twice)), Some(Verdict::Refuted));
}

/// Threads at the edge of a block load what its neighbours compute with: a block is four threads wider than its tile.
#[test]
fn tiles_that_are_smaller_than_blocks() {
    let tiled = |last: &str| {
        kernel(&format!(
            "//@ symbolic T;
             #define T 4
             //@ extent in[w], out[w];
             //@ requires w >= 1 && T >= 1 && blockDim.x == T + 4 && gridDim.x*T >= w && gridDim.x*T + 4 <= 2147483647;
             //@ requires w <= 2147483600;
             __global__ void k(const float *in, float *out, int w) {{
               __shared__ float s[T + 4];
               int tx = threadIdx.x;
               int x = blockIdx.x*T + tx - 2;
               if (x >= 0 && x < w) s[tx] = in[x];
               __syncthreads();
               if (tx >= 2 && tx < {last} && x >= 2 && x < w - 2) out[x] = s[tx - 2] + s[tx] + s[tx + 2];
             }}"
        ))
    };
    let plain = kernel(
        "//@ extent in[w], out[w];
         //@ requires w >= 1 && gridDim.x*blockDim.x >= w && w <= 2147483600;
         __global__ void k(const float *in, float *out, int w) {
           int x = blockIdx.x*blockDim.x + threadIdx.x;
           if (x >= 2 && x < w - 2) out[x] = in[x - 2] + in[x] + in[x + 2];
         }",
    );
    if let Some(solver) = solver() {
        let (compared, _) =
            allsizes::compare([&plain, &tiled("T + 2")], Some(solver), OPTIONS).unwrap();
        assert_eq!(compared.verdict, Verdict::Proved, "{:?}", compared.open);
    }
    let (compared, _) = allsizes::compare([&plain, &tiled("T + 1")], None, OPTIONS).unwrap();
    assert_eq!(compared.verdict, Verdict::Refuted);
}

/// The greater of two numbers is their maximum, however it is chosen.
#[test]
fn a_comparison_chooses_a_maximum() {
    for chosen in [
        "acc = x > acc ? x : acc;",
        "acc = acc >= x ? acc : x;",
        "if (acc < x) acc = x;",
        "if (x <= acc) {} else acc = x;",
        "acc = greater(acc, x);",
    ] {
        let text = format!(
            "__device__ float greater(float a, float b) {{ return a > b ? a : b; }}
             //@ extent in[n], out[1];
             //@ requires n >= 1 && blockDim.x == 1 && gridDim.x == 1 && n <= 2147483600;
             //@ ensures out[0] == \\fold(max, k, 0, n, in[k]);
             __global__ void k(const float *in, float *out, int n) {{
               float acc = -INFINITY;
               for (int k = 0; k < n; k++) {{ float x = in[k]; {chosen} }}
               out[0] = acc;
             }}"
        );
        assert_eq!(postcondition(&text), Some(Verdict::Proved), "{chosen}");
        let wrong = text.replace("fold(max", "fold(min");
        assert_eq!(postcondition(&wrong), Some(Verdict::Refuted), "{chosen}");
    }
}
