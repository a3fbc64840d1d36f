// KL divergence of two rows of logits: sum of p (log p - log q), p and q their softmax.
#define F extern "C" __global__ void
F plain(const float *a, const float *b, float *o, int n)
{
    int r = threadIdx.x;
    a += r * n; b += r * n;
    float sa = 0, sb = 0, k = 0;
    for (int i = 0; i < n; i++) { sa += expf(a[i]); sb += expf(b[i]); }
    for (int i = 0; i < n; i++) {
        float p = expf(a[i]) / sa, q = expf(b[i]) / sb;
        k += p * (logf(p) - logf(q));
    }
    o[r] = k;
}
// WRONG: the sum of the wrong row in a logarithm. One pass over differences: sum of e^(a-m) (a - b) / sum - log of both sums.
template <int WRONG> __device__ __forceinline__ void warp_row(const float *a, const float *b, float *o, int n)
{
    int lane = threadIdx.x, r = blockIdx.x;
    a += r * n; b += r * n;
    float ma = -INFINITY, mb = -INFINITY, sa = 0, sb = 0, k = 0;
    for (int i = lane; i < n; i += 32) { ma = fmaxf(ma, a[i]); mb = fmaxf(mb, b[i]); }
    for (int d = 16; d > 0; d >>= 1) { ma = fmaxf(ma, __shfl_xor_sync(~0u, ma, d)); mb = fmaxf(mb, __shfl_xor_sync(~0u, mb, d)); }
    for (int i = lane; i < n; i += 32) {
        float e = expf(a[i] - ma);
        sa += e;
        sb += expf(b[i] - mb);
        k += e * (a[i] - b[i]);
    }
    for (int d = 16; d > 0; d >>= 1) {
        sa += __shfl_xor_sync(~0u, sa, d);
        sb += __shfl_xor_sync(~0u, sb, d);
        k += __shfl_xor_sync(~0u, k, d);
    }
    if (lane == 0) o[r] = k / sa - (ma + logf(sa)) + (mb + logf(WRONG ? sa : sb));
}
F warp(const float *a, const float *b, float *o, int n) { warp_row<0>(a, b, o, n); }
F wrong_sum(const float *a, const float *b, float *o, int n) { warp_row<1>(a, b, o, n); }
// Probabilities below 1e-9 count as 1e-9 in the logarithm: different from plain, but not where numbers are near each other.
F clamped(const float *a, const float *b, float *o, int n)
{
    int r = threadIdx.x;
    a += r * n; b += r * n;
    float sa = 0, sb = 0, k = 0;
    for (int i = n - 1; i >= 0; i--) { sa += expf(a[i]); sb += expf(b[i]); }
    for (int i = 0; i < n; i++) {
        float p = expf(a[i]) / sa, q = expf(b[i]) / sb;
        k += p * (logf(p) - logf(fmaxf(q, 1e-9f)));
    }
    o[r] = k;
}
