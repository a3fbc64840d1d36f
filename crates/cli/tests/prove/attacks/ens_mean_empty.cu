// assumed: defined at: a quotient of an empty sum
//@ extent a[m], c[n];
//@ requires m >= 0 && n >= 1 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 1000000;
//@ ensures \forall int i; 0 <= i < n ==> c[i] == \sum(j, 0, m, a[j]/m);
__global__ void k(const float* a, float* c, int n, int m) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  float s = 0; for (int j = 0; j < m; j++) s += a[j]; if (i < n) c[i] = s/m;
}
