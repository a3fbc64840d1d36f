// Threads of a block of two dimensions are other ones if one axis differs.
//@ extent s[blockDim.x*blockDim.y], out[blockDim.x*blockDim.y];
//@ requires gridDim.x == 1 && gridDim.y == 1;
__global__ void corners(int* out) {
  extern __shared__ int s[];
  int t = threadIdx.y*blockDim.x + threadIdx.x;
  s[t] = t;
  //@ barrier invariant s[t] != \other(s[t]);
  //@ barrier invariant 0 <= s[t] < blockDim.x*blockDim.y;
  __syncthreads();
  out[s[t]] = 1 + t;
}
