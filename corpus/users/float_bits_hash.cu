// expect: refuted bounds line 9
// check: --grid 1 --block 32 --arg x=f32[32] --arg count=s32[64]:inout --arg n=32 --arg buckets=64
// Buckets by the bits of floats: the bits of a negative float are a negative integer, and so is what is left of a division by 64.
//@ extent x[n], count[buckets];
//@ requires n >= 1 && n <= 1000000 && buckets >= 1 && buckets <= 65536 && gridDim.x*blockDim.x <= 65536;
__global__ void hash(const float* x, int* count, int n, int buckets) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int* bits = (const int*)x;
  if (i < n) atomicAdd(&count[(bits[i] >> 12) % buckets], 1);
}
