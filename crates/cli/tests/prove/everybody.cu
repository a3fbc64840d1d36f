//@ extent p[1];
__global__ void everybody(int* p) { p[0] = p[0] + 1; }
