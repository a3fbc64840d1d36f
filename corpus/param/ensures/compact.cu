// Stream compaction: where each kept element goes is what an exclusive scan of the flags ensures.
//@ extent data[n], out[n], flag[n], idx[n];
//@ requires n == gridDim.x*blockDim.x && n <= 2147483647;
//@ requires \forall int i; 0 <= i < n ==> 0 <= flag[i] <= 1;
//@ requires \forall int i; 0 <= i < n ==> idx[i] == \fold(+, j, 0, i, flag[j]);
//@ ensures \forall int i; 0 <= i < n && flag[i] == 1 ==> out[\fold(+, j, 0, i, flag[j])] == data[i];
__global__ void compact(const int* data, int* out, const unsigned* flag, const unsigned* idx, unsigned n) {
  unsigned t = blockIdx.x*blockDim.x + threadIdx.x;
  if (flag[t]) out[idx[t]] = data[t];
}
