//@ extent in[n], out[gridDim.x], sdata[blockDim.x];
//@ requires blockDim.x == 512 && n >= 0 && n + 1024*gridDim.x <= 2147483647;
template <unsigned blockSize>
__global__ void reduce5(const int *in, int *out, unsigned n) {
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x*(512*2) + tid;
  int sum = (i < n) ? in[i] : 0;
  if (i + 512 < n) sum += in[i + 512];
  sdata[tid] = sum;
  __syncthreads();
  if (512 >= 512) { if (tid < 256) { sdata[tid] = sum = sum + sdata[tid + 256]; } __syncthreads(); }
  if (512 >= 256) { if (tid < 128) { sdata[tid] = sum = sum + sdata[tid + 128]; } __syncthreads(); }
  if (tid < 64) { sdata[tid] = sum = sum + sdata[tid + 64]; } __syncthreads();
  if (tid == 0) out[blockIdx.x] = sum;
}
