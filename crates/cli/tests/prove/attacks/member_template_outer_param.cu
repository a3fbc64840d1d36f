// not an error: C++ that is not read
template<int R,int C> struct M{ int d[R][C]; template<int K> __device__ int mul(M<C,K>& b){ return C*K; } };
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ M<2,3> a; M<3,2> b; o[0]=a.mul(b); }
