// expect: proved-or-unsupported
// check: --grid 1 --block 32 --arg x=f32[32]:inout --arg n=32
// The pattern of loop helpers: the body is passed to a template.
template <typename F>
__device__ void for_each_index(int n, F body) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) body(i);
}

//@ extent x[n];
//@ requires 0 <= n && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void triple(float* x, int n) {
  for_each_index(n, [&](int i) { x[i] *= 3.0f; });
}
