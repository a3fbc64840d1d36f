// expect: proved
// check: --grid 1 --block 16,8 --arg out=s32[128]:out --arg w=16 --arg h=8
// Julia set with an own complex type.
struct Complex {
  float r, i;
  __device__ Complex(float a = 0.0f, float b = 0.0f) : r(a), i(b) {}
  __device__ float magnitude2() const { return r * r + i * i; }
  __device__ Complex operator*(const Complex& o) const { return Complex(r * o.r - i * o.i, i * o.r + r * o.i); }
  __device__ Complex operator+(const Complex& o) const { return Complex(r + o.r, i + o.i); }
  __device__ Complex& operator+=(const Complex& o) { r += o.r; i += o.i; return *this; }
};

//@ extent out[w*h];
//@ requires w >= 1 && h >= 1 && w*h <= 2147483647 && gridDim.x*blockDim.x <= 2147483647 && gridDim.y*blockDim.y <= 2147483647;
__global__ void julia(int* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  Complex c(-0.8f, 0.156f), z(1.5f * (w / 2 - x) / (w * 0.5f), 1.5f * (h / 2 - y) / (h * 0.5f));
  int k = 0;
  for (; k < 200; k++) {
    z = z * z + c;
    z += Complex(0.0f);
    if (z.magnitude2() > 1000.0f) break;
  }
  out[y * w + x] = k;
}
