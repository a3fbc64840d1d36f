// not proved: the assignment that nobody wrote is preferred to a template
struct S{int v; template<class T> __device__ S& operator=(const T& t){v=0;return *this;} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ S x; x.v=1; S b; b.v=0; b=x; if(n==100000) a[n-1+b.v]=1; }
