// log of the sum of exponentials of a row, and its gradient, by blocks of T threads: the same source with T = 32 and T = 256.
template <int T, int WRONG> __device__ __forceinline__ void lse(const float *x, float *o, float *p, int n)
{
    __shared__ float pm[T], ps[T];
    const float *row = x + blockIdx.x * n;
    int t = threadIdx.x;
    float m = -INFINITY, s = 0;
    for (int i = t; i < n; i += T) {
        float mn = fmaxf(m, row[i]);
        s = s * expf(m - mn) + expf(row[i] - mn);
        m = mn;
    }
    pm[t] = m;
    ps[t] = s;
    for (int h = T / 2; h > 0; h >>= 1) {
        __syncthreads();
        if (t < h) {
            float a = pm[t], b = pm[t + h], c = fmaxf(a, b);
            pm[t] = c;
            // WRONG: in the last step the other half keeps its own maximum.
            ps[t] = ps[t] * expf(a - c) + ps[t + h] * (WRONG && h == 1 ? 1.0f : expf(b - c));
        }
    }
    __syncthreads();
    float l = pm[0] + logf(ps[0]);
    if (t == 0) o[blockIdx.x] = l;
    for (int i = t; i < n; i += T) p[blockIdx.x * n + i] = expf(row[i] - l);
}
extern "C" __global__ void lse32(const float *x, float *o, float *p, int n) { lse<32, 0>(x, o, p, n); }
extern "C" __global__ void lse256(const float *x, float *o, float *p, int n) { lse<256, 0>(x, o, p, n); }
extern "C" __global__ void not_rescaled256(const float *x, float *o, float *p, int n) { lse<256, 1>(x, o, p, n); }
