//@ extent a[4];
//@ requires gridDim.x == 1 && blockDim.x == 1;
//@ ensures a[0] == (x*z)/z;
__global__ void no_value(int* a, int x, int z) { a[0] = x; }
