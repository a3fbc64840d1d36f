// expect: proved-or-unknown
// check: --grid 1 --block 32 --arg sorted=s32[40]=iota --arg keys=s32[32]=iota --arg out=s32[32]:out --arg n=40 --arg m=32
// Binary search that returns from inside its loop.
__device__ int search(const int* a, int n, int key) {
  int lo = 0, hi = n - 1;
  while (lo <= hi) {
    int mid = lo + (hi - lo) / 2;
    if (a[mid] == key) return mid;
    if (a[mid] < key)
      lo = mid + 1;
    else
      hi = mid - 1;
  }
  return -1;
}

//@ extent sorted[n], keys[m], out[m];
//@ requires 0 <= n <= 1000000000 && m >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void lookup(const int* sorted, const int* keys, int* out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) out[i] = search(sorted, n, keys[i]);
}
