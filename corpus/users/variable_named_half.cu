// expect: proved
// check: --grid 1 --block 32 --arg x=f32[64]:inout
// `half` is a name like any other if the header is not there.
//@ extent x[2*blockDim.x];
//@ requires gridDim.x == 1;
__global__ void butterfly(float* x) {
  int half = blockDim.x;
  int t = threadIdx.x;
  float a = x[t], b = x[t + half];
  x[t] = a + b;
  x[t + half] = a - b;
}
