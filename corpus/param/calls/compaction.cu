// Stream compaction through the contract of the scan: the kernel is proved from what the scan says, and the scan by itself.
//@ extent in[n], x[n];
//@ requires n == blockDim.x;
//@ ensures \forall int i; 0 <= i < n ==> x[i] == \fold(+, j, 0, i + 1, in[j]);
__device__ void scan(const unsigned* in, unsigned* x, unsigned n) {
  unsigned t = threadIdx.x, v = 0;
  x[t] = in[t];
  __syncthreads();
  for (unsigned off = 1; off < n; off *= 2) {
    if (t >= off) v = x[t - off];
    __syncthreads();  // between reads and writes
    if (t >= off) x[t] = v + x[t];
    __syncthreads();  // before the next reads
  }
  __syncthreads();
}

//@ extent x[blockDim.x], flag[blockDim.x], data[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1;
//@ requires \forall int i; 0 <= i < blockDim.x ==> 0 <= flag[i] <= 1;
//@ ensures \forall int i; 0 <= i < blockDim.x && flag[i] == 1 ==> out[\fold(+, j, 0, i + 1, flag[j]) - 1] == data[i];
__global__ void compaction(const unsigned* flag, const int* data, int* out) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x;
  scan(flag, x, blockDim.x);
  if (flag[t] != 0) out[x[t] - 1] = data[t];
}
