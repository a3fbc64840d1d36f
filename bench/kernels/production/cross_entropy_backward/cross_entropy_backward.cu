// Gradient of the cross entropy of a row of C logits: (softmax - one hot) * g. One thread a row; one warp a row.
#define F extern "C" __global__ void
F one(const float *x, const int *t, const float *g, float *d, int C)
{
    int r = threadIdx.x;
    const float *row = x + r * C;
    float m = row[0], s = 0;
    for (int i = 1; i < C; i++) m = fmaxf(m, row[i]);
    for (int i = 0; i < C; i++) s += expf(row[i] - m);
    for (int i = 0; i < C; i++) d[r * C + i] = (expf(row[i] - m) / s - (i == t[r] ? 1.0f : 0.0f)) * g[r];
}
// WRONG: the shift of the numerator is that of the lane alone.
template <int WRONG> __device__ __forceinline__ void warp_row(const float *x, const int *t, const float *g, float *d, int C)
{
    int r = blockIdx.x, lane = threadIdx.x;
    const float *row = x + r * C;
    float m = -INFINITY, s = 0;
    for (int i = lane; i < C; i += 32) m = fmaxf(m, row[i]);
    float own = m;
    for (int k = 16; k > 0; k >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, k));
    for (int i = lane; i < C; i += 32) s += expf(row[i] - m);
    for (int k = 16; k > 0; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
    for (int i = lane; i < C; i += 32) {
        float p = expf(row[i] - (WRONG ? own : m)) / s;
        float hot = i == t[r] ? 1.0f : 0.0f;
        d[r * C + i] = (p - hot) * g[r];
    }
}
F warp(const float *x, const int *t, const float *g, float *d, int C) { warp_row<0>(x, t, g, d, C); }
F wrong_shift(const float *x, const int *t, const float *g, float *d, int C) { warp_row<1>(x, t, g, d, C); }
