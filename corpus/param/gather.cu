// Indices that the contract bounds.
//@ extent src[m], idx[n], dst[n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
//@ requires \forall int i; 0 <= i < n ==> 0 <= idx[i] < m;
__global__ void gather(const float* src, const int* idx, float* dst, int n, int m) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[idx[i]];
}
