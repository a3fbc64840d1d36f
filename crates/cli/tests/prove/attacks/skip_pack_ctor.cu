// not proved: a constructor with a pack fits better
struct S{int v; __device__ S(long a):v(0){} template<class...A> __device__ S(A...):v(1){} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ S s(1); if(n==100000) a[n-1+(s.v)]=1; }
