// not refuted: a conversion to a narrow type is modular
//@ extent o[16];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(int* o){ int n=40000; short s=n; o[s&15]=1; }
