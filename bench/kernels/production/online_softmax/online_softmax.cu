// Online softmax of long rows; tiles of a row come by asynchronous copies into two buffers.
// NO_BARRIER leaves out the barrier before a buffer is filled again, NO_RESCALE does not rescale the sum.
#include <cuda_pipeline.h>
#define T 128
extern "C" __global__ void safe(const float *x, float *y, int n)
{
    const float *row = x + blockIdx.x * n;
    float m = -INFINITY, s = 0;
    for (int i = 0; i < n; i++) m = fmaxf(m, row[i]);
    for (int i = 0; i < n; i++) s += expf(row[i] - m);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = expf(row[i] - m) / s;
}
extern "C" __global__ void online(const float *x, float *y, int n)
{
    __shared__ __align__(16) float buffer[2][T * 4];
    __shared__ float pm[T / 32], ps[T / 32];
    const float *row = x + blockIdx.x * n;
    int t = threadIdx.x, tiles = n / (T * 4);
    __pipeline_memcpy_async(&buffer[0][t * 4], &row[t * 4], 16);
    __pipeline_commit();
    float m = -INFINITY, s = 0;
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&buffer[(k + 1) & 1][t * 4], &row[(k + 1) * T * 4 + t * 4], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        const float *tile = buffer[k & 1];
        float mn = m;
        for (int j = 0; j < 4; j++) mn = fmaxf(mn, tile[j * T + t]);
#ifndef NO_RESCALE
        s *= expf(m - mn);
#endif
        for (int j = 0; j < 4; j++) s += expf(tile[j * T + t] - mn);
        m = mn;
#ifndef NO_BARRIER
        __syncthreads();
#endif
    }
    for (int d = 16; d > 0; d >>= 1) {
        float om = __shfl_xor_sync(~0u, m, d), os = __shfl_xor_sync(~0u, s, d);
        float mn = fmaxf(m, om);
        s = s * expf(m - mn) + os * expf(om - mn);
        m = mn;
    }
    // All lanes of a warp write.
    pm[t / 32] = m;
    ps[t / 32] = s;
    __syncthreads();
    float mn = fmaxf(fmaxf(pm[0], pm[1]), fmaxf(pm[2], pm[3]));
    s = 0;
    for (int w = 0; w < T / 32; w++) s += ps[w] * expf(pm[w] - mn);
    for (int i = t; i < n; i += T) y[blockIdx.x * n + i] = expf(row[i] - mn) / s;
}
