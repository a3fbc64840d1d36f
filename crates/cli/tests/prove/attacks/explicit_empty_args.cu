// not proved: an empty list of template arguments means templates alone
template<class T> __device__ int g(T){return 1;}
__device__ int g(int){return 0;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ if(n==100000) a[n-1+g<>(1)]=1; }
