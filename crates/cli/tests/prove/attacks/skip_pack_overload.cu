// not proved: a function with a pack fits better
__device__ int f(double){return 0;} template<class...A> __device__ int f(A...){return 1;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(f(1))]=1; }
