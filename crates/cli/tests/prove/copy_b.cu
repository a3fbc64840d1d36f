// The same under other names; right only if there is a thread for each element.
//@ extent source[size], target[size];
//@ requires size >= 0 && gridDim.x*blockDim.x <= 2147483647;
__global__ void copy(const float* source, float* target, int size) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < size) target[i] = source[i];
}
