//! Indices of three digits, of which one is a sum over tiles: they are in bounds digit by digit.

mod support;

use param::engine::Property;
use param::{Options, Verdict};
use support::{kernel, solver};

const OPTIONS: Options = Options { infers: true, suggests: false };

/// The verdicts on bounds and on overflow of a product of batches of matrices by tiles.
fn verdicts(divides: &str, row: &str) -> [Verdict; 2] {
    let text = format!(
        "//@ symbolic T;
         #define T 4
         //@ extent A[m*h*n], B[m*n*w], out[m*h*w];
         //@ requires m >= 1 && h >= 1 && w >= 1 && n >= 1;
         //@ requires m*h*n <= 2147483647 && m*n*w <= 2147483647 && m*h*w <= 2147483647 && blockDim.x == T;
         //@ requires gridDim.x*T == w && gridDim.x*T <= 2147483647 && blockDim.y == T && gridDim.y*T == h;
         //@ requires gridDim.y*T <= 2147483647 && blockDim.z == 1 && gridDim.z == m{divides};
         //@ requires n + T <= 2147483647;
         __global__ void k(const float *A, const float *B, float *out, int m, int h, int w, int n) {{
           __shared__ float As[T][T + 1];
           __shared__ float Bs[T][T + 1];
           int ty = threadIdx.y, tx = threadIdx.x;
           int y = blockIdx.y*T + ty, x = blockIdx.x*T + tx, b = blockIdx.z;
           float acc = 0.0f;
           for (int k0 = 0; k0 < n; k0 += T) {{
             As[ty][tx] = A[({row})*n + k0 + tx];
             Bs[ty][tx] = B[(b*n + k0 + ty)*w + x];
             __syncthreads();
             for (int k = 0; k < T; k++) acc += As[ty][k]*Bs[k][tx];
             __syncthreads();
           }}
           out[(b*h + y)*w + x] = acc;
         }}"
    );
    let (answer, _) = param::prove(&kernel(&text), solver(), OPTIONS);
    assert!(answer.contradiction.is_none(), "{text}{:?}", answer.contradiction);
    [Property::Bounds, Property::Overflow].map(|property| {
        let own = answer.properties.iter().find(|one| one.property == property);
        own.unwrap_or_else(|| panic!("{text}")).verdict
    })
}

#[test]
fn batches_of_tiles() {
    if solver().is_some() {
        assert_eq!(verdicts(" && n % T == 0", "b*h + y"), [Verdict::Proved; 2]);
    }
    // A tile that is wider than what is left of a row.
    assert_ne!(verdicts("", "b*h + y")[0], Verdict::Proved);
    // One row too far.
    assert_eq!(verdicts(" && n % T == 0", "b*h + y + 1")[0], Verdict::Refuted);
}
