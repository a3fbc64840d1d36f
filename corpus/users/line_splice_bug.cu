// expect: refuted bounds line 11
// check: --grid 2 --block 32 --arg x=f32[40]:inout --arg n=40
// The comment before the guard ends in a backslash, and so the guard is part of it.
//@ extent x[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void increment(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // leave if outside, see D:\docs\
    if (i >= n) return;
    x[i] += 1.0f;
}
