// not proved: a namespace of a template argument is looked into
namespace N{ struct T{int q;}; } template<class A> struct W{A a;}; namespace N{ __device__ int f(W<T>){return 1;} } template<class A> __device__ int f(A){return 0;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ W<N::T> w; w.a.q=1; if(n==100000) a[n-1+f(w)]=1; }
