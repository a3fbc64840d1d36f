// not an error: C++ that is not read
struct X{ template<class T> __device__ int f(T){return 1;} }; template<> __device__ int X::f<int>(int){return 2;}
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ X x; o[0]=x.f(1); }
