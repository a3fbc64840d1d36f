// The last element of each row that is not 0, by a function of which only the laws are used; it does not commute, so order matters.
//@ monoid last, unit 0;
__device__ unsigned last(unsigned a, unsigned b) { return b != 0 ? b : a; }

//@ extent in[rows*n], out[rows], s[n];
//@ requires rows == gridDim.x && n == blockDim.x && rows*n <= 2147483647;
//@ ensures \forall int r; 0 <= r < rows ==> out[r] == \fold(last, j, 0, n, in[r*n + j]);
__global__ void reduce_monoid(const unsigned* in, unsigned* out, int rows, int n) {
  extern __shared__ unsigned s[];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x*n + t];
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    int i = 2*d*t;
    if (i + d < n) s[i] = last(s[i], s[i + d]);
    __syncthreads();  // of the loop
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
