// not proved: a specialisation is chosen by an alias with a pack
template<class T,class=void> struct H{static constexpr int v=0;}; template<class...> using vt=void; template<class T> struct H<T,vt<typename T::x>>{static constexpr int v=1;}; struct Q{typedef int x;};
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(H<Q>::v)]=1; }
