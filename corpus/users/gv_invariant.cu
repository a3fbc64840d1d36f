// expect: proved
// prelude: gpuverify
// check: --grid 1 --block 16 --arg x=s32[64]:inout --arg n=64
// A loop invariant before the condition of the loop.
//@ extent x[n];
__global__ void strided(int* x, int n) {
  __requires(n >= 0);
  __requires(n <= 1000000);
  __requires(gridDim.x == 1);
  for (int i = threadIdx.x;
       __invariant(i >= 0), __global_invariant(__implies(i < n, i % blockDim.x == threadIdx.x)), i < n;
       i += blockDim.x) {
    x[i] = i;
  }
}
