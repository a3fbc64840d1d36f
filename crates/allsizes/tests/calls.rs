//! Kernels in `corpus/param/calls` that call functions by their contracts: each is proved for every size, and no
//! mutant is.

mod support;

use allsizes::{Options, engine::Property};
use support::mutants::{check, names, none_is_proved};

/// One test per kernel, so that they run side by side.
macro_rules! kernels {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check("calls", stringify!($name), Property::Invariant); })*
    };
}

kernels! { compaction fill }

#[test]
fn every_kernel_is_tested() {
    assert_eq!(names("calls"), NAMES);
}

/// Calls where a contract says less than it seems to.
const WRONG: &[(&str, &str)] = &[
    (
        "two arguments that are one array",
        r"//@ extent a[blockDim.x], b[blockDim.x];
        //@ ensures \forall int i; 0 <= i < blockDim.x ==> b[i] == a[i] - 1;
        //@ ensures \forall int i; 0 <= i < blockDim.x ==> a[i] == 1;
        __device__ void f(int* a, int* b) {
          a[threadIdx.x] = 1;
          b[threadIdx.x] = 0;
          __syncthreads();
        }
        //@ extent s[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int s[];
          f(s, s);
          out[s[threadIdx.x] == 0 ? blockDim.x : threadIdx.x] = 1;
        }",
    ),
    (
        "a pointer that each thread has for itself",
        r"//@ extent a[blockDim.x];
        //@ ensures \forall int i; 0 <= i < blockDim.x ==> a[i] == i;
        __device__ void f(int* a) {
          a[threadIdx.x] = threadIdx.x;
          __syncthreads();
        }
        //@ extent s[2*blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int s[];
          f(s + threadIdx.x);
          out[2*s[threadIdx.x]] = 1;
        }",
    ),
    (
        "a block of two dimensions",
        r"//@ extent a[blockDim.x];
        //@ ensures \forall int i; 0 <= i < blockDim.x ==> a[i] == i;
        __device__ void f(int* a) {
          a[threadIdx.x] = threadIdx.x;
          __syncthreads();
        }
        //@ extent s[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int s[];
          f(s);
          out[s[threadIdx.x]] = threadIdx.y;
        }",
    ),
    (
        "what was before the call is not what was before the launch",
        r"//@ extent a[blockDim.x];
        //@ ensures \forall int i; 0 <= i < blockDim.x ==> a[i] == \old(a[i]) + 1;
        __device__ void f(int* a) {
          a[threadIdx.x] = a[threadIdx.x] + 1;
          __syncthreads();
        }
        //@ extent g[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        //@ requires \forall int i; 0 <= i < blockDim.x ==> g[i] == -1;
        __global__ void k(int* g, int* out) {
          g[threadIdx.x] = blockDim.x;
          __syncthreads();
          f(g);
          out[threadIdx.x + g[threadIdx.x]] = 1;
        }",
    ),
    (
        "what a contract does not mention is stored all the same",
        r"//@ extent a[blockDim.x], b[blockDim.x];
        //@ ensures \forall int i; 0 <= i < blockDim.x ==> a[i] == i;
        __device__ void f(int* a, int* b) {
          a[threadIdx.x] = threadIdx.x;
          b[threadIdx.x] = blockDim.x;
          __syncthreads();
        }
        //@ extent g[blockDim.x], s[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out, int* g) {
          extern __shared__ int s[];
          g[threadIdx.x] = threadIdx.x;
          //@ barrier invariant \forall int i; 0 <= i < blockDim.x ==> g[i] == i;
          __syncthreads();
          f(s, g);
          out[g[threadIdx.x]] = 1;
        }",
    ),
    (
        "a contract that is not shown",
        r"//@ extent a[blockDim.x];
        //@ ensures \forall int i; 0 <= i < blockDim.x ==> 0 <= a[i] < 0;
        __device__ void f(int* a) {
          a[threadIdx.x] = threadIdx.x;
          __syncthreads();
        }
        //@ extent s[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int s[];
          f(s);
          out[s[threadIdx.x] + 5] = 1;
        }",
    ),
    (
        "a demand that the call does not fulfil",
        r"//@ extent a[blockDim.x];
        //@ requires m >= 1;
        //@ ensures \forall int i; 0 <= i < blockDim.x ==> 0 <= a[i] < m;
        __device__ void f(int* a, int m) {
          a[threadIdx.x] = 0;
          __syncthreads();
        }
        //@ extent s[blockDim.x], out[n];
        //@ requires gridDim.x == 1 && n >= 0;
        __global__ void k(int* out, int n) {
          extern __shared__ int s[];
          f(s, n);
          if (threadIdx.x == 0) out[s[0]] = 1;
        }",
    ),
];

#[test]
fn nothing_wrong_is_proved() {
    none_is_proved(WRONG);
}

/// A recursive function cannot be inlined, and its contract cannot be proved separately.
#[test]
fn recursion_is_refused() {
    let text = r"//@ ensures \forall int i; 0 <= i < 1 ==> a[i] == 0;
        __device__ void f(int* a) { f(a); __syncthreads(); }
        //@ extent a[1];
        __global__ void k(int* a) { f(a); }";
    let kernels = cuda_front::kernels(text).expect("a file");
    assert!(kernels.iter().all(|(_, kernel)| kernel.is_err()));
}

/// If a function's contract is at fault, the answer names the function.
#[test]
fn messages_name_the_function() {
    let Some(solver) = support::solver() else { return };
    let options = Options { infers: true, suggests: false };
    let wrong = support::kernel(WRONG[5].1);
    let answer = allsizes::prove(&wrong, Some(solver), options).0;
    let open = answer.properties.iter().flat_map(|one| &one.open);
    assert!(open.into_iter().any(|one| one.message.contains("the contract of `f`")));
}
