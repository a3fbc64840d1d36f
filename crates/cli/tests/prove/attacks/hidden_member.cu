// not proved: a qualified name means the member of the base
struct A{int a; }; struct B:A{int a; __device__ int get(){return A::a;} };
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=1 && n <= 1000000;
__global__ void k(int* a,int n){ B b; b.a=0; A* p=&b; p->a=n; if(n==100000) a[b.get()]=1; }
