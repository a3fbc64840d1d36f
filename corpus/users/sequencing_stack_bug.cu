// expect: refuted bounds line 14
// check: --grid 1 --block 32 --arg depth=s32[32]:out --arg n=32
// The index is read after the right side has changed it: the last element stored is past the array.
//@ extent depth[n];
//@ requires 1 <= n && gridDim.x*blockDim.x <= 2147483647;
__global__ void fill(int *depth, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stack[8];
    int top = 0;
    stack[0] = i;
    while (top < 7)
        stack[top] = top++;
    stack[top] = ++top;
    if (i < n)
        depth[i] = stack[i & 7];
}
