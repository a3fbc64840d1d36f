// not proved: nothing fulfils what is assumed
__axiom(blockDim.x == 0);
//@ extent a[1];
__global__ void k(int* a) { a[threadIdx.x] = threadIdx.x; }
