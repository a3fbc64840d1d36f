// expect: proved
// check: --grid 2,2 --block 16,16 --arg in=f32[400] --arg out=f32[400]:out --arg n=20
// The tile's size is computed by the compiler.
__host__ __device__ constexpr int log2_of(int v) { return v <= 1 ? 0 : 1 + log2_of(v / 2); }
constexpr int kTile = 1 << log2_of(16);
constexpr int kPitch = kTile + 1;
static_assert(kPitch == 17, "pitch");

//@ extent in[n*n], out[n*n];
//@ requires n >= 1 && n <= 46340 && blockDim.x == 16 && blockDim.y == 16;
//@ requires gridDim.x*16 >= n && gridDim.x*16 <= n + 15 && gridDim.y == gridDim.x;
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[kTile][kPitch];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  int tx = blockIdx.y * kTile + threadIdx.x, ty = blockIdx.x * kTile + threadIdx.y;
  if (tx < n && ty < n) out[ty * n + tx] = tile[threadIdx.x][threadIdx.y];
}
