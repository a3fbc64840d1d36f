// A claim of one thread's element is used for its neighbour's.
//@ extent in[blockDim.x], s[blockDim.x], out[2*blockDim.x];
//@ requires gridDim.x == 1;
//@ requires \forall int i; 0 <= i < blockDim.x ==> 0 <= in[i] <= 1;
__global__ void shifted(const int* in, int* out) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = 2*t + in[t];
  //@ barrier invariant 2*t <= s[t] <= 2*t + 1;
  __syncthreads();
  int next = s[(t + 1) % blockDim.x];
  out[next] = t;
}
