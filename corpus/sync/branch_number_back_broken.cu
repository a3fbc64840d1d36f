// Thread 32 writes back what was chosen before; that is not the number of the last conditional write.
__global__ void k(const int* x, int* y) {
  __shared__ int s;
  if (threadIdx.x == 0) s = x[1];
  __syncthreads();
  if (threadIdx.x == 0 && x[0] != 0) s = 5;
  __syncthreads();
  int v = s;
  __syncthreads();
  if (threadIdx.x == 32) s = v;
  if (threadIdx.x == 64 && x[2] != 0) s = 5;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = s;
}
