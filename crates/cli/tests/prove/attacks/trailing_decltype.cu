// not an error: C++ that is not read
template<class T,class U> __device__ auto add(T a,U b)->decltype(a+b){return a+b;}
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ o[0]=(int)(add(1,2.5)*2); }
