// not proved: a specialisation is for arrays of another size
template<class T> struct X{static constexpr int v=1;}; template<class T> struct X<T[3]>{static constexpr int v=0;};
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ if(n==100000) a[n-1+X<int[4]>::v]=1; }
