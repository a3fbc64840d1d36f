// expect: proved
// check: --grid 1 --block 32 --arg xyz=f32[96] --arg out=f32[64]:out --arg n=32
// Several results of one function, through addresses of locals.
__device__ void to_polar(float x, float y, float* r, float* phi) {
  *r = sqrtf(x * x + y * y);
  *phi = atan2f(y, x);
}

__device__ void order(int* lo, int* hi) {
  if (*lo > *hi) {
    int t = *lo;
    *lo = *hi;
    *hi = t;
  }
}

//@ extent xyz[3*n], out[2*n];
//@ requires 0 <= n <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void polar(const float* xyz, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float r, phi;
  to_polar(xyz[3 * i], xyz[3 * i + 1], &r, &phi);
  int a = 2 * i + 1, b = 2 * i;
  order(&a, &b);
  out[a] = r;
  out[b] = phi;
}
