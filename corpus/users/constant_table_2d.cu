// expect: proved-or-unknown
// check: --grid 9 --block 16 --arg cells=s32[144]=iota --arg next=s32[144]:out --arg w=12 --arg h=12
// Offsets of the eight neighbours in a table at file scope; the border is left alone.
__constant__ int neighbours[8][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};

//@ extent cells[w*h], next[w*h];
//@ requires w >= 3 && h >= 3 && w*h <= 1000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void life(const int* cells, int* next, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * h) return;
  int row = i / w, col = i % w;
  if (row < 1 || row >= h - 1 || col < 1 || col >= w - 1) {
    next[i] = 0;
    return;
  }
  int alive = 0;
  alive += cells[(row - 1) * w + col] + cells[(row + 1) * w + col];
  for (int k = 0; k < 8; k++)
    if (neighbours[k][0] == 0) alive += cells[row * w + col + neighbours[k][1] * 1];
  next[i] = alive == 3 || (alive == 2 && cells[i]) ? 1 : 0;
}
