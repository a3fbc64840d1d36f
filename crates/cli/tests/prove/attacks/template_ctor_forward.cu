// not proved: a constructor that takes anything fits better than the copy
struct S{int v; __device__ S(int x):v(x){} template<class T> __device__ S(T&& t):v(1){} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ S x(0); S b(x); if(n==100000) a[n-1+b.v]=1; }
