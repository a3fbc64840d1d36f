// GELU of a normalised row plus a bias: one element a thread against float4. The wrong one takes the bias of the third lane for the fourth.
__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v))); }
#define T 128
__device__ __forceinline__ float total(float v, float *part)
{
    for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int w = 0; w < T / 32; w++) v += part[w];
    return v;
}
extern "C" __global__ void plain(const float *x, const float *b, float *y, int n, float eps)
{
    const float *row = x + blockIdx.x * n;
    float s = 0, q = 0;
    for (int i = 0; i < n; i++) s += row[i];
    float mean = s / n;
    for (int i = 0; i < n; i++) q += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(q / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = gelu((row[i] - mean) * scale + b[i]);
}
template <int W> __device__ __forceinline__ void vector(const float *x, const float *b, float *y, int n, float eps)
{
    __shared__ float part[T / 32];
    const float4 *row = (const float4 *)(x + blockIdx.x * n);
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n / 4; i += T) { float4 v = row[i]; s += v.x + v.y + v.z + v.w; }
    float mean = total(s, part) / n;
    for (int i = threadIdx.x; i < n / 4; i += T) {
        float4 v = row[i];
        v.x -= mean; v.y -= mean; v.z -= mean; v.w -= mean;
        q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    float scale = rsqrtf(total(q, part) / n + eps);
    for (int i = threadIdx.x; i < n / 4; i += T) {
        float4 v = row[i], c = ((const float4 *)b)[i];
        v.x = gelu((v.x - mean) * scale + c.x);
        v.y = gelu((v.y - mean) * scale + c.y);
        v.z = gelu((v.z - mean) * scale + c.z);
        v.w = gelu((v.w - mean) * scale + (W ? c.z : c.w));
        ((float4 *)y)[blockIdx.x * n / 4 + i] = v;
    }
}
extern "C" __global__ void float4_lanes(const float *x, const float *b, float *y, int n, float eps) { vector<0>(x, b, y, n, eps); }
extern "C" __global__ void wrong_lane(const float *x, const float *b, float *y, int n, float eps) { vector<1>(x, b, y, n, eps); }
