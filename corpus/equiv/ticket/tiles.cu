// Blocks take numbers of tiles from a counter until there are no more, against blocks with a tile each.

extern "C" __global__ void rows(const int *x, int *out, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int k = 0; k < K; k++) sum += x[row * K + k];
  out[row] = sum;
}

enum Mistake { RIGHT, NO_BARRIER, KEPT, LAST, OVERLAP, BLOCK };

// One thread takes the number for all.
template <int WRONG> __device__ __forceinline__ void tiles(const int *x, unsigned *count, int *out, int n, int K) {
  __shared__ unsigned next;
  int sum = 0;
  while (true) {
    if (threadIdx.x == 0) next = atomicAdd(count, 1);
    __syncthreads();
    unsigned tile = next;
    if (WRONG != NO_BARRIER) __syncthreads();
    if (tile >= (WRONG == LAST ? n - 1 : n)) break;
    int row = tile * blockDim.x + threadIdx.x;
    if (WRONG != KEPT) sum = 0;
    for (int k = 0; k < K; k++) sum += x[row * K + k];
    out[WRONG == OVERLAP ? row / 2 : row] = WRONG == BLOCK ? sum + blockIdx.x : sum;
  }
}

#define TILES(NAME, WRONG) \
  extern "C" __global__ void NAME(const int *x, unsigned *count, int *out, int n, int K) { tiles<WRONG>(x, count, out, n, K); }
TILES(tiles_taken, RIGHT)
TILES(tiles_no_barrier, NO_BARRIER)
TILES(tiles_kept, KEPT)
TILES(tiles_last, LAST)
TILES(tiles_overlap, OVERLAP)
TILES(tiles_block, BLOCK)

// The first tile of a block is its own, the others come from the counter; two stages of a buffer take turns.
template <int WRONG> __device__ __forceinline__ void first(const int *x, unsigned *count, int *out, int n, int K) {
  __shared__ unsigned next[2];
  __shared__ int row[2][32];
  int t = threadIdx.x, stage = 0;
  for (unsigned tile = blockIdx.x; tile < n; stage ^= 1) {
    if (t == 0) next[stage] = atomicAdd(count, 1) + (WRONG == LAST ? 1 : gridDim.x);
    row[stage][t] = 0;
    for (int k = 0; k < K; k++) row[stage][t] += x[(tile * blockDim.x + t) * K + k];
    __syncthreads();
    // The neighbour's sum is written out.
    int other = t ^ 1;
    out[tile * blockDim.x + other] = row[WRONG == KEPT ? 0 : stage][other];
    tile = next[stage];
  }
}

#define FIRST(NAME, WRONG) \
  extern "C" __global__ void NAME(const int *x, unsigned *count, int *out, int n, int K) { first<WRONG>(x, count, out, n, K); }
FIRST(tiles_own_first, RIGHT)
FIRST(tiles_own_first_stage, KEPT)
FIRST(tiles_own_first_offset, LAST)

// Two warps take numbers, and nothing orders them.
extern "C" __global__ void tiles_by_warps(const int *x, unsigned *count, int *out, int n, int K) {
  while (true) {
    unsigned tile = 0;
    if (threadIdx.x % 32 == 0) tile = atomicAdd(count, 1);
    tile = __shfl_sync(~0u, tile, 0);
    if (tile >= n) break;
    int row = tile * 32 + threadIdx.x % 32, sum = 0;
    for (int k = 0; k < K; k++) sum += x[row * K + k];
    out[row] = sum;
  }
}

// The counter is read, too.
extern "C" __global__ void tiles_counter_read(const int *x, unsigned *count, int *out, int n, int K) {
  __shared__ unsigned next;
  while (true) {
    if (threadIdx.x == 0) next = *count < n ? atomicAdd(count, 1) : n;
    __syncthreads();
    unsigned tile = next;
    __syncthreads();
    if (tile >= n) break;
    int row = tile * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < K; k++) sum += x[row * K + k];
    out[row] = sum;
  }
}

// The block that comes last adds to the counter once more, and nobody looks at that number.
extern "C" __global__ void tiles_counter_moved(const int *x, unsigned *count, int *out, int n, int K) {
  __shared__ unsigned next;
  while (true) {
    if (threadIdx.x == 0) next = atomicAdd(count, 1);
    __syncthreads();
    unsigned tile = next;
    __syncthreads();
    if (tile >= n) break;
    int row = tile * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < K; k++) sum += x[row * K + k];
    out[row] = sum;
  }
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) atomicAdd(count, 1);
}
