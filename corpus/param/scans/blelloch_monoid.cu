// The last element that is not 0, by a function of which only the laws are used; it does not commute.
//@ monoid last, unit 0;
__device__ unsigned last(unsigned a, unsigned b) { return b != 0 ? b : a; }

//@ extent x[n], in[n], out[n];
//@ requires gridDim.x == 1 && \is_pow2(n) && n >= 2 && 2*blockDim.x == n;
//@ ensures \forall int i; 0 <= i < n ==> out[i] == \fold(last, j, 0, i, in[j]);
__global__ void blelloch(const unsigned* in, unsigned* out, unsigned n) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x, off = 1;
  x[2*t] = in[2*t]; x[2*t+1] = in[2*t+1];
  for (unsigned d = n/2; d > 0; d /= 2) {
    __syncthreads();  // up
    if (t < d) { unsigned l = off*(2*t+1)-1, r = off*(2*t+2)-1; x[r] = last(x[l], x[r]); }
    off *= 2;
  }
  if (t == 0) x[n-1] = 0;
  for (unsigned d = 1; d < n; d *= 2) {
    off /= 2;
    __syncthreads();  // down
    if (t < d) { unsigned l = off*(2*t+1)-1, r = off*(2*t+2)-1, s = x[l]; x[l] = x[r]; x[r] = last(x[r], s); }
  }
  __syncthreads();
  out[2*t] = x[2*t]; out[2*t+1] = x[2*t+1];
}
