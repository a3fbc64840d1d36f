// Two layers with GELU between: out = gelu(X A + a) B + b. X is 32 x 32, A 32 x 64, B 64 x 32.
#define H 64
#define D 32
__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }
extern "C" __global__ void naive(const float *x, const float *A, const float *a, const float *B, const float *b, float *o)
{
    int row = blockIdx.x, c = threadIdx.x;
    float s = b[c];
    for (int h = 0; h < H; h++) {
        float v = a[h];
        for (int k = 0; k < D; k++) v += x[row * D + k] * A[k * H + h];
        s += gelu(v) * B[h * D + c];
    }
    o[row * D + c] = s;
}
// A block for 16 rows: the hidden tile lives in shared memory; float4 results. WRONG: the fourth takes the bias of the third.
template <int WRONG> __device__ __forceinline__ void tile(const float *x, const float *A, const float *a, const float *B, const float *b, float *o)
{
    __shared__ float xs[16][D], hs[16][H];
    int t = threadIdx.x, r0 = blockIdx.x * 16;
    for (int i = t; i < 16 * D; i += 128) xs[i / D][i % D] = x[r0 * D + i];
    __syncthreads();
    for (int i = t; i < 16 * H; i += 128) {
        int r = i / H, h = i % H;
        float v = 0;
        for (int k = 0; k < D; k++) v += xs[r][k] * A[k * H + h];
        hs[r][h] = gelu(v + a[h]);
    }
    __syncthreads();
    int r = t / 8, c = t % 8 * 4;
    float4 s = make_float4(0, 0, 0, 0);
    for (int h = 0; h < H; h++) {
        float4 w = *(const float4 *)(B + h * D + c);
        float v = hs[r][h];
        s.x += v * w.x; s.y += v * w.y; s.z += v * w.z; s.w += v * w.w;
    }
    float4 w = *(const float4 *)(b + c);
    s.x += w.x; s.y += w.y; s.z += w.z; s.w += WRONG ? w.z : w.w;
    *(float4 *)(o + (r0 + r) * D + c) = s;
}
extern "C" __global__ void fused(const float *x, const float *A, const float *a, const float *B, const float *b, float *o) { tile<0>(x, A, a, B, b, o); }
extern "C" __global__ void wrong_bias(const float *x, const float *A, const float *a, const float *B, const float *b, float *o) { tile<1>(x, A, a, B, b, o); }
