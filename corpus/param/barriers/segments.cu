// Segments between offsets in shared memory, one for each thread, that do not overlap.
//@ extent first[blockDim.x + 1], s[blockDim.x + 1], out[n];
//@ requires gridDim.x == 1 && n >= 0;
//@ requires \forall int i; 0 <= i <= blockDim.x ==> 0 <= first[i] <= n;
//@ requires \forall int i, j; 0 <= i < j && j <= blockDim.x ==> first[i] <= first[j];
__global__ void segments(const int* first, int* out, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = first[t];
  if (t == 0) s[blockDim.x] = first[blockDim.x];
  //@ barrier invariant \forall int i; 0 <= i <= blockDim.x ==> 0 <= s[i] <= n;
  //@ barrier invariant t < \other(t) ==> s[t + 1] <= \other(s[t]);
  __syncthreads();
  int end = s[t + 1];
  for (int i = s[t]; i < end; i++) out[i] = t;
}
