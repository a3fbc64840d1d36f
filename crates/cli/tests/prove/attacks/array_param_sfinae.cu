// not proved: arguments are converted to a parameter whose type is given explicitly
template<int N> __device__ int g(int (*)[N>2?1:-1],int){return 1;} template<int N> __device__ int g(void*,long){return 0;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(g<3>(0,1))]=1; }
