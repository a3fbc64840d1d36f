// What is stored depends on real numbers, and so does what is claimed.
//@ extent a[n], c[n], d[n];
//@ requires n == gridDim.x*blockDim.x && n <= 2147483647;
//@ ensures \forall int i; 0 <= i < n && a[i] > 0 ==> c[i] == a[i];
//@ ensures \forall int i; 0 <= i < n && a[i] <= 0 ==> c[i] == 0;
//@ ensures \forall int i; 0 <= i < n && a[i] < 0 ==> d[i] == slope*a[i];
//@ ensures \forall int i; 0 <= i < n && !(a[i] < 0) ==> d[i] == a[i];
__global__ void relu(const float* a, float* c, float* d, int n, float slope) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  float v = a[i];
  c[i] = v > 0 ? v : 0;
  if (0 > v) v = slope*v;
  d[i] = v;
}
