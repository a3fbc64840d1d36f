// Stream compaction, given where each kept element goes (what an exclusive scan of the flags ensures).
//@ extent data[n], out[n], flag[n], idx[n];
//@ requires n == gridDim.x*blockDim.x && n <= 2147483647;
//@ requires \forall int i; 0 <= i < n ==> 0 <= idx[i] < n;
//@ requires \forall int i, j; 0 <= i < j < n && flag[i] != 0 ==> idx[i] < idx[j];
__global__ void compact(const int* data, int* out, const int* flag, const int* idx, int n) {
  int t = blockIdx.x*blockDim.x + threadIdx.x;
  if (flag[t] != 0) out[idx[t]] = data[t];
}
