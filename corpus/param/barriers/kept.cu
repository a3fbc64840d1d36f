// What holds at a barrier holds behind the next ones too, as long as nobody stores.
//@ extent in[blockDim.x], s[blockDim.x], u[blockDim.x], out[blockDim.x];
//@ requires gridDim.x == 1;
//@ requires \forall int i; 0 <= i < blockDim.x ==> 0 <= in[i] < blockDim.x;
__global__ void kept(const int* in, int* u, int* out) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = in[t];
  //@ barrier invariant \forall int i; 0 <= i < blockDim.x ==> 0 <= s[i] < blockDim.x;
  __syncthreads();
  u[t] = s[blockDim.x - 1 - t];
  __syncthreads();  // nothing in s has changed
  int v = s[t];
  //@ assert 0 <= v < blockDim.x;
  out[t] = u[v];
}
