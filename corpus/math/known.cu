// Functions of arguments that a compiler knows something of: it leaves out the cases that cannot be.
#define KERNEL extern "C" __global__ void
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)
// Behind a comparison, and of a sum that is at least 1/2.
#define BEHIND(f) KERNEL behind_##f(const float* x, float* y) { float v = x[HERE]; y[HERE] = v > 1.0f ? f(v) : v * v; }
#define POSITIVE(f) KERNEL positive_##f(const float* x, float* y) { float v = x[HERE]; y[HERE] = f(v * v + 0.5f) * v; }
BEHIND(expf) BEHIND(exp2f) BEHIND(exp10f) BEHIND(expm1f) BEHIND(logf) BEHIND(log2f) BEHIND(log10f) BEHIND(log1pf)
BEHIND(tanhf) BEHIND(sinhf) BEHIND(coshf) BEHIND(erff) BEHIND(erfcf) BEHIND(cbrtf) BEHIND(roundf)
POSITIVE(expf) POSITIVE(expm1f) POSITIVE(logf) POSITIVE(log2f) POSITIVE(log10f) POSITIVE(log1pf)
POSITIVE(tanhf) POSITIVE(sinhf) POSITIVE(coshf) POSITIVE(erff) POSITIVE(erfcf) POSITIVE(cbrtf) POSITIVE(sqrtf)
// What is done to the result goes into the choice of infinity.
KERNEL above_logf(const float* x, float* y) { y[HERE] = fmaxf(logf(x[HERE]), 0.0f); }
KERNEL above_log2f(const float* x, float* y) { y[HERE] = fmaxf(log2f(x[HERE]), 0.0f); }
KERNEL above_log10f(const float* x, float* y) { y[HERE] = fmaxf(log10f(x[HERE]), 0.0f); }
// Mistakes.
KERNEL behind_other(const float* x, float* y) { float v = x[HERE]; y[HERE] = v > 1.0f ? tanhf(v) : -v * v; }
KERNEL positive_other(const float* x, float* y) { float v = x[HERE]; y[HERE] = logf(v * v + 0.25f) * v; }
// The last thread is wrong where the function is not called.
KERNEL one_erff(const float* x, float* y) {
  float v = x[HERE];
  y[HERE] = v > 1.0f ? erff(v) : threadIdx.x == blockDim.x - 1 ? -v * v : v * v;
}
