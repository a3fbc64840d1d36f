// not proved: an argument is copied by its own constructor
struct S{int v; __device__ S(int a):v(a){} __device__ S(const S&s):v(s.v+1){} };
__device__ int f(S s){return s.v;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ S s(n-1); if(n==100000) a[f(s)]=1; }
