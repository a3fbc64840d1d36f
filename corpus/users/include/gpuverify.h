// GPUVerify knows these words without a header. For other compilers they say nothing.
#define __requires(condition)
#define __ensures(condition)
#define __assert(condition)
#define __assume(condition)
#define __invariant(condition) ((void)0)
#define __global_invariant(condition) ((void)0)
#define __implies(a, b) (!(a) || (b))
