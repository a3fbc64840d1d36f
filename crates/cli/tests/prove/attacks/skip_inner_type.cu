// not proved: a class that is not read hides another
struct P{int a;}; struct Q{int a;}; namespace N{ struct Q{ int a; int P::*p; }; __device__ int f(){return sizeof(Q);} }
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(N::f()-4)]=1; }
