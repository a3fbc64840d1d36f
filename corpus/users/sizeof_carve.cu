// expect: proved-or-unknown
// check: --grid 1 --block 32 --smem 256 --arg keys=s32[32]=iota --arg w=f32[32] --arg out=f32[32]:out
// Dynamic shared memory is carved into two arrays by hand.
//@ extent keys[blockDim.x*gridDim.x], w[blockDim.x*gridDim.x], out[blockDim.x*gridDim.x], raw[2*blockDim.x*4];
//@ requires gridDim.x*blockDim.x <= 2147483647;
//@ requires \forall int i; 0 <= i < blockDim.x*gridDim.x ==> 0 <= keys[i];
__global__ void carve(const int* keys, const float* w, float* out) {
  extern __shared__ __align__(16) unsigned char raw[];
  int* s_key = (int*)raw;
  float* s_w = (float*)(raw + blockDim.x * sizeof(int));
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_key[t] = keys[i];
  s_w[t] = w[i];
  __syncthreads();
  int other = s_key[t] % blockDim.x;
  out[i] = s_w[other];
}
