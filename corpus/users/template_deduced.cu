// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32] --arg k=u8[32]=iota --arg out=f32[256]:inout --arg n=32
// Types and sizes come from the arguments.
template <typename T, int N>
__device__ int length(T (&)[N]) { return N; }

template <typename T, typename U>
__device__ void add_to(T* where, U index, T what) { atomicAdd(where + index, what); }

template <typename T> __device__ T square(T v) { return v * v; }

//@ extent x[n], k[n], out[256];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void bin(const float* x, const unsigned char* k, float* out, int n) {
  float window[6];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < length(window); j++) window[j] = (float)j;
  if (i < n) add_to(out, k[i], square(x[i]) + window[square(2)]);
}
