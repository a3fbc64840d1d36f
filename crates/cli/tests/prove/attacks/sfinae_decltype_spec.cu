// not proved: a specialisation is for types with a member
template<class T,class=void> struct H{static constexpr int v=1;}; template<class T> struct H<T,decltype((void)T::x)>{static constexpr int v=0;}; struct Q{static constexpr int x=1;};
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(H<int>::v)]=1; }
