// Updates by compare-and-swap loops, against plain loops of one thread.
#include <cuda_bf16.h>

extern "C" __global__ void largest(const float *x, float *out, int n) {
  float best = out[0];
  for (int i = 0; i < n; i++) best = fmaxf(best, x[i]);
  out[0] = best;
}

__device__ void swap_largest(float *p, float value) {
  int *bits = (int *)p, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __float_as_int(fmaxf(value, __int_as_float(guess))));
  } while (guess != old);
}

extern "C" __global__ void largest_swap(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) swap_largest(out, x[i]);
}

// The first guess may be anything.
extern "C" __global__ void largest_swap_zero(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned *bits = (unsigned *)out, old = 0, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __float_as_uint(fmaxf(__uint_as_float(guess), x[i])));
  } while (guess != old);
}

extern "C" __global__ void largest_of_two(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) swap_largest(out, i == 3 ? x[0] : x[i]);
}

extern "C" __global__ void smallest_swap(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int *bits = (int *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __float_as_int(fminf(x[i], __int_as_float(guess))));
  } while (guess != old);
}

// Only once: another thread may have come between.
extern "C" __global__ void largest_once(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int *bits = (int *)out, guess = *bits;
  atomicCAS(bits, guess, __float_as_int(fmaxf(x[i], __int_as_float(guess))));
}

extern "C" __global__ void largest_plain(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[0] = fmaxf(out[0], x[i]);
}

extern "C" __global__ void sum(const double *x, double *out, int n) {
  double total = out[0];
  for (int i = 0; i < n; i++) total += x[i];
  out[0] = total;
}

extern "C" __global__ void sum_swap(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = x[i];
  unsigned long long *bits = (unsigned long long *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __double_as_longlong(value + __longlong_as_double(guess)));
  } while (guess != old);
}

// For threads of its block alone.
extern "C" __global__ void sum_block(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = x[i];
  unsigned long long *bits = (unsigned long long *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS_block(bits, guess, __double_as_longlong(value + __longlong_as_double(guess)));
  } while (guess != old);
}

extern "C" __global__ void sum_twice(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = x[i] + x[i];
  unsigned long long *bits = (unsigned long long *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __double_as_longlong(value + __longlong_as_double(guess)));
  } while (guess != old);
}

extern "C" __global__ void sum_difference(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long *bits = (unsigned long long *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __double_as_longlong(x[i] - __longlong_as_double(guess)));
  } while (guess != old);
}

// The old value goes to memory: it is what the schedule makes it.
extern "C" __global__ void sum_old(const double *x, double *out, double *before, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = x[i];
  unsigned long long *bits = (unsigned long long *)out, old = *bits, guess;
  do {
    guess = old;
    old = atomicCAS(bits, guess, __double_as_longlong(value + __longlong_as_double(guess)));
  } while (guess != old);
  before[i] = __longlong_as_double(old);
}

extern "C" __global__ void sum_old_plain(const double *x, double *out, double *before, int n) {
  double total = out[0];
  for (int i = 0; i < n; i++) {
    before[i] = total;
    total += x[i];
  }
  out[0] = total;
}

extern "C" __global__ void pairs(const __nv_bfloat162 *x, __nv_bfloat162 *out, int n) {
  float first = __low2float(out[0]), second = __high2float(out[0]);
  for (int i = 0; i < n; i++) {
    first += __low2float(x[i]);
    second += __high2float(x[i]);
  }
  out[0] = __floats2bfloat162_rn(first, second);
}

extern "C" __global__ void pairs_library(const __nv_bfloat162 *x, __nv_bfloat162 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, x[i]);
}

extern "C" __global__ void pairs_crossed(const __nv_bfloat162 *x, __nv_bfloat162 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, __lowhigh2highlow(x[i]));
}

extern "C" __global__ void total(const int *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, x[i]);
}

extern "C" __global__ void total_swap(const int *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int old = *out, guess;
  do {
    guess = old;
    old = atomicCAS(out, guess, guess + x[i]);
  } while (guess != old);
}

extern "C" __global__ void total_more(const int *x, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int old = *out, guess;
  do {
    guess = old;
    old = atomicCAS(out, guess, guess + 2 * x[i]);
  } while (guess != old);
}
