// Real numbers in shared memory: what a tile holds, for a block of two dimensions.
//@ extent in[n*n], out[n*n];
//@ requires n == blockDim.x && n == blockDim.y && gridDim.x == 1 && gridDim.y == 1 && n <= 32;
//@ ensures \forall int r, c; 0 <= r < n && 0 <= c < n ==> out[r*n + c] == in[c*n + r];
__global__ void tile(const float* in, float* out, int n) {
  __shared__ float s[1024];
  int x = threadIdx.x, y = threadIdx.y;
  s[y*n + x] = in[y*n + x];
  //@ barrier invariant \forall int r, c; 0 <= r < n && 0 <= c < n ==> s[r*n + c] == in[r*n + c];
  __syncthreads();
  out[y*n + x] = s[x*n + y];
}
