// Tiles through two buffers, the copy of the next tile issued before the barrier that ends the last use of its buffer.
// The pattern of TileLang issue 2668.
// Fixed: the copy is issued after the barrier.
#define COPY4(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

extern "C" __global__ void tiles(const float* __restrict__ x, float* __restrict__ y, int tiles) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  float sum = 0.0f;
  COPY4(&s[0][t], x + t);
  COMMIT();
  for (int k = 0; k < tiles; k++) {
    WAIT(0);
    __syncthreads();
    if (k + 1 < tiles) COPY4(&s[(k + 1) % 2][t], x + (k + 1) * 64 + t);
    COMMIT();
    sum += s[k % 2][63 - t];
  }
  y[t] = sum;
}
