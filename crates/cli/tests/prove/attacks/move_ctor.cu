// not proved: an object is moved by its own constructor
struct S{int v; __device__ S(int a):v(a){} __device__ S(S&&s):v(s.v+1){} __device__ S(const S&s):v(s.v){} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ S x(n-1); S b=static_cast<S&&>(x); if(n==100000) a[b.v]=1; }
