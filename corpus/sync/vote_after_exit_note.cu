// Lanes return from a loop one after the other; those that go on vote with the full mask.
extern "C" __global__ void kernel(const int* limit, int* y) {
  int t = threadIdx.x;
  int rounds = t / 8 + 1, last = 0;
  for (int k = 0;; ++k) {
    last = __popc(__ballot_sync(0xffffffffu, k < rounds));
    y[t] = last;
    if (k + 1 == rounds) return;
  }
}
