// A long formula for each element.
__device__ float cnd(float d) {
  float k = 1.0f/(1.0f + 0.2316419f*fabsf(d));
  float c = 0.39894228f*expf(-0.5f*d*d)*k*(0.31938153f + k*(-0.356563782f + k*1.781477937f));
  if (d > 0) return 1.0f - c;
  return c;
}

//@ extent call[n], put[n], price[n], strike[n], years[n];
//@ requires n >= 0 && n + gridDim.x*blockDim.x <= 2147483647;
__global__ void black_scholes(float* call, float* put, const float* price, const float* strike,
                              const float* years, float r, float v, int n) {
  const int stride = blockDim.x*gridDim.x;
  for (int i = blockDim.x*blockIdx.x + threadIdx.x; i < n; i += stride) {
    float s = price[i], x = strike[i], t = years[i];
    float d1 = (logf(s/x) + (r + 0.5f*v*v)*t)/(v*sqrtf(t));
    float d2 = d1 - v*sqrtf(t);
    float e = expf(-r*t);
    call[i] = s*cnd(d1) - x*e*cnd(d2);
    put[i] = x*e*(1.0f - cnd(d2)) - s*(1.0f - cnd(d1));
  }
}
