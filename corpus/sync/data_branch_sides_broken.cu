// Each thread writes its element of s, and reads its neighbour's.
// Broken: no barrier stands between the writes (lines 9 and 12) and the read (line 14).
extern "C" __global__ void kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float s[64];
  int i = threadIdx.x;
  float v = x[i];
  if (v > 0.0f) {
    for (int j = 0; j < 3; j++) v = v * x[64 + j] + 1.0f;
    s[i] = v;
  } else {
    if (x[67] > v) v = x[68 + i];
    s[i] = -v;
  }
  y[i] = s[i ^ 1];
}
