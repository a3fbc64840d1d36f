// Lanes write to shared memory, shuffle, and read each other's slots.
// Broken: the same with a vote (line 8).
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[32];
  int lane = threadIdx.x;
  float v = x[lane];
  s[lane] = v;
  if (__any_sync(0xffffffffu, lane == 7)) v += 1.0f;
  y[lane] = v + s[31 - lane];
}
