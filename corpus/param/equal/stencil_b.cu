// Through shared memory with a halo.
//@ extent in[n], out[n], s[blockDim.x+2];
//@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x < 2147483647;
__global__ void stencil_shared(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) s[t+1] = in[i];
  if (t == 0 && i > 0 && i < n) s[0] = in[i-1];
  if (t == blockDim.x-1 && i < n-1) s[t+2] = in[i+1];
  __syncthreads();
  if (i > 0 && i < n - 1) out[i] = 0.5f*s[t+1] + 0.25f*(s[t] + s[t+2]);
}
