// not proved: a template is deduced from a base
template<class T> struct B{T t;}; struct D:B<char>{ __device__ operator long()const{return 0;} }; template<class T> __device__ int f(const B<T>&){return 1;} __device__ int f(long){return 0;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ D d; d.t=1; if(n==100000) a[n-1+(f(d))]=1; }
