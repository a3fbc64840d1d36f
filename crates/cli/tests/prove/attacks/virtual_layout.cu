// not proved: a virtual function needs a pointer in each object
struct S{ int a; virtual void f(); int b; };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){  if(n==100000) a[n-1+(sizeof(S)==16)]=1; }
