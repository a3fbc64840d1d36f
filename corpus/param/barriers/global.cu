// An array in global memory, which no other block can write: there is none.
//@ extent in[blockDim.x], p[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1;
//@ requires \forall int i; 0 <= i < blockDim.x ==> 0 <= in[i] < blockDim.x;
__global__ void global(const int* in, int* p, int* out) {
  int t = threadIdx.x;
  p[t] = in[t];
  //@ barrier invariant \forall int i; 0 <= i < blockDim.x ==> 0 <= p[i] < blockDim.x;
  __syncthreads();
  out[t] = in[p[t]];
}
