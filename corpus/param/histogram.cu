// Atomic counts; what is counted is bounded by the contract.
//@ extent data[n], count[bins];
//@ requires n >= 0 && n + gridDim.x*blockDim.x <= 2147483647 && bins > 0;
//@ requires \forall int i; 0 <= i < n ==> 0 <= data[i] < bins;
__global__ void histogram(const int* data, int* count, int n, int bins) {
  for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += gridDim.x*blockDim.x)
    atomicAdd(&count[data[i]], 1);
}
