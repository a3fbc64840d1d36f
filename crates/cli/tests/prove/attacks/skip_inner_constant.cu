// not proved: a constant that is not read hides another
struct P{int a;}; constexpr int K=0; namespace N{ constexpr int K=(int P::*)nullptr==nullptr?1:2; __device__ int f(){return K;} }
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(N::f())]=1; }
