// not an error: a second name of dynamic shared memory
//@ extent t[blockDim.x];
//@ requires gridDim.x*blockDim.x <= 100000;
__global__ void k(int* b, int n) { extern __shared__ int s[]; extern __shared__ int t[]; t[threadIdx.x] = 1; }
