// not an error: C++ that is not read
template<class T> __device__ int f(T t,typename T::x* =0){return 1;} __device__ int f(...){return 2;}
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ o[0]=f(1); }
