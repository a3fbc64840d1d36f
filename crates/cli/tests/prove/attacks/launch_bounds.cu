// proved: blocks are as large as is declared
//@ extent a[256];
//@ requires gridDim.x==1;
__global__ void __launch_bounds__(256) k(int* a){ a[threadIdx.x]=1; }
