// A grid-stride loop: each element is the sum of two, for every number of threads.
/*@ extent a[n], b[n], c[n];
    requires n >= 0 && n + gridDim.x*blockDim.x <= 2147483647;
    ensures \forall int j; 0 <= j < n ==> c[j] == a[j] + b[j]; @*/
__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += gridDim.x*blockDim.x)
    c[i] = a[i] + b[i];
}
