// proved: a number of a template that only feeds data
//@ extent a[4];
//@ requires gridDim.x==1 && blockDim.x==1;
template<int N> __global__ void k(int* a){ a[0]=N; }
