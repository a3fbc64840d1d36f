// Places that are computed, and go through shared memory.
//@ extent A[blockDim.x], B[blockDim.x];
//@ requires gridDim.x == 1;
__global__ void reversed(int* B) {
  extern __shared__ int A[];
  int t = threadIdx.x;
  A[t] = blockDim.x - 1 - t;
  //@ barrier invariant threadIdx.x < \other(threadIdx.x) ==> A[t] > \other(A[t]);
  //@ barrier invariant \forall int i; 0 <= i < blockDim.x ==> 0 <= A[i] < blockDim.x;
  __syncthreads();
  B[A[blockDim.x - 1 - t]] = t;
}
