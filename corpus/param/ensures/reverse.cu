// An array turned round, block by block in shared memory; where it came from stays as it was.
//@ extent in[m], out[m], s[blockDim.x];
//@ requires m == gridDim.x*blockDim.x;
//@ ensures \forall int j; 0 <= j < m ==> out[m - 1 - j] == in[j] && in[j] == \old(in[j]);
__global__ void reverse(float* out, float* in, int m) {
  extern __shared__ float s[];
  s[threadIdx.x] = in[blockIdx.x*blockDim.x + threadIdx.x];
  __syncthreads();
  out[(gridDim.x-1-blockIdx.x)*blockDim.x + threadIdx.x] = s[blockDim.x-1-threadIdx.x];
}
