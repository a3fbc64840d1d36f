// not an error: C++ that is not read
struct S{ mutable int c; __device__ int f()const{return ++c;} };
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ S s{1}; o[0]=s.f(); }
