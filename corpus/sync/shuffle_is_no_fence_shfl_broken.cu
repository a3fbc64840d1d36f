// Lanes write to shared memory, shuffle, and read each other's slots.
// Broken: lanes wait for each other in the shuffle (line 9), but it orders no memory: line 10 may miss what line 8
// wrote.
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int lane = threadIdx.x;
  float v = x[lane];
  s[lane] = v;
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  y[lane] = v + s[31 - lane];
}
