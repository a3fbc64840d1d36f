// Sum and sum of squares of each row, in two arrays of dynamic shared memory with one element per thread.
// Fixed: the launch gives 1024 bytes.
//
// Both twins are the same kernel.

extern "C" __global__ void moments(const float* __restrict__ x, float* __restrict__ sums, float* __restrict__ squares) {
  extern __shared__ float scratch[];
  float* first = scratch;
  float* second = scratch + blockDim.x;
  int t = threadIdx.x;
  float v = x[blockIdx.x * blockDim.x + t];
  first[t] = v;
  second[t] = v * v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) {
      first[t] += first[t + s];
      second[t] += second[t + s];
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[blockIdx.x] = first[0];
    squares[blockIdx.x] = second[0];
  }
}
