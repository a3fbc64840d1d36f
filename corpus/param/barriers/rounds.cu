// A barrier in a loop: in every round the places are others, and distinct.
//@ extent p[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1 && m >= 0 && m <= 1000000;
__global__ void rounds(int* out, int m) {
  extern __shared__ int p[];
  int t = threadIdx.x;
  for (int k = 0; k < m; k++) {
    p[t] = k % 2 == 0 ? t : blockDim.x - 1 - t;
    //@ barrier invariant p[t] != \other(p[t]);
    //@ barrier invariant 0 <= p[t] < blockDim.x;
    __syncthreads();
    out[p[blockDim.x - 1 - t]] = t;
    __syncthreads();  // before the next round
  }
}
