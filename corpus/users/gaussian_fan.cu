// expect: proved
// check: --grid 1 --block 16 --kernel Fan1 --arg m=f32[36]:inout --arg a=f32[36] --arg Size=6 --arg t=2
// Two kernels of Gaussian elimination, one for the multipliers and one for the rows.
//@ extent m[Size*Size], a[Size*Size];
//@ requires 1 <= Size <= 10000 && 0 <= t < Size && gridDim.x*blockDim.x <= 1000000;
__global__ void Fan1(float* m, float* a, int Size, int t) {
  if (threadIdx.x + blockIdx.x * blockDim.x >= Size - 1 - t) return;
  *(m + Size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) =
      *(a + Size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) / *(a + Size * t + t);
}

//@ extent m[Size*Size], a[Size*Size], b[Size];
//@ requires 1 <= Size <= 10000 && 0 <= t < Size && gridDim.x*blockDim.x <= 1000000 && gridDim.y*blockDim.y <= 1000000;
__global__ void Fan2(float* m, float* a, float* b, int Size, int j1, int t) {
  if (threadIdx.x + blockIdx.x * blockDim.x >= Size - 1 - t) return;
  if (threadIdx.y + blockIdx.y * blockDim.y >= Size - t) return;
  int xidx = blockIdx.x * blockDim.x + threadIdx.x;
  int yidx = blockIdx.y * blockDim.y + threadIdx.y;
  a[Size * (xidx + 1 + t) + (yidx + t)] -= m[Size * (xidx + 1 + t) + t] * a[Size * t + (yidx + t)];
  if (yidx == 0) b[xidx + 1 + t] -= m[Size * (xidx + 1 + t) + (yidx + t)] * b[t];
}
