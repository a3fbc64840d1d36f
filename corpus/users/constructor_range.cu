// expect: proved-or-unknown
// check: --grid 3 --block 8 --arg x=f32[50]:inout --arg n=50
// Each block gets a part of the array, computed in a constructor.
struct Range {
  int first, last;
  __device__ Range(int n, int parts, int which) {
    int size = (n + parts - 1) / parts;
    first = which * size;
    last = first + size;
    if (last > n) last = n;
  }
};

//@ extent x[n];
//@ requires 0 <= n <= 1000000 && gridDim.x <= 1000;
__global__ void scale_parts(float* x, int n) {
  Range mine(n, gridDim.x, blockIdx.x);
  for (int i = mine.first + threadIdx.x; i < mine.last; i += blockDim.x) x[i] *= 3.0f;
}
