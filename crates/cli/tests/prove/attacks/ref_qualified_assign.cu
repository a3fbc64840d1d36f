// not proved: an assignment has a qualifier for its object
struct A{int v; __device__ A& operator=(const A& o)&{v=o.v+1;return *this;} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ A x; x.v=0; A b; b.v=0; b=x; if(n==100000) a[n-1+b.v]=1; }
