// RMSNorm of x + r, which is written too, times a SiLU gate: one thread a row against a block with float4.
extern "C" __global__ void plain(const float *x, const float *r, const float *w, const float *g, float *h, float *y, int n, float eps)
{
    int row = threadIdx.x * n;
    float q = 0;
    for (int i = 0; i < n; i++) { float v = x[row + i] + r[row + i]; h[row + i] = v; q += v * v; }
    float scale = 1.0f / sqrtf(q / n + eps);
    for (int i = 0; i < n; i++) y[row + i] = (x[row + i] + r[row + i]) * scale * w[i] * g[row + i] / (1.0f + expf(-g[row + i]));
}
// WRONG: the fourth lane's residual is not in the sum of squares.
template <int WRONG> __device__ __forceinline__ void block(const float *x, const float *r, const float *w, const float *g, float *h, float *y, int n, float eps)
{
    __shared__ float part[4];
    int base = blockIdx.x * n / 4, t = threadIdx.x;
    float q = 0;
    for (int i = t; i < n / 4; i += 128) {
        float4 a = ((const float4 *)x)[base + i], b = ((const float4 *)r)[base + i];
        float w3 = a.w;
        a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w;
        ((float4 *)h)[base + i] = a;
        q += a.x * a.x + a.y * a.y + a.z * a.z + (WRONG ? w3 * a.w : a.w * a.w);
    }
    for (int k = 16; k > 0; k >>= 1) q += __shfl_xor_sync(~0u, q, k);
    if (t % 32 == 0) part[t / 32] = q;
    __syncthreads();
    float scale = rsqrtf((part[0] + part[1] + part[2] + part[3]) / n + eps);
    for (int i = t; i < n / 4; i += 128) {
        float4 v = ((const float4 *)h)[base + i], c = ((const float4 *)w)[i], e = ((const float4 *)g)[base + i];
        v.x *= scale * c.x * (e.x * (1.0f / (1.0f + __expf(-e.x))));
        v.y *= scale * c.y * (e.y * (1.0f / (1.0f + __expf(-e.y))));
        v.z *= scale * c.z * (e.z * (1.0f / (1.0f + __expf(-e.z))));
        v.w *= scale * c.w * (e.w * (1.0f / (1.0f + __expf(-e.w))));
        ((float4 *)y)[base + i] = v;
    }
}
extern "C" __global__ void fused(const float *x, const float *r, const float *w, const float *g, float *h, float *y, int n, float eps) { block<0>(x, r, w, g, h, y, n, eps); }
extern "C" __global__ void lost_residual(const float *x, const float *r, const float *w, const float *g, float *h, float *y, int n, float eps) { block<1>(x, r, w, g, h, y, n, eps); }
