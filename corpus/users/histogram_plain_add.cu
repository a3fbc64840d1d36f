// expect: refuted races line 11
// check: --grid 1 --block 64 --arg data=u8[64]=[0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3] --arg hist=u32[256]:inout --arg n=64
// Student code: the increment is not atomic.
//@ extent data[n], hist[256];
//@ requires n >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void histogram(unsigned char *data, unsigned int *hist, int n)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n)
    {
        hist[data[tid]]++;
    }
}
