// not an error: C++ that is not read
struct S{int a[3];}; __device__ S f(S s){s.a[0]=9; return s;}
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ S t{{1,2,3}}; o[0]=f(t).a[1]; }
