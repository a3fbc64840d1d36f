// LayerNorm of a row by one block, in ways that let several threads write a sum to the same word. NO_BARRIER leaves out the barrier between the mean and the variance.
#define T 256

// All lanes end with the sum; all write it to the same word.
__device__ __forceinline__ float total(float v, float *part)
{
    for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(0xffffffffu, v, m);
    part[threadIdx.x / 32] = v;
    __syncthreads();
    float s = 0;
    for (int w = 0; w < T / 32; w++) s += part[w];
    return s;
}

extern "C" __global__ void ln_shuffle(const float *x, const float *g, const float *b, float *y, int n, float eps)
{
    __shared__ float part[T / 32];
    const float *row = x + blockIdx.x * n;
    float s = 0;
    for (int i = threadIdx.x; i < n; i += T) s += row[i];
    float mean = total(s, part) / n;
#ifndef NO_BARRIER
    __syncthreads();
#endif
    float q = 0;
    for (int i = threadIdx.x; i < n; i += T) { float d = row[i] - mean; q += d * d; }
    float scale = rsqrtf(total(q, part) / n + eps);
    for (int i = threadIdx.x; i < n; i += T) y[blockIdx.x * n + i] = (row[i] - mean) * scale * g[i] + b[i];
}

// Every thread adds up all partial sums and writes mean and variance to the same word; ROTATED: each in an order of its own.
template <bool ROTATED>
__device__ __forceinline__ void everyone(const float *x, const float *g, const float *b, float *y, int n, float eps)
{
    __shared__ float part[T], stat;
    const float *row = x + blockIdx.x * n;
    float s = 0;
    for (int i = threadIdx.x; i < n; i += T) s += row[i];
    part[threadIdx.x] = s;
    __syncthreads();
    s = 0;
    for (int i = 0; i < T; i++) s += part[ROTATED ? (i + threadIdx.x) % T : i];
    stat = s / n;
    __syncthreads();
    float mean = stat;
    float q = 0;
    for (int i = threadIdx.x; i < n; i += T) { float d = row[i] - mean; q += d * d; }
    __syncthreads();
    part[threadIdx.x] = q;
#ifndef NO_BARRIER
    __syncthreads();
#endif
    q = 0;
    for (int i = 0; i < T; i++) q += part[ROTATED ? (i + threadIdx.x) % T : i];
    stat = q / n;
    __syncthreads();
    float scale = rsqrtf(stat + eps);
    for (int i = threadIdx.x; i < n; i += T) y[blockIdx.x * n + i] = (row[i] - mean) * scale * g[i] + b[i];
}

extern "C" __global__ void ln_everyone(const float *x, const float *g, const float *b, float *y, int n, float eps) { everyone<true>(x, g, b, y, n, eps); }
extern "C" __global__ void ln_same(const float *x, const float *g, const float *b, float *y, int n, float eps) { everyone<false>(x, g, b, y, n, eps); }
