// expect: proved
// check: --grid 2 --block 64 --arg a=f32[150] --arg b=f32[150] --arg c=f32[2]:out --arg n=150
// Textbook dot product with a cache of one block.
const int threadsPerBlock = 64;

//@ extent a[n], b[n], c[gridDim.x];
//@ requires n >= 0 && blockDim.x == 64 && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void dot(float* a, float* b, float* c, int n) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < n) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}
