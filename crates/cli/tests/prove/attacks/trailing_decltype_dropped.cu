// not proved: a template whose result is computed from its parameters fits better
template<class T> __device__ int g(T x){return 0;} template<class T> __device__ auto g(T* x)->decltype(*x+1){return 1;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(g(a))]=1; }
