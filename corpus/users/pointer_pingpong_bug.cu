// expect: refuted races line 18
// check: --grid 1 --block 64 --arg x=f32[64]:inout
// The same without the pointers' change: neighbours are read while they are written.
#define N 64

//@ extent x[64];
//@ requires blockDim.x == N && gridDim.x == 1;
__global__ void smooth(float *x)
{
    __shared__ float buffer[N];
    float *src = buffer, *dst = buffer;
    int t = threadIdx.x;
    src[t] = x[t];
    __syncthreads();
    for (int round = 0; round < 10; round++)
    {
        int l = t > 0 ? t - 1 : 0, r = t < N - 1 ? t + 1 : t;
        dst[t] = (src[l] + src[t] + src[r]) / 3.0f;
        __syncthreads();
    }
    x[t] = src[t];
}
