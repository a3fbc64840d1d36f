// expect: proved-or-unknown
// check: --grid 1 --block 64 --arg vals=f32[8] --arg cols=s32[8]=[0,1,0,1,0,1,0,1] --arg rowDelimiters=s32[3]=[0,4,8] --arg vec=f32[2] --arg out=f32[2]:out --arg dim=2 --arg nnz=8
// A warp for each row, in the style of the SHOC suite, with volatile shared memory replaced by shuffles.
static const int WARP = 32;

template <typename fpType>
__device__ void spmv_row(const fpType* vals, const int* cols, const int* rowDelimiters, const fpType* vec, fpType* out, int dim) {
  int t = threadIdx.x, id = t & (WARP - 1);
  int myRow = blockIdx.x * (blockDim.x / WARP) + t / WARP;
  fpType sum = 0;
  if (myRow < dim)
    for (int j = rowDelimiters[myRow] + id; j < rowDelimiters[myRow + 1]; j += WARP) sum += vals[j] * vec[cols[j]];
  for (int d = WARP / 2; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (id == 0 && myRow < dim) out[myRow] = sum;
}

//@ extent vals[nnz], cols[nnz], rowDelimiters[dim + 1], vec[dim], out[dim];
//@ requires 0 <= dim <= 10000000 && 0 <= nnz <= 1000000000 && blockDim.x % 32 == 0 && gridDim.x*blockDim.x <= 1000000000;
//@ requires \forall int i; 0 <= i <= dim ==> 0 <= rowDelimiters[i] <= nnz;
//@ requires \forall int i; 0 <= i < nnz ==> 0 <= cols[i] < dim;
__global__ void spmv(const float* vals, const int* cols, const int* rowDelimiters, const float* vec, float* out, int dim, int nnz) {
  spmv_row<float>(vals, cols, rowDelimiters, vec, out, dim);
}
