// expect: refuted overflow line 12
// The sentinel is used as if it were an index: one more overflows.
#include <limits.h>

//@ extent next[n], out[n];
//@ requires n >= 1 && gridDim.x*blockDim.x <= 2147483647;
//@ requires \forall int i; 0 <= i < n ==> 0 <= next[i] < n;
__global__ void follow(const int *next, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = i < n ? next[i] : INT_MAX;
    if (at + 1 <= n && i < n)
        out[i] = at;
}
