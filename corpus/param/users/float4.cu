//@ extent x[n], y[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647 && 4*n <= 2147483647;
__global__ void saxpy4(float a, const float4* x, float4* y, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 u = x[i];
  float4 v = y[i];
  v.x += a*u.x; v.y += a*u.y; v.z += a*u.z; v.w += a*u.w;
  y[i] = v;
}
