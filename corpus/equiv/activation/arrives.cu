// A comparison with an infinity that stands for "no key yet", and an arrival at a barrier where nobody waits, which is a note.
extern "C" __global__ void exponential(const float *x, float *y) { y[threadIdx.x] = __expf(x[threadIdx.x]); }

extern "C" __global__ void exponential_arrives(const float *x, float *y) {
  int i = threadIdx.x;
  float largest = x[i] == -INFINITY ? 0.f : x[i];
  y[i] = __expf(largest);
  asm volatile("bar.arrive 1, 64;" ::: "memory");
}
