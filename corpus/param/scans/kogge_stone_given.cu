// The same with its invariant.
//@ monoid last, unit 0;
__device__ unsigned last(unsigned a, unsigned b) { return b != 0 ? b : a; }

//@ extent x[blockDim.x], in[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1;
//@ ensures \forall int i; 0 <= i < blockDim.x ==> out[i] == \fold(last, j, 0, i+1, in[j]);
__global__ void kogge_stone(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x, v = 0;
  x[t] = in[t];
  __syncthreads();
  //@ loop invariant \forall int i; 0 <= i < blockDim.x ==> x[i] == \fold(last, j, \max(0, i+1-off), i+1, in[j]);
  for (unsigned off = 1; off < blockDim.x; off *= 2) {
    if (t >= off) v = x[t-off];
    __syncthreads();  // between reads and writes
    if (t >= off) x[t] = last(v, x[t]);
    __syncthreads();  // before the next reads
  }
  out[t] = x[t];
}
