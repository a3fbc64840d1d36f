// not proved: a member function is specialised
template<class T> struct X{__device__ int f(){return 0;} };
template<> __device__ int X<int>::f(){return 1;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ X<int> x; if(n==100000) a[n-1+x.f()]=1; }
