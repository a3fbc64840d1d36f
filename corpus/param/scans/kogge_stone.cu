// Inclusive scan of one block, any number of threads. What x holds at the head of the loop is found.
//@ extent x[blockDim.x], in[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1;
//@ ensures \forall int i; 0 <= i < blockDim.x ==> out[i] == \fold(+, j, 0, i+1, in[j]);
__global__ void kogge_stone(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x, v = 0;
  x[t] = in[t];
  __syncthreads();
  for (unsigned off = 1; off < blockDim.x; off *= 2) {
    if (t >= off) v = x[t-off];
    __syncthreads();  // between reads and writes
    if (t >= off) x[t] = v + x[t];
    __syncthreads();  // before the next reads
  }
  out[t] = x[t];
}
