// expect: proved
// check: --grid 2 --block 32 --smem 128 --arg in=f32[64] --arg out=f32[64]:out
// The helper with which templates get dynamic shared memory of their type.
template <class T>
struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
  __device__ inline operator const T*() const {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
};

//@ extent in[gridDim.x*blockDim.x], out[gridDim.x*blockDim.x], __smem[blockDim.x];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void reverse_block(const float* in, float* out) {
  float* s = SharedMemory<float>();
  unsigned t = threadIdx.x, base = blockIdx.x * blockDim.x;
  s[t] = in[base + t];
  __syncthreads();
  out[base + t] = s[blockDim.x - 1 - t];
}
