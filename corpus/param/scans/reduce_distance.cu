// Rows of which each is summed by a block, any number of threads: those at multiples of twice the distance add.
//@ extent in[rows*n], out[rows], s[n];
//@ requires rows == gridDim.x && n == blockDim.x && rows*n <= 2147483647;
//@ ensures \forall int r; 0 <= r < rows ==> out[r] == \sum(j, 0, n, in[r*n + j]);
__global__ void reduce_distance(const int* in, int* out, int rows, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x*n + t];
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    if (t % (2*d) == 0 && t + d < n) s[t] += s[t + d];
    __syncthreads();  // of the loop
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
