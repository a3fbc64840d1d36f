// expect: refuted division line 10
// check: --grid 1 --block 8 --arg sum=s32[8]=iota --arg count=s32[8]=iota --arg mean=s32[8]:out --arg n=8
// An empty group: the number of its members is the divisor.
//@ extent sum[n], count[n], mean[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
__global__ void means(const int *sum, const int *count, int *mean, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        mean[i] = sum[i] / count[i];
}
