// not proved: a member is copied by its own constructor
struct S{int v; __device__ S(int a):v(a){} __device__ S(const S&s):v(s.v+1){} };
struct T{S s; int k; __device__ T(int q):s(q),k(q){} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ T s(n-1); T b=s; if(n==100000) a[b.s.v]=1; }
