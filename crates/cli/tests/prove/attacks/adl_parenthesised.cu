// not proved: a name in parentheses is not looked up in namespaces of arguments
namespace N{ struct B{int q;}; __device__ int f(B,int){return 0;} } template<class T> __device__ int f(T,long){return 1;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ N::B b{1}; if(n==100000) a[n-1+((f)(b,1))]=1; }
