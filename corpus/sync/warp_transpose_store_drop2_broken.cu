// Each lane holds four neighbouring elements; the warp stores them in stripes by way of its own part of shared memory.
// The pattern of CCCL issue 1903.
// Broken: no __syncwarp before the next round: lanes overwrite (line 10) what others of their warp still read (line
// 12).
extern "C" __global__ void store(const float* __restrict__ x, float* __restrict__ y, int rounds) {
  __shared__ float s[2][128];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = 0; k < rounds; k++) {
    int base = k * 256 + warp * 128;
    for (int i = 0; i < 4; i++) s[warp][4 * lane + i] = x[base + 4 * lane + i];
    __syncwarp();
    for (int i = 0; i < 4; i++) y[base + 32 * i + lane] = s[warp][32 * i + lane];
  }
}
