// not proved: the namespace around an inline one is looked into
namespace N{ inline namespace V{ struct B{int q;}; } __device__ int f(B,int){return 1;} } template<class T> __device__ int f(T,long){return 0;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ N::B b{1}; if(n==100000) a[n-1+(f(b,1))]=1; }
