// The last element that is not 0, by a function of which only the laws are used; it does not commute.
//@ monoid last, unit 0;
__device__ unsigned last(unsigned a, unsigned b) { return b != 0 ? b : a; }

//@ extent x[n], in[n], out[n];
//@ requires gridDim.x == 1 && blockDim.x == n && \is_pow2(n);
//@ ensures \forall int i; 0 <= i < n ==> out[i] == \fold(last, j, 0, i+1, in[j]);
__global__ void brent_kung(const unsigned* in, unsigned* out, unsigned n) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x;
  x[t] = in[t];
  for (unsigned d = 1; d < n; d *= 2) {
    __syncthreads();  // up
    unsigned i = (t + 1)*2*d - 1;
    if (i < n) x[i] = last(x[i - d], x[i]);
  }
  for (unsigned d = n/2; d > 0; d /= 2) {
    __syncthreads();  // down
    unsigned i = (t + 1)*2*d - 1;
    if (i + d < n) x[i + d] = last(x[i], x[i + d]);
  }
  __syncthreads();
  out[t] = x[t];
}
