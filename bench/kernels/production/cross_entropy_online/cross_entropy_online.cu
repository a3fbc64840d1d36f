// Gradient of the cross entropy against soft labels, C classes: softmax(x) * (sum of labels) - labels, times g.
// Three passes by one thread; against a warp that keeps maximum and sum together, and goes through the logarithm.
#define F extern "C" __global__ void
F passes(const float *x, const float *t, const float *g, float *d, int C)
{
    int r = threadIdx.x;
    const float *row = x + r * C;
    float m = row[0], s = 0, l = 0;
    for (int i = 1; i < C; i++) m = fmaxf(m, row[i]);
    for (int i = 0; i < C; i++) { s += expf(row[i] - m); l += t[r * C + i]; }
    for (int i = 0; i < C; i++) d[r * C + i] = (expf(row[i] - m) / s * l - t[r * C + i]) * g[r];
}
// WRONG: in the last step the sum of the other lane is rescaled by the wrong maximum.
template <int WRONG> __device__ __forceinline__ void online_row(const float *x, const float *t, const float *g, float *d, int C)
{
    int r = blockIdx.x, lane = threadIdx.x;
    const float *row = x + r * C;
    float m = -INFINITY, s = 0, l = 0;
    for (int i = lane; i < C; i += 32) {
        float mn = fmaxf(m, row[i]);
        s = s * expf(m - mn) + expf(row[i] - mn);
        m = mn;
        l += t[r * C + i];
    }
    for (int k = 16; k > 0; k >>= 1) {
        float om = __shfl_xor_sync(~0u, m, k), os = __shfl_xor_sync(~0u, s, k), mn = fmaxf(m, om);
        s = s * expf(m - mn) + os * expf((WRONG && k == 1 ? m : om) - mn);
        m = mn;
        l += __shfl_xor_sync(~0u, l, k);
    }
    float lse = m + logf(s);
    for (int i = lane; i < C; i += 32) d[r * C + i] = (expf(row[i] - lse) * l - t[r * C + i]) * g[r];
}
F online(const float *x, const float *t, const float *g, float *d, int C) { online_row<0>(x, t, g, d, C); }
F wrong_rescale(const float *x, const float *t, const float *g, float *d, int C) { online_row<1>(x, t, g, d, C); }
