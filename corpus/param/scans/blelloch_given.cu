// The same with the invariants that are otherwise found.
//@ extent x[n], in[n], out[n];
//@ requires gridDim.x == 1 && \is_pow2(n) && n >= 2 && 2*blockDim.x == n;
//@ ensures \forall int i; 0 <= i < n ==> out[i] == \fold(+, j, 0, i, in[j]);
__global__ void blelloch(const unsigned* in, unsigned* out, unsigned n) {
  extern __shared__ unsigned x[];
  unsigned t = threadIdx.x, off = 1;
  x[2*t] = in[2*t]; x[2*t+1] = in[2*t+1];
  //@ loop invariant \forall int q; 1 <= q && off*q <= n ==> x[off*q-1] == \fold(+, j, off*(q-1), off*q, in[j]);
  //@ loop invariant U2: \forall int p, r; \is_pow2(p) && p < off && 0 <= r && p*(2*r+1) <= n ==> x[p*(2*r+1)-1] == \fold(+, j, 2*p*r, p*(2*r+1), in[j]);
  for (unsigned d = n/2; d > 0; d /= 2) {
    __syncthreads();  // up
    if (t < d) { unsigned l = off*(2*t+1)-1, r = off*(2*t+2)-1; x[r] = x[l] + x[r]; }
    off *= 2;
  }
  if (t == 0) x[n-1] = 0;
  //@ loop invariant \forall int q; 1 <= q && off*q <= n ==> x[off*q-1] == \fold(+, j, 0, off*(q-1), in[j]);
  //@ loop invariant U2;
  for (unsigned d = 1; d < n; d *= 2) {
    off /= 2;
    __syncthreads();  // down
    if (t < d) { unsigned l = off*(2*t+1)-1, r = off*(2*t+2)-1, s = x[l]; x[l] = x[r]; x[r] = x[r] + s; }
  }
  __syncthreads();
  out[2*t] = x[2*t]; out[2*t+1] = x[2*t+1];
}
