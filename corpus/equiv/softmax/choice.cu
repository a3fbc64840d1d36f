// Online softmax with branches and choices in the place of fmaxf. x and y are [rows, n].

struct Partial {
  float max, sum;
};

// Two partial softmaxes joined: the larger maximum stays, and the other sum is rescaled.
__device__ Partial join(Partial a, Partial b) {
  bool first = a.max > b.max;
  Partial big = first ? a : b, small = first ? b : a;
  return {big.max, big.sum + small.sum * expf(small.max - big.max)};
}

// A thread for each row; the sum is rescaled only where the maximum grows.
extern "C" __global__ void branch(const float* x, float* y, int rows, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * n, y += row * n;
  float max = x[0], sum = 1.0f;
  for (int i = 1; i < n; i++) {
    if (x[i] > max) {
      sum = sum * expf(max - x[i]) + 1.0f;
      max = x[i];
    } else {
      sum += expf(x[i] - max);
    }
  }
  for (int i = 0; i < n; i++) y[i] = expf(x[i] - max) / sum;
}

// A warp for each row.
extern "C" __global__ void joined(const float* x, float* y, int rows, int n) {
  int row = blockIdx.x, lane = threadIdx.x;
  x += row * n, y += row * n;
  Partial own = {-__int_as_float(0x7f800000), 0.0f};
  for (int i = lane; i < n; i += 32) own = join(own, Partial{x[i], 1.0f});
  for (int step = 16; step > 0; step /= 2)
    own = join(own, Partial{__shfl_xor_sync(~0u, own.max, step), __shfl_xor_sync(~0u, own.sum, step)});
  for (int i = lane; i < n; i += 32) y[i] = expf(x[i] - own.max) / own.sum;
}

// Wrong: where the maximum grows the sum is not rescaled.
extern "C" __global__ void branch_forgets(const float* x, float* y, int rows, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * n, y += row * n;
  float max = x[0], sum = 1.0f;
  for (int i = 1; i < n; i++) {
    if (x[i] > max) {
      sum = sum + 1.0f;
      max = x[i];
    } else {
      sum += expf(x[i] - max);
    }
  }
  for (int i = 0; i < n; i++) y[i] = expf(x[i] - max) / sum;
}

// Wrong: the sum of the larger maximum is rescaled, and the other is not.
extern "C" __global__ void joined_swapped(const float* x, float* y, int rows, int n) {
  int row = blockIdx.x, lane = threadIdx.x;
  x += row * n, y += row * n;
  Partial own = {-__int_as_float(0x7f800000), 0.0f};
  for (int i = lane; i < n; i += 32) own = join(own, Partial{x[i], 1.0f});
  for (int step = 16; step > 0; step /= 2) {
    Partial other = {__shfl_xor_sync(~0u, own.max, step), __shfl_xor_sync(~0u, own.sum, step)};
    bool first = own.max > other.max;
    Partial big = first ? own : other, small = first ? other : own;
    own = {big.max, small.sum + big.sum * expf(small.max - big.max)};
  }
  for (int i = lane; i < n; i += 32) y[i] = expf(x[i] - own.max) / own.sum;
}
