// LayerNorm: mean, then variance, by one thread for each row; against Welford's update in each lane and Chan's merging of lanes.
#define F extern "C" __global__ void
F two_pass(const float *x, float *y, int n, float eps)
{
    const float *row = x + threadIdx.x * n;
    float s = 0, q = 0;
    for (int i = 0; i < n; i++) s += row[i];
    float mean = s / n;
    for (int i = 0; i < n; i++) q += (row[i] - mean) * (row[i] - mean);
    float scale = 1.0f / sqrtf(q / n + eps);
    for (int i = 0; i < n; i++) y[threadIdx.x * n + i] = (row[i] - mean) * scale;
}
// WRONG: the merge forgets that both lanes have the same number of elements: d * d * c in the place of d * d * c / 2.
template <int WRONG> __device__ __forceinline__ void one_pass(const float *x, float *y, int n, float eps)
{
    const float *row = x + blockIdx.x * n;
    float mean = 0, m2 = 0, c = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        c += 1.0f;
        float d = row[i] - mean;
        mean += d / c;
        m2 += d * (row[i] - mean);
    }
    for (int k = 16; k > 0; k >>= 1) {
        float om = __shfl_xor_sync(~0u, mean, k), o2 = __shfl_xor_sync(~0u, m2, k);
        float d = om - mean;
        mean = 0.5f * (mean + om);
        m2 += o2 + d * d * (WRONG ? c : 0.5f * c);
        c *= 2.0f;
    }
    float scale = rsqrtf(m2 / n + eps);
    for (int i = threadIdx.x; i < n; i += 32) y[blockIdx.x * n + i] = (row[i] - mean) * scale;
}
F welford(const float *x, float *y, int n, float eps) { one_pass<0>(x, y, n, eps); }
F wrong_merge(const float *x, float *y, int n, float eps) { one_pass<1>(x, y, n, eps); }
