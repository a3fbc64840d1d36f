// expect: refuted races line 6,8,9,10
// check: --grid 1 --block 64 --arg x=s32[65]:inout=[65,64,63,62,61,60,59,58,57,56,55,54,53,52,51,50,49,48,47,46,45,44,43,42,41,40,39,38,37,36,35,34,33,32,31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1] --arg n=64
// The second reference is the neighbour's first.
__device__ void sort2(int &a, int &b)
{
    if (b < a)
    {
        int t = a;
        a = b;
        b = t;
    }
}

//@ extent x[n + 1];
//@ requires 2 <= n <= 1000000000 && gridDim.x*blockDim.x <= 2147483647;
__global__ void bubble(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sort2(x[i], x[i + 1]);
}
