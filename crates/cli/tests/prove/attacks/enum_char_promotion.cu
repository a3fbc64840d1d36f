// not proved: an enumeration of `char` prefers `char` to `int`
enum E3:char{a3}; __device__ int f(int){return 0;} __device__ int f(char){return 1;}
//@ extent a[n];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n <= 1000000;
__global__ void k(int* a,int n){ if(n==100000) a[n-1+f(a3)]=1; }
