// expect: proved-or-unknown
// prelude: gpuverify
// check: --grid 1 --block 16 --arg x=f32[16]:inout --arg n=16
// A contract of a function in its body, with the result's name.
__device__ int limited(int i, int n) {
  __requires(n > 0);
  __ensures(__return_val_int() >= 0);
  __ensures(__return_val_int() < n);
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}

//@ extent x[n];
__global__ void head(float* x, int n) {
  __requires(n > 0);
  __requires(gridDim.x == 1);
  int t = threadIdx.x;
  float v = x[limited(t, n)];
  __syncthreads();
  if (t < n) x[t] = v;
}
