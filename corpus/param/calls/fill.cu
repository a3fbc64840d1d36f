// A function that fills a table in shared memory, and a kernel that looks things up in it, with many blocks.
//@ extent p[m];
//@ requires m == blockDim.x;
//@ ensures \forall int i; 0 <= i < m ==> p[i] == m - 1 - i;
__device__ void table(int* p, int m) {
  int t = threadIdx.x;
  p[t] = m - 1 - t;
  __syncthreads();
}

//@ extent p[blockDim.x], in[n], out[n];
//@ requires n == gridDim.x*blockDim.x && n <= 2147483647;
//@ ensures \forall int b, i; 0 <= b < gridDim.x && 0 <= i < blockDim.x ==> out[b*blockDim.x + i] == in[b*blockDim.x + (blockDim.x - 1 - i)];
__global__ void fill(const float* in, float* out, int n) {
  extern __shared__ int p[];
  table(p, blockDim.x);
  int first = blockIdx.x*blockDim.x;
  out[first + p[threadIdx.x]] = in[first + threadIdx.x];
}
