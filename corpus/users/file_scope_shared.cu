// expect: proved
// check: --grid 2 --block 32 --arg in=f32[64] --arg out=f32[64]:out
// Shared memory that is declared at file scope and used by two functions.
#define BLOCK 32
__shared__ float tile[BLOCK];

__device__ void load_tile(const float* in) { tile[threadIdx.x] = in[blockIdx.x * BLOCK + threadIdx.x]; }

__device__ float mirrored() { return tile[BLOCK - 1 - threadIdx.x]; }

//@ extent in[gridDim.x*blockDim.x], out[gridDim.x*blockDim.x];
//@ requires blockDim.x == BLOCK && gridDim.x*blockDim.x <= 2147483647;
__global__ void flip(const float* in, float* out) {
  load_tile(in);
  __syncthreads();
  out[blockIdx.x * BLOCK + threadIdx.x] = mirrored();
}
