// The block that takes the last ticket adds up what all blocks left, against a plain loop.

extern "C" __global__ void total(const float *x, float *out, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  out[0] = sum;
}

__device__ float block_sum(const float *x, int n) {
  __shared__ float part[32];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  part[t] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  return part[0];
}

// One thread writes, fences and takes the ticket.
extern "C" __global__ void total_last(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ bool last;
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float all = 0;
    for (int b = 0; b < gridDim.x; b++) all += partial[b];
    out[0] = all;
  }
}

// All threads write and fence; one takes the ticket behind a barrier; all add up; the counter is set back.
extern "C" __global__ void total_all(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ unsigned ticket;
  __shared__ float part[32];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  partial[blockIdx.x * blockDim.x + t] = sum;
  __threadfence();
  __syncthreads();
  if (t == 0) ticket = atomicAdd(count, 1u);
  __syncthreads();
  if (ticket != gridDim.x - 1) return;
  __threadfence();
  float all = 0;
  for (int b = 0; b < gridDim.x; b++) all += partial[b * blockDim.x + t];
  part[t] = all;
  __syncthreads();
  if (t == 0) {
    float whole = 0;
    for (int i = 0; i < blockDim.x; i++) whole += part[i];
    out[0] = whole;
    *count = 0;
  }
}

// A barrier, then a fence of the thread that takes the ticket.
extern "C" __global__ void total_behind(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ unsigned ticket;
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  partial[blockIdx.x * blockDim.x + t] = sum;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    ticket = atomicAdd(count, 1u);
    __threadfence();
  }
  __syncthreads();
  if (ticket < gridDim.x - 1 || t > 0) return;
  float all = 0;
  for (int i = 0; i < gridDim.x * blockDim.x; i++) all += partial[i];
  out[0] = all;
}

// No fence before the ticket.
extern "C" __global__ void total_no_fence(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ bool last;
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float all = 0;
    for (int b = 0; b < gridDim.x; b++) all += partial[b];
    out[0] = all;
  }
}

// No fence after it: a note.
extern "C" __global__ void total_no_acquire(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ bool last;
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float all = 0;
    for (int b = 0; b < gridDim.x; b++) all += partial[b];
    out[0] = all;
  }
}

// No barrier between the writers and the ticket.
extern "C" __global__ void total_no_barrier(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ unsigned ticket;
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  partial[blockIdx.x * blockDim.x + t] = sum;
  __threadfence();
  if (t == 0) ticket = atomicAdd(count, 1u);
  __syncthreads();
  if (ticket != gridDim.x - 1 || t > 0) return;
  __threadfence();
  float all = 0;
  for (int i = 0; i < gridDim.x * blockDim.x; i++) all += partial[i];
  out[0] = all;
}

// The first block that comes adds up.
extern "C" __global__ void total_first(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ bool first;
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    first = atomicAdd(count, 1u) == 0;
  }
  __syncthreads();
  if (first && threadIdx.x == 0) {
    float all = 0;
    for (int b = 0; b < gridDim.x; b++) all += partial[b];
    out[0] = all;
  }
}

// The one before the last adds up.
extern "C" __global__ void total_early(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ bool last;
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 2;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float all = 0;
    for (int b = 0; b < gridDim.x; b++) all += partial[b];
    out[0] = all;
  }
}

// One partial sum is forgotten.
extern "C" __global__ void total_short(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ bool last;
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float all = 0;
    for (int b = 1; b < gridDim.x; b++) all += partial[b];
    out[0] = all;
  }
}

// The last block leaves its own sum out and counts another twice: which one depends on the schedule.
extern "C" __global__ void total_own(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ bool last;
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float all = 0;
    for (int b = 0; b < gridDim.x; b++) all += partial[b == blockIdx.x ? 0 : b];
    out[0] = all;
  }
}

// The last block takes its own sum from a register, which is the same.
extern "C" __global__ void total_register(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ bool last;
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float all = sum;
    for (int b = 0; b < gridDim.x; b++)
      if (b != blockIdx.x) all += partial[b];
    out[0] = all;
  }
}

// Every block writes its ticket: the schedule decides.
extern "C" __global__ void total_order(const float *x, float *partial, unsigned *count, float *out, int n) {
  float sum = block_sum(x, n);
  if (threadIdx.x == 0) partial[atomicAdd(count, 1u)] = sum;
}

// Tiles handed out by a counter.
extern "C" __global__ void scale_next(const float *x, float *partial, unsigned *count, float *out, int n) {
  __shared__ unsigned next;
  while (true) {
    if (threadIdx.x == 0) next = atomicAdd(count, 1u);
    __syncthreads();
    unsigned tile = next;
    __syncthreads();
    if (tile * blockDim.x >= n) break;
    int i = tile * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
  }
}
