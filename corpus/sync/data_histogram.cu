// How many elements are above a threshold, and how many are not.
extern "C" __global__ void kernel(const float* __restrict__ x, int* y, float t) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (x[i] > t) atomicAdd(&y[0], 1);
  else atomicAdd(&y[1], 1);
}
