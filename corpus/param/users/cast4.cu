//@ extent a[n], b[n];
//@ requires n % 4 == 0 && n >= 0 && n <= 2147483000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void copy4(const float* __restrict__ a, float* __restrict__ b, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n/4) reinterpret_cast<float4*>(b)[i] = reinterpret_cast<const float4*>(a)[i];
}
