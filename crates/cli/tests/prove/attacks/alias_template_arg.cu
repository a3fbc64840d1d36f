// not an error: C++ that is not read
template<class T> using Id=T; template<class T> struct A{ static constexpr int v=1; }; template<class T> struct A<T*>{ static constexpr int v=2; };
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ o[0]=A<Id<int*>>::v; }
