// not proved: a variable template is specialised for pointers
template<class T> constexpr int isp=0; template<class T> constexpr int isp<T*> =1;
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ if(n==100000) a[n-1+isp<float*>]=1; }
