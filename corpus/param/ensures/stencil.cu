// A stencil of three points through shared memory with a halo; the ends stay as they were.
//@ extent in[n], out[n], s[blockDim.x + 2];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x < 2147483647;
//@ ensures \forall int j; 0 < j < n - 1 ==> out[j] == 0.25f*in[j-1] + 0.5f*in[j] + 0.25f*in[j+1];
//@ ensures n > 0 ==> out[0] == \old(out[0]) && out[n-1] == \old(out[n-1]);
__global__ void stencil(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) s[t+1] = in[i];
  if (t == 0 && i > 0 && i < n) s[0] = in[i-1];
  if (t == blockDim.x-1 && i < n-1) s[t+2] = in[i+1];
  __syncthreads();
  if (i > 0 && i < n - 1) out[i] = 0.5f*s[t+1] + 0.25f*(s[t] + s[t+2]);
}
