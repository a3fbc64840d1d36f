// Functions in loops: a compiler takes what does not change out of a loop, and its ways for large arguments are others then.
#define KERNEL extern "C" __global__ void
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL (gridDim.x * blockDim.x)
// A loop over the grid, of one turn where all elements have a thread, and four calls behind each other.
#define LOOP(name) \
    KERNEL loop_##name(const float* x, float* out) { for (unsigned i = HERE; i < ALL; i += ALL) out[i] = name(x[i]); } \
    KERNEL four_##name(const float* x, float* out) { \
        _Pragma("unroll") for (unsigned k = 0; k < 4; k++) { unsigned i = HERE / 4 * 4 + k; out[i] = name(x[i]); } }
#define LOOP_OF_TWO(name) \
    KERNEL loop_##name(const float* x, const float* y, float* out) { \
        for (unsigned i = HERE; i < ALL; i += ALL) out[i] = name(x[i], y[i]); } \
    KERNEL four_##name(const float* x, const float* y, float* out) { \
        _Pragma("unroll") for (unsigned k = 0; k < 4; k++) { unsigned i = HERE / 4 * 4 + k; out[i] = name(x[i], y[i]); } }
LOOP(expf) LOOP(logf) LOOP(log1pf) LOOP(tanhf) LOOP(erff) LOOP(cbrtf) LOOP(atanf)
LOOP(sinf) LOOP(cosf) LOOP(tanf)
LOOP_OF_TWO(powf) LOOP_OF_TWO(fmodf) LOOP_OF_TWO(atan2f)
