//! Kernels with claims at barriers in `corpus/param/barriers`: each is proved for every size, and no mutant is.
//! Checks that need a solver run only if there is one.

mod support;

use allsizes::engine::Property;
use support::mutants::{answer, check, names, none_is_proved};

/// One test per kernel, so that they run side by side.
macro_rules! kernels {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check("barriers", stringify!($name), Property::Invariant); })*
    };
}

kernels! {
    compaction corners distinct global intrinsics kept monotone registers reversed rounds segments shifted tile uniform
}

#[test]
fn every_kernel_is_tested() {
    assert_eq!(names("barriers"), NAMES);
}

/// Wrong kernels and wrong claims, each of a kind that the use of claims could hide.
const WRONG: &[(&str, &str)] = &[
    (
        "a claim that is never true",
        r"//@ extent A[blockDim.x], out[1];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          A[threadIdx.x] = 1;
          //@ barrier invariant A[threadIdx.x] != A[threadIdx.x];
          __syncthreads();
          out[A[threadIdx.x] + 7] = 1;
        }",
    ),
    (
        "a claim of pairs where there are none says nothing of one thread",
        r"//@ extent A[1], out[1];
        //@ requires gridDim.x == 1 && blockDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          A[threadIdx.x] = 5;
          //@ barrier invariant A[threadIdx.x] == 0 && \other(A[threadIdx.x]) == 0;
          //@ barrier invariant A[0] + \other(A[0]) == 0;
          __syncthreads();
          out[A[threadIdx.x]] = 1;
        }",
    ),
    (
        "what a claim says is stored over by another thread before the next barrier",
        r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          int t = threadIdx.x;
          A[t] = t;
          //@ barrier invariant \forall int i; 0 <= i < blockDim.x ==> A[i] == i;
          __syncthreads();
          if (t == 0) A[blockDim.x - 1] = blockDim.x;
          __syncthreads();
          out[A[t]] = t;
        }",
    ),
    (
        "a claim that holds behind a condition",
        r"//@ extent A[n], out[n];
        //@ requires gridDim.x == 1 && blockDim.x == n && n > 0;
        __global__ void k(int* out, int n) {
          extern __shared__ int A[];
          int t = threadIdx.x, v = 9;
          A[t] = 4;
          if (n > 4) {
            //@ barrier invariant \forall int i; 0 <= i < n ==> 0 <= A[i] < n;
            __syncthreads();
            v = A[t];
          }
          if (t == 0) out[v] = 1;
        }",
    ),
    (
        "what held in an iteration does not hold in the next",
        r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1 && m > 0 && m < 100;
        __global__ void k(int* out, int m) {
          extern __shared__ int A[];
          int t = threadIdx.x;
          A[t] = t;
          for (int i = 0; i < m; i++) {
            __syncthreads();
            out[t] = A[A[t]];
            A[t] = t;
            //@ barrier invariant 0 <= A[t] < blockDim.x;
            __syncthreads();
            A[t] = A[t] + i;
          }
        }",
    ),
    (
        "distinct in one iteration, used in another",
        r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1 && m > 0 && m < 100;
        __global__ void k(int* out, int m) {
          extern __shared__ int A[];
          int t = threadIdx.x, v = 0;
          for (int i = 0; i < m; i++) {
            out[v] = t;
            A[t] = t;
            //@ barrier invariant A[t] != \other(A[t]);
            //@ barrier invariant 0 <= A[t] < blockDim.x;
            __syncthreads();
            v = A[t];
            __syncthreads();
          }
        }",
    ),
    (
        "threads that have ended",
        r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          int t = threadIdx.x;
          if (t > 2) return;
          A[t] = t;
          //@ barrier invariant A[t] != \other(A[t]);
          //@ barrier invariant A[t] == t;
          __syncthreads();
          out[A[t]] = t;
        }",
    ),
    (
        "a claim that a race makes true",
        r"//@ extent A[1], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          int t = threadIdx.x;
          A[0] = t;
          //@ barrier invariant 0 <= A[0] < blockDim.x;
          __syncthreads();
          out[t] = A[0];
        }",
    ),
    (
        "an atomic operation",
        r"//@ extent A[1], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          if (threadIdx.x == 0) A[0] = 0;
          //@ barrier invariant A[0] == 0;
          __syncthreads();
          atomicAdd(&A[0], 1);
          out[A[0]] = 1;
        }",
    ),
    (
        "an array of which other blocks have one, too",
        r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 2;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          int t = threadIdx.x;
          A[t] = t;
          //@ barrier invariant A[t] != \other(A[t]);
          //@ barrier invariant 0 <= A[t] < blockDim.x;
          __syncthreads();
          out[A[t]] = t + blockIdx.x;
        }",
    ),
    (
        "elements that nobody has stored",
        r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          int t = threadIdx.x;
          if (t > 0) A[t] = t;
          //@ barrier invariant 0 <= A[t] < blockDim.x;
          __syncthreads();
          out[A[t]] = t;
        }",
    ),
    (
        "a claim of elements that are not there",
        r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          int t = threadIdx.x;
          A[t] = t;
          //@ barrier invariant A[t + 1] > A[t];
          __syncthreads();
          out[A[t]] = t;
        }",
    ),
    (
        "a store in the way of the claim, by the thread itself",
        r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(int* out) {
          extern __shared__ int A[];
          int t = threadIdx.x;
          A[t] = t;
          //@ barrier invariant A[t] != \other(A[t]);
          //@ barrier invariant 0 <= A[t] < blockDim.x;
          __syncthreads();
          A[t] = A[t]/2;
          out[A[t]] = t;
        }",
    ),
    (
        "a sum that wraps",
        r"//@ extent A[blockDim.x], in[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1;
        __global__ void k(const unsigned* in, int* out) {
          extern __shared__ unsigned A[];
          unsigned t = threadIdx.x;
          A[t] = in[t] + 1;
          //@ barrier invariant A[t] > 0;
          __syncthreads();
          out[A[t] > 0 ? t : blockDim.x] = 1;
        }",
    ),
];

#[test]
fn nothing_wrong_is_proved() {
    none_is_proved(WRONG);
}

/// Messages about open claims name the clause and the elements in question.
#[test]
fn messages_name_clause_and_cell() {
    // Wrong only for the largest blocks.
    let wrong = r"//@ extent A[blockDim.x], out[blockDim.x];
        //@ requires gridDim.x == 1 && n >= 900;
        __global__ void k(int* out, int n) {
          extern __shared__ int A[];
          A[threadIdx.x] = threadIdx.x;
          //@ barrier invariant A[threadIdx.x] <= n;
          __syncthreads();
          out[threadIdx.x] = A[threadIdx.x];
        }";
    let answer = answer(wrong, support::solver());
    let open = answer.properties.iter().flat_map(|one| &one.open);
    let messages: Vec<&str> = open.map(|one| one.message.as_str()).collect();
    assert!(messages.iter().any(|one| one.contains("A[threadIdx.x]")), "{messages:?}");
}
