// not proved: a member of a type that is not read has a size
struct Q{int x;}; struct P{int a; int (Q::*p)(int); int b; };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(sizeof(P)==32)]=1; }
