//@ extent data[n], sums[gridDim.x], temp[2*blockDim.x];
//@ requires n == 2*gridDim.x*blockDim.x && \is_pow2(blockDim.x) && n <= 2147483647;
__global__ void scan_blocks(int *data, int *sums, int n) {
  extern __shared__ int temp[];
  int tid = threadIdx.x;
  int base = 2*blockIdx.x*blockDim.x;
  int len = 2*blockDim.x;
  temp[2*tid] = data[base + 2*tid];
  temp[2*tid+1] = data[base + 2*tid+1];
  int offset = 1;
  for (int d = len >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (tid < d) {
      int ai = offset*(2*tid+1)-1;
      int bi = offset*(2*tid+2)-1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  __syncthreads();
  if (tid == 0) { sums[blockIdx.x] = temp[len-1]; temp[len-1] = 0; }
  for (int d = 1; d < len; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (tid < d) {
      int ai = offset*(2*tid+1)-1;
      int bi = offset*(2*tid+2)-1;
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  data[base + 2*tid] = temp[2*tid];
  data[base + 2*tid+1] = temp[2*tid+1];
}
