// not proved: a member is assigned by its own operator
struct S{int v; __device__ S(int a=0):v(a){} __device__ S& operator=(const S&s){v=s.v+1;return *this;} };
struct T{S s; int k=1;};
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ T x,y; y.s.v=n-1; x=y; if(n==100000) a[x.s.v]=1; }
