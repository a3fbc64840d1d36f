// not an error: C++ that is not read
template<class T> __device__ int f(T&){return 1;} template<class T> __device__ int f(const T&){return 2;}
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ const int c=1; o[0]=f(c); }
