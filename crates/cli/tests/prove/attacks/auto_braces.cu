// not an error: C++ that is not read
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ auto l={1,2}; o[0]=1; }
