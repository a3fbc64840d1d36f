// Stream compaction of one block: flags are scanned in shared memory, and what is kept goes where the scan says.
//@ extent x[blockDim.x], flag[blockDim.x], data[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1;
//@ requires \forall int i; 0 <= i < blockDim.x ==> 0 <= flag[i] <= 1;
//@ ensures \forall int i; 0 <= i < blockDim.x && flag[i] == 1 ==> out[\fold(+, j, 0, i + 1, flag[j]) - 1] == data[i];
__global__ void compaction(const unsigned* flag, const int* data, int* out) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x, v = 0;
  x[t] = flag[t];
  __syncthreads();
  for (unsigned off = 1; off < blockDim.x; off *= 2) {
    if (t >= off) v = x[t-off];
    __syncthreads();  // between reads and writes
    if (t >= off) x[t] = v + x[t];
    __syncthreads();  // before the next reads
  }
  //@ barrier invariant \forall int i; 0 <= i < blockDim.x ==> x[i] == \fold(+, j, 0, i + 1, flag[j]);
  __syncthreads();
  if (flag[t] != 0) out[x[t] - 1] = data[t];
}
