// expect: proved
// check: --kernel throw_darts --grid 1 --block 8 --arg states=u32[48]:inout=iota --arg hits=u32[8]:inout --arg trials=4
// Monte Carlo for pi, each thread with a generator of its own.
#include <curand_kernel.h>

//@ extent states[gridDim.x*blockDim.x];
//@ requires gridDim.x*blockDim.x <= 2147483647;
__global__ void setup(curandState* states, unsigned long long seed) {
  int id = threadIdx.x + blockIdx.x * blockDim.x;
  curand_init(seed, id, 0, &states[id]);
}

//@ extent states[gridDim.x*blockDim.x], hits[gridDim.x*blockDim.x];
//@ requires gridDim.x*blockDim.x <= 2147483647 && 0 <= trials <= 1000000;
__global__ void throw_darts(curandState* states, unsigned int* hits, int trials) {
  int id = threadIdx.x + blockIdx.x * blockDim.x;
  curandState local = states[id];
  unsigned int count = 0;
  for (int i = 0; i < trials; i++) {
    float x = curand_uniform(&local);
    float y = curand_uniform(&local);
    if (x * x + y * y <= 1.0f) count++;
  }
  states[id] = local;
  hits[id] += count;
}
