// A filter of any radius, zero outside.
//@ extent in[n], w[2*r+1], out[n];
//@ requires n >= 0 && 0 <= r <= 1000000 && n + r <= 2147483647 && gridDim.x*blockDim.x <= 2147483647;
__global__ void convolve(const float* in, const float* w, float* out, int n, int r) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i >= n) return;
  float acc = 0;
  for (int j = -r; j <= r; j++) {
    int at = i + j;
    if (at >= 0 && at < n) acc += in[at]*w[j + r];
  }
  out[i] = acc;
}
