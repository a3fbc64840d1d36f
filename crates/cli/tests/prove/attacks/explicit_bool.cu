// not an error: C++ that is not read
struct B{int v; __device__ explicit operator bool()const{return v>3;} __device__ operator float()const{return v+0.5f;} };
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ B b{5}; o[0]=b*2; }
