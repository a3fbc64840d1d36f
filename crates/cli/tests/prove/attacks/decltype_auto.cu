// not an error: C++ that is not read
__device__ decltype(auto) da(int& x){ return (x); }
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ int z=1; da(z)=5; o[0]=z; }
