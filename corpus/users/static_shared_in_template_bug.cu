// expect: refuted races line 8
// check: --grid 1 --block 64 --arg x=f32[64] --arg out=f32[64]:out
// The instance for 32 is used by 64 threads: two threads have one cell.
template <int N, typename T>
__device__ T neighbour(T v)
{
    __shared__ T cells[N];
    cells[threadIdx.x % N] = v;
    __syncthreads();
    T r = cells[(threadIdx.x + 1) % N];
    __syncthreads();
    return r;
}

//@ extent x[64], out[64];
//@ requires blockDim.x == 64 && gridDim.x == 1;
__global__ void exchange(const float *x, float *out)
{
    float a = neighbour<64>(x[threadIdx.x]);
    float b = neighbour<32>((float)threadIdx.x);
    out[threadIdx.x] = a + b;
}
