// The same claims as calls, as another tool has them: what else they are given there is not needed.
//@ extent A[blockDim.x], B[blockDim.x];
//@ requires gridDim.x == 1;
__global__ void intrinsics(int* B) {
  extern __shared__ int A[];
  int t = threadIdx.x;
  A[t] = blockDim.x - 1 - t;
  __barrier_invariant_1(0 <= A[t] && A[t] < blockDim.x, t);
  __barrier_invariant_binary_1(A[t] != A[__other_int(t)], t, __other_int(t));
  __syncthreads();
  B[A[t]] = t;
}
