// not an error: C++ that is not read
template<bool B,class T=void> struct en{}; template<class T> struct en<true,T>{typedef T type;};
template<class T,typename en<sizeof(T)==4,int>::type =0> __device__ int f(T){return 1;} template<class T,typename en<sizeof(T)!=4,int>::type =0> __device__ int f(T){return 2;}
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ o[0]=f(1)*10+f('a'); }
