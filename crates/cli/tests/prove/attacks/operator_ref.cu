// not an error: C++ that is not read
struct A{int v; __device__ operator int&(){return v;} };
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ A a{3}; int& r=a; r=9; o[0]=a.v; }
