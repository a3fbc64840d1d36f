// not an error: C++ that is not read
__device__ int f(int){return 0;} namespace B{ template<class...T> __device__ int f(T...){return 2;} __device__ int g(){ return f(1);} }
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ o[0]=B::g(); }
