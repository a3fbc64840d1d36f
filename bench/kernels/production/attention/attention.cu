// Attention, one block of D threads for each query: scores, their maximum, their sum, then one output a thread.
// LOST: one query does not see the last key.
#include <cuda_fp16.h>
template <int D, bool CAUSAL, bool LOST>
__device__ __forceinline__ void attend(const __half *q, const __half *k, const __half *v, __half *o, float scale, int keys)
{
    extern __shared__ float s[];
    int row = blockIdx.x, t = threadIdx.x;
    int n = CAUSAL ? row + 1 : keys;
    if (LOST && row == 77) n--;
    for (int j = t; j < n; j += D) {
        float d = 0;
        for (int c = 0; c < D; c++) d += __half2float(q[row * D + c]) * __half2float(k[j * D + c]);
        s[j] = d * scale;
    }
    __syncthreads();
    float m = -INFINITY;
    for (int j = 0; j < n; j++) m = fmaxf(m, s[j]);
    float l = 0, a = 0;
    for (int j = 0; j < n; j++) {
        float e = expf(s[j] - m);
        l += e;
        a += e * __half2float(v[j * D + t]);
    }
    o[row * D + t] = __float2half(a / l);
}
extern "C" __global__ void full32(const __half *q, const __half *k, const __half *v, __half *o, float scale, int keys) { attend<32, false, false>(q, k, v, o, scale, keys); }
extern "C" __global__ void full64(const __half *q, const __half *k, const __half *v, __half *o, float scale, int keys) { attend<64, false, false>(q, k, v, o, scale, keys); }
extern "C" __global__ void causal32(const __half *q, const __half *k, const __half *v, __half *o, float scale, int keys) { attend<32, true, false>(q, k, v, o, scale, keys); }
extern "C" __global__ void lost_key32(const __half *q, const __half *k, const __half *v, __half *o, float scale, int keys) { attend<32, false, true>(q, k, v, o, scale, keys); }
