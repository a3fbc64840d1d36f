// not an error: C++ that is not read
//@ extent a[n];
//@ requires gridDim.x*blockDim.x==n;
__global__ void k(const int* a,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; int* b=(int*)a; b[i]=i; }
