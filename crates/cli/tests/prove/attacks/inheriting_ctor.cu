// not an error: C++ that is not read
struct B{int v; __device__ B(int a):v(a+1){} }; struct D:B{ using B::B; int w=5; };
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ D d(3); o[0]=d.v; }
