// not proved: a negative divisor of an unsigned number is large
//@ extent a[n], c[2];
//@ requires gridDim.x==1 && blockDim.x==1 && n>=8 && n<=1000000;
__global__ void k(int* a,const int* c,int n){ unsigned u=8; if(c[0]==123457 && c[1]==7654321) a[n-1+4+(int)(u/(unsigned)-2)]=1; }
