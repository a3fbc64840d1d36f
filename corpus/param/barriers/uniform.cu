// What all threads of a block have alike, loaded from shared memory.
//@ extent in[1], s[1], out[n];
//@ requires gridDim.x == 1 && n >= 0 && n + blockDim.x <= 2147483647;
//@ requires \forall int i; 0 <= i < 1 ==> 0 <= in[i] <= n;
__global__ void uniform(const int* in, int* out, int n) {
  extern __shared__ int s[];
  if (threadIdx.x == 0) s[0] = in[0];
  //@ barrier invariant 0 <= s[0] <= n;
  __syncthreads();
  int m = s[0];
  //@ barrier invariant m == \other(m);
  __syncthreads();
  for (int i = threadIdx.x; i < m; i += blockDim.x) out[i] = m;
}
