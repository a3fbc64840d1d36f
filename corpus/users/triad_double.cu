// expect: proved
// check: --grid 2 --block 32 --arg A=f64[64] --arg B=f64[64] --arg C=f64[64]:out --arg s=1.75
// Stream triad as in SHOC: no guard, the launch fits.
//@ extent A[gridDim.x*blockDim.x], B[gridDim.x*blockDim.x], C[gridDim.x*blockDim.x];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void triad(double* A, double* B, double* C, double s) {
  int gid = threadIdx.x + (blockIdx.x * blockDim.x);
  C[gid] = A[gid] + s * B[gid];
}
