// Compare-and-swap loops of other forms: with a comparison first, with break, with loads in the loop.

extern "C" __global__ void largest(const float *x, float *out, int n) {
  float best = out[0];
  for (int i = 0; i < n; i++) best = fmaxf(best, x[i]);
  out[0] = best;
}

// No test of success: the old value after a successful swap is smaller, and the next swap fails.
__device__ void raise(float *p, float value) {
  int *bits = (int *)p, old = *bits;
  while (value > __int_as_float(old)) old = atomicCAS(bits, old, __float_as_int(value));
}

extern "C" __global__ void largest_while(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) raise(out, x[i]);
}

// First in shared memory, then in global memory.
extern "C" __global__ void largest_shared(const float *x, float *out, int n) {
  __shared__ float best;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) best = x[0];
  __syncthreads();
  if (i < n) raise(&best, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) raise(out, best);
}

extern "C" __global__ void largest_break(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    if (__int_as_float(guess) >= value) break;
    old = atomicCAS(bits, guess, __float_as_int(value));
  } while (guess != old);
}

// Looks at memory before it begins.
extern "C" __global__ void largest_looks(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  if (*out >= value) return;
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    if (__int_as_float(guess) >= value) break;
    old = atomicCAS(bits, guess, __float_as_int(value));
  } while (guess != old);
}

extern "C" __global__ void largest_endless(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, expected = *bits;
  for (;;) {
    if (value <= __int_as_float(expected)) return;
    int seen = atomicCAS(bits, expected, __float_as_int(value));
    if (seen == expected) return;
    expected = seen;
  }
}

extern "C" __global__ void largest_chosen(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    float known = __int_as_float(guess);
    old = atomicCAS(bits, guess, __float_as_int(value > known ? value : known));
  } while (guess != old);
}

extern "C" __global__ void largest_loads(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out;
  while (true) {
    int guess = *(volatile int *)bits;
    if (atomicCAS(bits, guess, __float_as_int(fmaxf(value, __int_as_float(guess)))) == guess) break;
  }
}

// The comparison is the wrong way round: a minimum.
extern "C" __global__ void largest_turned(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, old = *bits;
  while (value < __int_as_float(old)) old = atomicCAS(bits, old, __float_as_int(value));
}

// Another number than the one that is compared.
extern "C" __global__ void largest_other(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i], other = x[0];
  int *bits = (int *)out, old = *bits;
  while (value > __int_as_float(old)) old = atomicCAS(bits, old, __float_as_int(other));
}

// The first guess was never in memory, so a thread may leave memory as it is.
extern "C" __global__ void largest_guessed(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, old = 0;
  while (value > __int_as_float(old)) old = atomicCAS(bits, old, __float_as_int(value));
}

// Leaves if the swap failed.
extern "C" __global__ void largest_gives_up(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    if (__int_as_float(guess) >= value) break;
    old = atomicCAS(bits, guess, __float_as_int(value));
  } while (guess == old);
}

extern "C" __global__ void product(const float *x, float *out, int n) {
  float all = out[0];
  for (int i = 0; i < n; i++) all *= x[i];
  out[0] = all;
}

extern "C" __global__ void product_swap(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __float_as_int(value * __int_as_float(guess)));
  } while (guess != old);
}

extern "C" __global__ void product_square(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i] * x[i];
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __float_as_int(value * __int_as_float(guess)));
  } while (guess != old);
}

extern "C" __global__ void dot(const double *x, double *out, int n) {
  double total = out[0];
  for (int i = 0; i < n; i++) total += x[i] * x[i];
  out[0] = total;
}

// A product, which the assembler may fuse with the sum.
extern "C" __global__ void dot_swap(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = x[i] * x[i];
  unsigned long long *bits = (unsigned long long *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __double_as_longlong(value + __longlong_as_double(guess)));
  } while (guess != old);
}

extern "C" __global__ void dot_loads(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = x[i] * x[i];
  unsigned long long *bits = (unsigned long long *)out, guess;
  do {
    guess = *bits;
  } while (atomicCAS(bits, guess, __double_as_longlong(value + __longlong_as_double(guess))) != guess);
}

extern "C" __global__ void rest(const float *x, float *out, int n) {
  float left = out[0];
  for (int i = 0; i < n; i++) left -= x[i];
  out[0] = left;
}

extern "C" __global__ void rest_swap(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __float_as_int(__int_as_float(guess) - value));
  } while (guess != old);
}

extern "C" __global__ void rest_turned(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __float_as_int(value - __int_as_float(guess)));
  } while (guess != old);
}

// At most 1000: the order would count if numbers were negative.
extern "C" __global__ void capped(const unsigned *x, unsigned *out, int n) {
  unsigned total = out[0];
  for (int i = 0; i < n; i++) total = min(total + (x[i] & 255), 1000u);
  out[0] = total;
}

extern "C" __global__ void capped_swap(const unsigned *x, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = x[i] & 255, old = *out, guess;
  do {
    guess = old;
    old = atomicCAS(out, guess, min(guess + value, 1000u));
  } while (guess != old);
}

// Never ends: the guess is never the old value.
extern "C" __global__ void capped_endless(const unsigned *x, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = x[i] & 255, old = *out, guess;
  do {
    guess = old;
    old = atomicCAS(out, guess, min(guess + value, 1000u)) + 1;
  } while (guess != old);
}
