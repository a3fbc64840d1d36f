// Convolutions of rows with weights in constant memory, which the host fills. x and y are [rows, n].

__constant__ float w[5];
__constant__ float bias;
__constant__ int first[4];

// Weights and bias as arguments.
extern "C" __global__ void given(const float* x, const float* w, const float* bias, float* y, int n) {
  int row = blockIdx.x, i = threadIdx.x;
  float sum = bias[0];
  for (int k = 0; k < 5; k++) {
    int j = i + k - 2;
    if (j >= 0 && j < n) sum += x[row * n + j] * w[k];
  }
  y[row * n + i] = sum;
}

// In constant memory, and the row in shared memory with a border of zeros.
extern "C" __global__ void constant(const float* x, float* y, int n) {
  __shared__ float s[40];
  int row = blockIdx.x, i = threadIdx.x;
  s[i + 2] = x[row * n + i];
  if (i < 2) s[i] = 0.0f, s[n + 2 + i] = 0.0f;
  __syncthreads();
  float sum = bias;
#pragma unroll
  for (int k = 0; k < 5; k++) sum += s[i + k] * w[k];
  y[row * n + i] = sum;
}

// Wrong: a convolution in the sense of mathematics, with the weights the other way round.
extern "C" __global__ void constant_mirrored(const float* x, float* y, int n) {
  __shared__ float s[40];
  int row = blockIdx.x, i = threadIdx.x;
  s[i + 2] = x[row * n + i];
  if (i < 2) s[i] = 0.0f, s[n + 2 + i] = 0.0f;
  __syncthreads();
  float sum = bias;
#pragma unroll
  for (int k = 0; k < 5; k++) sum += s[i + k] * w[4 - k];
  y[row * n + i] = sum;
}

// Columns that a table in constant memory names.
extern "C" __global__ void columns(const float* x, const int* first, float* y, int n) {
  y[blockIdx.x * 4 + threadIdx.x] = x[blockIdx.x * n + first[threadIdx.x]];
}

extern "C" __global__ void columns_constant(const float* x, float* y, int n) {
  y[blockIdx.x * 4 + threadIdx.x] = x[blockIdx.x * n + first[threadIdx.x]];
}
