// Gate of a mixture of experts: the two largest of E logits, without their places, and their softmax. A chain against a tree of lanes.
#define F extern "C" __global__ void
F chain(const float *x, float *g, int E)
{
    const float *row = x + threadIdx.x * E;
    float a = fmaxf(row[0], row[1]), b = fminf(row[0], row[1]);
    for (int i = 2; i < E; i++) {
        b = fmaxf(b, fminf(a, row[i]));
        a = fmaxf(a, row[i]);
    }
    float s = 1.0f + expf(b - a);
    g[threadIdx.x * 2] = 1.0f / s;
    g[threadIdx.x * 2 + 1] = expf(b - a) / s;
}
template <int WRONG> __device__ __forceinline__ void lanes(const float *x, float *g, int E)
{
    const float *row = x + blockIdx.x * E;
    float a = row[threadIdx.x], b = -INFINITY;
    for (int k = 1; k < E; k *= 2) {
        float oa = __shfl_xor_sync(~0u, a, k), ob = __shfl_xor_sync(~0u, b, k);
        b = WRONG && k == 4 ? fmaxf(b, ob) : fmaxf(fminf(a, oa), fmaxf(b, ob));
        a = fmaxf(a, oa);
    }
    if (threadIdx.x < 2) g[blockIdx.x * 2 + threadIdx.x] = threadIdx.x ? 1.0f / (1.0f + expf(a - b)) : 1.0f / (1.0f + expf(b - a));
}
F tree(const float *x, float *g, int E) { lanes<0>(x, g, E); }
F lost_minimum(const float *x, float *g, int E) { lanes<1>(x, g, E); }
