// A recurrence over time steps; the two small vectors of each step go through shared memory. The pattern of llama.cpp
// issue 24360.
// Broken: no barrier at the end of a step: threads 0 to 15 overwrite the vectors (lines 15 and 16) while others still
// read those of the step before (lines 21 and 22).
#define N 16

extern "C" __global__ void ssm_scan(const float* __restrict__ x, const float* __restrict__ B, const float* __restrict__ C,
                                    float* __restrict__ y, int steps) {
  __shared__ float sb[N], sc[N];
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  float state[N] = {};
  for (int k = 0; k < steps; k++) {
    if (t < N) {
      sb[t] = B[k * N + t];
      sc[t] = C[k * N + t];
    }
    __syncthreads();
    float u = x[k * 128 + i], out = 0.0f;
    for (int n = 0; n < N; n++) {
      state[n] = 0.5f * state[n] + u * sb[n];
      out += state[n] * sc[n];
    }
    y[k * 128 + i] = out;
  }
}
