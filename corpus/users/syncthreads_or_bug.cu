// expect: refuted barriers line 9
// The vote is on one side of a branch that threads do not take together.
//@ extent x[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1 && blockDim.x >= 2;
__global__ void vote(const int *x, int *out)
{
    int t = threadIdx.x, any = 0;
    if (t % 2 == 0)
        any = __syncthreads_or(x[t] < 0);
    out[t] = any;
}
