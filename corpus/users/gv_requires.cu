// expect: proved
// prelude: gpuverify
// check: --grid 2 --block 32 --arg x=f32[64]:inout
// Annotations in the style of GPUVerify: preconditions in the body.
//@ extent x[gridDim.x*blockDim.x];
__global__ void shift_in_block(float* x) {
  __requires(blockDim.x == 32);
  __requires(gridDim.x <= 1024);
  __shared__ float s[32];
  unsigned base = blockIdx.x * blockDim.x;
  s[threadIdx.x] = x[base + threadIdx.x];
  __syncthreads();
  __assert(threadIdx.x < 32);
  x[base + threadIdx.x] = s[(threadIdx.x + 1) % 32];
}
