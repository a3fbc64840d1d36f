struct Complex { float re, im; };
__device__ Complex mul(const Complex& a, const Complex& b) {
  Complex r; r.re = a.re*b.re - a.im*b.im; r.im = a.re*b.im + a.im*b.re; return r;
}
__device__ void swap2(float& a, float& b) { float t = a; a = b; b = t; }
template <int N> __device__ float poly(float x) { float s = 0; for (int i = 0; i < N; i++) s = s*x + 1; return s; }
//@ extent z[n], w[n], f[2*n];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 1073741823;
__global__ void k(Complex* z, const Complex* w, float* f, int n) {
  auto i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) {
    Complex c = mul(z[i], w[i]);
    z[i] = c;
    swap2(f[2*i], f[2*i+1]);
    f[2*i] = poly<4>(c.re);
    float acc[4] = {0.f};
    for (int j = 0; j < 4; j++) acc[j] += c.im;
    f[2*i+1] = acc[0] + acc[3];
  }
}
