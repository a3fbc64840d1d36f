// Tensors of pointers: groups of problems, each with its own memory.

// x[g] * w[g], element by element, a block for each group
extern "C" __global__ void grouped(const float* const* x, const float* const* w, float* const* out, int n) {
  const float* a = x[blockIdx.x];
  const float* b = w[blockIdx.x];
  float* c = out[blockIdx.x];
  for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] * b[i];
}

// one block for all groups
extern "C" __global__ void grouped_flat(const float* const* x, const float* const* w, float* const* out, int groups, int n) {
  for (int t = threadIdx.x; t < groups * n; t += blockDim.x) out[t / n][t % n] = w[t / n][t % n] * x[t / n][t % n];
}

// the weights of the first group for all
extern "C" __global__ void grouped_first(const float* const* x, const float* const* w, float* const* out, int groups, int n) {
  for (int t = threadIdx.x; t < groups * n; t += blockDim.x) out[t / n][t % n] = w[0][t % n] * x[t / n][t % n];
}
