// not proved: a member with a pack hides that of the base
struct A{ __device__ int f(int){return 0;} }; struct B:A{ template<class...P> __device__ int f(P...){return 1;} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ B b; if(n==100000) a[n-1+(b.f(1))]=1; }
