// not proved: a member with a pack fits better
struct S{ __device__ int f(long){return 0;} template<class...A> __device__ int f(A...){return 1;} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ S s; if(n==100000) a[n-1+(s.f(1))]=1; }
