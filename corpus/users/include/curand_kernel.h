// As much of the library as the kernels here use, so that they compile without it. The numbers are not those of the library.
struct curandStateXORWOW { unsigned d, v[5]; };
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
struct curandStatePhilox4_32_10 { unsigned counter, key; };
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

template <typename S> __device__ unsigned* word_of(S* state);
template <> __device__ inline unsigned* word_of(curandStateXORWOW* state) { return &state->d; }
template <> __device__ inline unsigned* word_of(curandStatePhilox4_32_10* state) { return &state->counter; }

template <typename S>
__device__ void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, S* state) {
  *word_of(state) = (unsigned)(seed * 31u + sequence * 7u + offset);
}

template <typename S>
__device__ unsigned curand(S* state) {
  unsigned* word = word_of(state);
  *word = *word * 1664525u + 1013904223u;
  return *word;
}

template <typename S>
__device__ float curand_uniform(S* state) { return (curand(state) + 1.0f) * 2.3283064e-10f; }
