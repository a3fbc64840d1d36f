// Sums over the copies of a value, rows of threads for the copies (a pattern of OpenMM's force reduction).
// Fixed: a barrier at the end of each round.
extern "C" __global__ void reduce_value(const float* __restrict__ x, float* __restrict__ y, int atoms, int copies) {
  __shared__ float s[4][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int base = 0; base < atoms; base += 32) {
    float sum = 0.0f;
    for (int c = ty; c < copies; c += 4) sum += x[c * atoms + base + tx];
    s[ty][tx] = sum;
    __syncthreads();
    if (ty == 0) y[base + tx] = s[0][tx] + s[1][tx] + s[2][tx] + s[3][tx];
    __syncthreads();
  }
}
