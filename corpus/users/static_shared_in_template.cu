// expect: proved
// check: --grid 1 --block 32 --arg x=f32[32] --arg out=f32[32]:out
// Shared memory of a template function: one array for each instance.
template <int N, typename T>
__device__ T neighbour(T v) {
  __shared__ T cells[N];
  cells[threadIdx.x % N] = v;
  __syncthreads();
  T r = cells[(threadIdx.x + 1) % N];
  __syncthreads();
  return r;
}

//@ extent x[32], out[32];
//@ requires blockDim.x == 32 && gridDim.x == 1;
__global__ void exchange(const float* x, float* out) {
  float a = neighbour<32>(x[threadIdx.x]);
  int b = neighbour<32>((int)threadIdx.x);
  out[threadIdx.x] = a + b;
}
