// expect: refuted bounds line 22
// check: --grid 1 --block 32 --arg in=f32[40] --arg out=f32[40]:out --arg n=40
#define RADIUS 2
#define TAPS 2 * RADIUS + 1

// The macro has no parentheses: twice as many taps are meant to be used below.
__constant__ float filter_taps[TAPS] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

//@ extent in[n], out[n];
//@ requires 1 <= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void weights(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < TAPS * 2 / 2; k++)
        sum += in[i] * filter_taps[k];
    for (int k = 0; k < 2 * TAPS; k++)
        sum += filter_taps[k / 2 + k % 2];
    for (int k = 0; k < TAPS * 2; k++)
        sum += filter_taps[k];
    out[i] = sum;
}
