// Stream compaction of one block with the scan's monotone specification: two threads, one after the other.
//@ extent x[blockDim.x], y[blockDim.x], flag[blockDim.x], data[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1 && blockDim.x <= 512;
//@ requires \forall int i; 0 <= i < blockDim.x ==> 0 <= flag[i] <= 1;
__global__ void monotone(const unsigned* flag, const int* data, int* out, unsigned* y) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x, v = 0;
  x[t] = flag[t];
  __syncthreads();
  //@ loop invariant \forall int i; 0 <= i < blockDim.x ==> x[i] == \fold(+, j, \max(0, i+1-off), i+1, flag[j]);
  for (unsigned off = 1; off < blockDim.x; off *= 2) {
    if (t >= off) v = x[t-off];
    __syncthreads();  // between reads and writes
    if (t >= off) x[t] = v + x[t];
    __syncthreads();  // before the next reads
  }
  unsigned before = 0;
  if (t > 0) before = x[t-1];
  y[t] = before;
  //@ barrier invariant t < \other(t) ==> y[t] + flag[t] <= \other(y[t]);
  //@ barrier invariant y[t] <= t;
  __syncthreads();
  if (flag[t] != 0) out[y[t]] = data[t];
}
