// proved: a constant is converted to unsigned
//@ extent o[1];
//@ requires gridDim.x==1 && blockDim.x==1;
__global__ void k(unsigned* o){ unsigned u=o[0]; o[0]=u/-2; }
