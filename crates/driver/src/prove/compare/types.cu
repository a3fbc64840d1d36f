//@ extent out[8 * n], x[n], y[n];
//@ requires gridDim.x == 1 && blockDim.x == n;
__global__ void types(long long* out, const int* x, const unsigned char* y, int n) {
  int t = threadIdx.x;
  out[8 * t] = (short)x[t];
  out[8 * t + 1] = (unsigned short)x[t];
  out[8 * t + 2] = (signed char)x[t];
  out[8 * t + 3] = (unsigned)x[t];
  out[8 * t + 4] = (long long)x[t] * 3;
  out[8 * t + 5] = (unsigned char)(x[t] >> 3) + y[t];
  out[8 * t + 6] = (signed char)y[t];
  out[8 * t + 7] = (unsigned long long)x[t] >> 5;
}
